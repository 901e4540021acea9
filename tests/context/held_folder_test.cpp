// Tests that the files which a model names are read through an open folder, so that replacing names has no effect.
#include <cameo/packages.hpp>

#include "context/compiled.hpp"
#include "context/restore.hpp"
#include "file/held_folder.hpp"
#include "model_package/packages.hpp"

#include <fcntl.h>
#include <chrono>
#include <thread>

namespace cameo::test {
namespace {

constexpr float inside_weight = 1, outside_weight = 2;

void write_weights(const std::string& folder, float weight) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1)});
  b.output(b.node("Add", {x, b.constant("w", {1}, std::vector<float>{weight})}));
  const status done = write_onnx(*b.take(), folder + "/m.onnx", {"w.data", 1});
  REQUIRE_MESSAGE(done, std::string{done.words()});
}

/// The folder pkg/v1 has a model with weights in a file, and a compiled one with its context; outside/ has files of the
/// same names with other contents.
struct two_folders {
  package_folder at;
  two_folders() {
    const char* const sdks[] = {"3.2.0", "9.9.9"};
    const char* const folders[] = {"pkg/v1", "outside"};
    for (std::size_t i = 0; i < 2; ++i) {
      at.make(folders[i]);
      write_weights(at / folders[i], i == 0 ? inside_weight : outside_weight);
      ref_runtime ref;
      ref.a.sdk_version = sdks[i];
      save(*plain(), at / "plain.onnx");
      const auto to = at / (std::string{folders[i]} + "/c_ctx.onnx");
      REQUIRE(verdict(ref.compile(at / "plain.onnx", to)) == "OK");
    }
    at.write("pkg/manifest.json",
             manifest_of(variant_json("v1", R"("executor_info": {"ort": {"model_file": "m.onnx"}})")));
  }
  package opened() const { return test::opened(at / "pkg"); }
  void swap(const std::string& place, const std::string& link_to) const {
    fs::rename(at / place, at / "gone");
    at.link(link_to, place);
  }
  void back(const std::string& place) const {
    fs::remove(at / place);
    fs::rename(at / "gone", at / place);
  }
};

using held = std::shared_ptr<const detail::held_folder>;

/// The weight of the model when it is read through the open folder.
result<float> weight_in(const package& p, const held& folder) {
  const package_variant& v = p.components()[0].variants[0];
  const auto bytes = p.read(v, *v.model_file);
  if (!bytes) return status{bytes.error()};
  read_options how;
  how.folder = folder;
  const auto m = read_onnx((*bytes)->bytes(), "m.onnx", how);
  if (!m) return status{m.error()};
  return (*m)->main()[(*m)->main().find("w")].constant->as_unchecked<float>()[0];
}

/// Restores the compiled model. The contexts in outside/ are of another SDK, so that they would be refused.
status restored_from(const model& compiled, const held& folder) {
  const ref_a provider_object;
  const provider a{&detail::provider_row_of<ref_a>, {std::shared_ptr<void>{}, &provider_object}};
  context_folder where;
  where.folder = folder;
  const auto programs = restore_contexts(a, context_nodes(compiled), where, nullptr);
  return programs ? status{} : programs.error();
}

bool is_of_outside(const status& s) { return s.words().find("9.9.9") != std::string_view::npos; }

/// Exchanges two names repeatedly until it is destroyed.
class swapper {
 public:
  swapper(std::string a, std::string b)
      : thread_{[this, a = std::move(a), b = std::move(b)] {
          while (!stop_) (void)::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
        }} {}
  swapper(const swapper&) = delete;
  swapper& operator=(const swapper&) = delete;
  ~swapper() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

template <class Work>
void for_a_while(Work&& work) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{200};
  do work();
  while (std::chrono::steady_clock::now() < end);
}

TEST_CASE("weights are read from the folder that was opened, even if it or the files are replaced") {
  const two_folders t;
  const package p = t.opened();
  const auto folder = p.open_folder_of(p.components()[0].variants[0], "m.onnx");
  REQUIRE_MESSAGE(folder, std::string{folder.error().words()});
  CHECK(*weight_in(p, *folder) == inside_weight);
  t.swap("pkg/v1/w.data", "../../outside/w.data");
  CHECK(weight_in(p, *folder).error().code() == status_code::invalid_graph);
  t.back("pkg/v1/w.data");
  t.swap("pkg", "outside");
  CHECK(*weight_in(p, *folder) == inside_weight);
  t.back("pkg");
  t.swap("pkg/v1", "../outside");
  CHECK(weight_in(p, *folder).error().code() == status_code::fail);  // the path of the model leads outside
  CHECK(p.open_folder(p.components()[0].variants[0]).error().code() == status_code::fail);
}

TEST_CASE("contexts are read from the folder that was opened, even if it or the files are replaced") {
  const two_folders t;
  const package p = t.opened();
  const auto compiled = read(t.at / "pkg/v1/c_ctx.onnx");
  const held folder = *p.open_folder(p.components()[0].variants[0]);
  CHECK(verdict(restored_from(*compiled, folder)) == "OK");
  const std::string context{text_of(context_nodes(*compiled).at(0), "ep_cache_context")};
  t.swap("pkg/v1/" + context, "../../outside/" + context);
  const status s = restored_from(*compiled, folder);
  CHECK(s.code() == status_code::invalid_graph);
  CHECK_FALSE(is_of_outside(s));
  t.back("pkg/v1/" + context);
  t.swap("pkg/v1", "../outside");
  CHECK(verdict(restored_from(*compiled, folder)) == "OK");
}

TEST_CASE("a name that changes continually never leads outside") {
  const two_folders t;
  const package p = t.opened();
  const package_variant& v = p.components()[0].variants[0];
  const auto compiled = read(t.at / "pkg/v1/c_ctx.onnx");
  const std::string context{text_of(context_nodes(*compiled).at(0), "ep_cache_context")};
  const held folder = *p.open_folder(v);
  t.at.link("../../outside/w.data", "pkg/v1/w.link").link("../../outside/" + context, "pkg/v1/c.link");
  t.at.link("../outside", "pkg/v1.link").write("pkg/v1/which", "in").write("outside/which", "outside");
  t.at.write("outside/outside", "");
  std::size_t wrong = 0;
  {
    const swapper weights{t.at / "pkg/v1/w.data", t.at / "pkg/v1/w.link"};
    for_a_while([&] {
      const auto weight = weight_in(p, folder);
      wrong += weight ? *weight != inside_weight : weight.error().code() != status_code::invalid_graph;
    });
  }
  {
    const swapper contexts{t.at / ("pkg/v1/" + context), t.at / "pkg/v1/c.link"};
    for_a_while([&] { wrong += is_of_outside(restored_from(*compiled, folder)); });
  }
  {
    const swapper variants{t.at / "pkg/v1", t.at / "pkg/v1.link"};
    for_a_while([&] {
      const auto variant = p.open_folder(v);
      const auto model = p.read(v, "which");
      wrong += variant && (*variant)->file(external_data_path, "outside", "test", open_for::place);
      wrong += model && (*model)->bytes().size() == std::string_view{"outside"}.size();
    });
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace cameo::test
