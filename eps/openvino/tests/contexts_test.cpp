#include <cameo/eps/openvino.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/session/compile.hpp>

#include <cameo/test_paths.hpp>

#include "../src/container.hpp"
#include "context/compiled.hpp"

#include <algorithm>
#include <cmath>

namespace cameo::test {
namespace {

using ov_runtime = runtime<eps::openvino, eps::cpu>;

constexpr const char* sample_names[] = {"one_partition_external", "one_partition_embedded", "two_partitions_external",
                                        "two_partitions_embedded"};

std::string sample(std::string_view name, std::string_view file) {
  return std::string{source_dir} + "/tests/data/epctx/" + std::string{name} + "/" + std::string{file};
}

any_value read_tensor(const std::string& path) {
  const std::string bytes = slurp(path);
  auto memory = std::make_shared<detail::heap_arena>();
  const auto v = read_pb(std::as_bytes(std::span{bytes}), pb_kind::tensor, *memory);
  REQUIRE_MESSAGE(v, std::string{v.error().words()});
  return any_value::adopt(memory, *v);
}

/// Checks the session's output for the sample's image against the expected output in the sample's folder.
void gives_what_is_expected(const session& s, std::string_view name) {
  const auto image = read_tensor(sample(name, "test_data_set_0/input_0.pb"));
  const auto want = read_tensor(sample(name, "test_data_set_0/output_0.pb"));
  const auto got = s.run({{"image", image}});
  REQUIRE_MESSAGE(got, std::string{got.error().words()});
  const auto a = (*got)[0].value.as_unchecked<float>(), b = want.as_unchecked<float>();
  REQUIRE(a.shape() == b.shape());
  for (std::int64_t i = 0; i < a.count(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-3f + 2e-2f * std::abs(b[i]));
}

template <class Result>
std::string verdict(const Result& r) {
  return r ? std::string{"OK"} : std::string{r.error().name()} + ": " + std::string{r.error().words()};
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

compile_report compile(std::string from, const std::string& to, bool embed, session_options session = {}) {
  compile_options options;
  options.input = std::move(from), options.output = to, options.embed = embed, options.session = std::move(session);
  const auto done = ov_runtime{}.compile(std::move(options));
  REQUIRE_MESSAGE(done, std::string{done.error().words()});
  return *done;
}

TEST_CASE("models that ONNX Runtime compiled can be loaded, and compute the expected outputs") {
  for (const char* name : sample_names) {
    CAPTURE(name);
    const auto s = ov_runtime{}.load(sample(name, "model_ctx.onnx"), keys({{"session.disable_model_compile", "1"}}));
    REQUIRE(verdict(s) == "OK");
    gives_what_is_expected(*s, name);
    CHECK(verdict(cpu_runtime{}.load(sample(name, "model_ctx.onnx"))).find("NOT_IMPLEMENTED") == 0);
  }
}

TEST_CASE("models that cameo compiles have the attributes of ONNX Runtime's, and can be loaded without their source") {
  for (const char* name : sample_names) {
    CAPTURE(name);
    const bool embed = has(name, "embedded");
    const scratch_folder folder;
    const std::string path = folder / "model_ctx.onnx";
    const std::size_t nodes = has(name, "two") ? 2 : 1;
    CHECK(compile(sample(name, "model.onnx"), path, embed).compiled_nodes == nodes);
    CHECK(folder.files().size() == (embed ? 1 : 2));
    const auto mine = read(path), theirs = read(sample(name, "model_ctx.onnx"));
    const auto a = context_nodes(*mine), b = context_nodes(*theirs);
    REQUIRE(a.size() == nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      std::vector<attribute> ours;  // without the id, which only cameo writes
      for (const attribute& each : a[i].raw().attributes)
        if (each.name != "notes") ours.push_back(each);
        else CHECK(each.s.substr(0, 11) == "context id ");
      REQUIRE(ours.size() + 1 == a[i].raw().attributes.size());
      REQUIRE(ours.size() == b[i].raw().attributes.size());
      for (std::size_t k = 0; k < b[i].raw().attributes.size(); ++k) {
        const attribute &x = ours[k], &y = b[i].raw().attributes[k];
        CHECK(x.name == y.name);
        CHECK(x.kind == y.kind);
        CHECK(x.i == y.i);
        if (x.name == "partition_name") {  // except for the counter before the last
          const std::string own = "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_";
          CHECK(x.s == own + std::to_string(i + 1) + "_" + std::to_string(i));
          CHECK(y.s.substr(0, own.size()) == own);
          CHECK(y.s.substr(y.s.size() - 2) == x.s.substr(x.s.size() - 2));
        } else if (x.name == "ep_cache_context" && embed) {
          CHECK(x.s.empty() == y.s.empty());
        } else {
          CHECK(x.s == y.s);
        }
      }
    }
    const auto s = ov_runtime{}.load(path, keys({{"session.disable_model_compile", "1"}}));
    REQUIRE(verdict(s) == "OK");
    gives_what_is_expected(*s, name);
  }
}

TEST_CASE("a compiled model computes the same bits as the model that it was compiled from") {
  const scratch_folder folder;
  for (const bool embed : {false, true}) {
    const std::string source = sample("two_partitions_external", "model.onnx"), path = folder / "m_ctx.onnx";
    compile(source, path, embed);
    const auto image = read_tensor(sample("two_partitions_external", "test_data_set_0/input_0.pb"));
    const auto direct = ov_runtime{}.load(source), restored = ov_runtime{}.load(path);
    REQUIRE(verdict(direct) == "OK");
    REQUIRE(verdict(restored) == "OK");
    const auto a = direct->run({{"image", image}}), b = restored->run({{"image", image}});
    REQUIRE(a);
    REQUIRE(b);
    CHECK(floats_of((*a)[0].value) == floats_of((*b)[0].value));
  }
}

TEST_CASE("contexts are made for one device, or by HETERO; for AUTO the error names the reason") {
  const scratch_folder folder;
  const std::string source = sample("two_partitions_external", "model.onnx"), path = folder / "m_ctx.onnx";
  const session_options hetero = keys({{"ep.openvino.device_type", "HETERO:CPU"}});
  CHECK(compile(source, path, true, hetero).compiled_nodes == 2);
  const auto s = ov_runtime{}.load(path, hetero);
  REQUIRE(verdict(s) == "OK");
  gives_what_is_expected(*s, "two_partitions_external");
  compile_options how;
  how.input = source, how.output = path, how.session = keys({{"ep.openvino.device_type", "AUTO:CPU"}});
  const std::string words = verdict(ov_runtime{}.compile(std::move(how)));
  CHECK_MESSAGE(words.find("EP_FAIL") == 0, words);
  CHECK_MESSAGE(has(words, "device_type is AUTO:CPU, for which OpenVINO writes no contexts; name one device"), words);
}

TEST_CASE("a compiled model may have an input of unknown shape") {
  const scratch_folder folder;
  save(*four_branches(), folder / "m.onnx");
  compile(folder / "m.onnx", folder / "m_ctx.onnx", false);
  const auto s = ov_runtime{}.load(folder / "m_ctx.onnx");
  REQUIRE(verdict(s) == "OK");
  const session plain_session = loaded(four_branches());
  for (const std::int64_t rows : {1, 5, 2}) {
    const auto x = any_value::tensor<float>({rows, 64}, ramp(std::size_t(rows) * 64));
    const auto got = s->run({{"x", x}}), want = plain_session.run({{"x", x}});
    REQUIRE_MESSAGE(got, std::string{got.error().words()});
    REQUIRE((*got)[0].value.shape() == (*want)[0].value.shape());
    const auto a = (*got)[0].value.as_unchecked<float>(), b = (*want)[0].value.as_unchecked<float>();
    for (std::int64_t i = 0; i < a.count(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-4).scale(1));
  }
}

TEST_CASE(
    "a context of another version of the SDK is INVALID_GRAPH with both versions; one without a version is imported") {
  const scratch_folder folder;
  fs::copy_file(sample("two_partitions_external", "model_ctx_OpenVINOExecutionProvider.bin"),
                folder / "model_ctx_OpenVINOExecutionProvider.bin");
  const std::string from = sample("two_partitions_external", "model_ctx.onnx"), to = folder / "m.onnx";
  for (const char* version : {"2024.6", "2026.1", "2025.40"}) {
    const std::string words = verdict(ov_runtime{}.load(
        edited(from, to, [&](attributes& all, std::size_t) { set(all, text_attribute("ep_sdk_version", version)); })));
    CAPTURE(words);
    CHECK(has(words, "INVALID_GRAPH"));
    CHECK(has(words, version));
    CHECK(has(words, "2025.4.1"));
  }
  for (const char* version : {"2025.4", "2025.4.0", ""})
    CHECK(verdict(ov_runtime{}.load(edited(from, to, [&](attributes& all, std::size_t) {
            set(all, text_attribute("ep_sdk_version", version));
          }))) == "OK");
}

TEST_CASE("damaged containers and blobs, and names that are not in them, are INVALID_GRAPH") {
  const scratch_folder folder;
  const std::string name = "model_ctx_OpenVINOExecutionProvider.bin",
                    from = sample("one_partition_external", "model_ctx.onnx");
  fs::copy_file(from, folder / "model_ctx.onnx");
  const std::string good = slurp(sample("one_partition_external", name));
  const auto with = [&](const std::string& bytes) {
    spill(folder / name, bytes);
    return verdict(ov_runtime{}.load(folder / "model_ctx.onnx"));
  };
  CHECK(with(good) == "OK");
  const auto refused = [&](const std::string& bytes, std::string_view words) {
    const std::string said = with(bytes);
    CHECK_MESSAGE(has(said, "INVALID_GRAPH"), said);
    CHECK_MESSAGE(has(said, words), said);
  };
  refused("", "");
  refused("garbage", "has 7 bytes");
  refused(good.substr(0, 65536 + 5000), "not inside");
  refused("X" + good.substr(1), "OVEP_BIN");
  std::string blob = good;
  blob[65536 + 33] ^= 4;  // the offset in the blob where its model begins
  refused(blob, "importing a blob of 2025.4");
  blob = good;
  std::fill(blob.begin() + 65536, blob.end(), '\0');
  refused(blob, "importing a blob");
  spill(folder / name, good);
  const std::string other = edited(from, folder / "other.onnx", [](attributes& all, std::size_t) {
    set(all, text_attribute("partition_name", "another"));
  });
  CHECK_MESSAGE(has(verdict(ov_runtime{}.load(other)), "there is no graph 'another'"),
                verdict(ov_runtime{}.load(other)));
}

}  // namespace
}  // namespace cameo::test
