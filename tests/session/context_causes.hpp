#pragma once
// The causes in docs/errors.md that concern compiled models.
#include <cameo/session/compile.hpp>

#include "context/ref_provider.hpp"
#include "session/models.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

namespace cameo::test {

/// A model m.onnx that RefA compiles as a whole, and a runtime for it, in a folder that the destructor removes.
struct compiling {
  std::filesystem::path folder;
  ref_counters counters;
  runtime<ref_a, eps::cpu> loader{ref_a{&counters}, eps::cpu{}};

  compiling() {
    std::string name = (std::filesystem::temp_directory_path() / "cameo_causes_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    folder = name;
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
    b.output(b.node("Relu", {b.node("MatMul", {x, b.constant("w", {4, 3}, ramp(12))})}));
    CHECK(write_onnx(*b.take(), folder / "m.onnx"));
  }
  compiling(const compiling&) = delete;
  compiling& operator=(const compiling&) = delete;
  ~compiling() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  template <class Change>
  status compile(Change&& change) {
    compile_options options;
    options.input = (folder / "m.onnx").string();
    change(options);
    const auto done = loader.compile(std::move(options));
    return done ? status{} : status{done.error()};
  }
  status compile() {
    return compile([](compile_options&) {});
  }
  template <class Runtime>
  status load(const char* name, const Runtime& by, std::vector<std::pair<std::string, std::string>> config = {}) {
    session_options options;
    options.config = std::move(config);
    const auto s = by.load((folder / name).string(), options);
    return s ? status{} : status{s.error()};
  }
  status load(const char* name, std::vector<std::pair<std::string, std::string>> config = {}) {
    return load(name, loader, std::move(config));
  }
};

using context_causes = std::vector<std::pair<std::string, std::function<status()>>>;

inline context_causes context_causes_of_fail() {
  return {{"A compiled model would replace a file, and that is not allowed.",
           [] {
             compiling c;
             CHECK(c.compile());
             return c.load("m.onnx", {{"ep.context_enable", "1"}});
           }},
          {"Nothing of a model was compiled, and compile_options::fail_if_nothing_compiled is set.",
           [] {
             compiling c;
             return c.compile([](compile_options& o) {
               o.session.providers = {"cpu"};
               o.fail_if_nothing_compiled = true;
             });
           }},
          {"A provider says that a compiled model does not fit it, or no longer well and that is not allowed.", [] {
             compiling c;
             c.counters.fit = "gen1";
             CHECK(c.compile());
             CHECK(c.load("m_ctx.onnx"));
             return c.load("m_ctx.onnx", {{"session.fail_on_suboptimal_compiled_model", "1"}});
           }}};
}

inline context_causes context_causes_of_invalid_argument() {
  return {{"What is to be compiled, or where to, was not said or makes no sense.",
           [] {
             compiling c;
             CHECK(c.compile([](compile_options& o) { o.input = {}; }).code() == status_code::invalid_argument);
             return c.compile([&](compile_options& o) { o.output = (c.folder / "no_extension").string(); });
           }},
          {"Models that share a context are in different folders, or embed it.", [] {
             compiling c;
             return c.load("m.onnx",
                           {{"ep.context_enable", "1"}, {"ep.context_embed_mode", "1"}, {"ep.share_ep_contexts", "1"}});
           }}};
}

/// A provider that compiles but stores no contexts.
struct keeps_nothing {
  static constexpr std::string_view name = "keeps_nothing", long_name = "KeepsNothingExecutionProvider";
  result<std::vector<node_group>> groups(const graph_view& g) const { return ref_a{}.groups(g); }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> all) const { return ref_a{}.compile(all); }
};

inline context_causes context_causes_of_not_implemented() {
  return {{"A compiled node is of a source that no provider of the session has.",
           [] {
             compiling c;
             CHECK(c.compile());
             return c.load("m_ctx.onnx", runtime<eps::cpu>{});
           }},
          {"A compiled model is to be written, and a provider that compiles keeps no contexts.", [] {
             compiling c;
             return c.load("m.onnx", runtime<keeps_nothing, eps::cpu>{}, {{"ep.context_enable", "1"}});
           }}};
}

inline context_causes context_causes_of_bad_models() {
  return {
      {"The context of a compiled node is missing, lies outside the model's folder, or is not what its provider can "
       "read.",
       [] {
         compiling c;
         CHECK(c.compile());
         CHECK(c.load("m_ctx.onnx"));
         std::ofstream{c.folder / "m_RefA.bin"} << "damaged";
         return c.load("m_ctx.onnx");
       }},
      {"A provider would have to compile what it compiled already.", [] {
         compiling c;
         CHECK(c.compile());
         return c.load("m_ctx.onnx", {{"ep.context_enable", "1"}});
       }}};
}

}  // namespace cameo::test
