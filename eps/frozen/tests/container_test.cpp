// Containers that are damaged, or from another processor or cameo: refused with a message, even with valid checksums.
#include "frozen_models.hpp"
#include "full_speed.hpp"

#include <cameo/test_paths.hpp>

namespace cameo::test {
namespace {

using namespace eps::frozen_file;

/// The result of loading and running the compiled model if its context has these bytes.
std::string verdict_of(const compiled_files& files, std::string_view context, bool verify = false) {
  frozen_cpu provider;
  provider.verify = verify;
  session_options options;
  options.threads = 1;
  options.read_context = [&](std::string_view) -> result<std::vector<std::byte>> {
    const auto bytes = std::as_bytes(std::span{context});
    return std::vector<std::byte>{bytes.begin(), bytes.end()};
  };
  const auto s = frozen_runtime{std::move(provider), eps::cpu{}}.load(files.model, options);
  if (!s) return verdict(s);
  return verdict(s->run({{"x", image()}}));  // an accepted context runs, or fails with a status
}

/// The step between the offsets that a test changes: with a sanitizer each run takes long.
constexpr std::size_t every = full_speed ? 1 : 7;

bool is_refused(const std::string& verdict) { return verdict.starts_with("INVALID_GRAPH: "); }

struct parts {
  header head;
  std::vector<blob_row> blobs;
  std::vector<plan_row> plans;
};
parts parts_of(const std::string& bytes) {
  parts p;
  std::memcpy(&p.head, bytes.data(), sizeof p.head);
  directory counts;
  std::memcpy(&counts, bytes.data() + p.head.directory, sizeof counts);
  p.blobs.resize(counts.blobs), p.plans.resize(counts.plans);
  const char* const rows = bytes.data() + p.head.directory + sizeof counts;
  std::memcpy(p.blobs.data(), rows, counts.blobs * sizeof(blob_row));
  std::memcpy(p.plans.data(), rows + counts.blobs * sizeof(blob_row), counts.plans * sizeof(plan_row));
  return p;
}
std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = char(bytes[at] ^ (1 << at % 8));
  return bytes;
}
std::string resealed(std::string bytes) {
  reseal(bytes_of(bytes));
  return bytes;
}

TEST_CASE("a truncated container is refused, and so are bytes behind its end") {
  const compiled_files files{small_network()};
  const std::string whole = slurp(files.context);
  CHECK(verdict_of(files, whole) == "OK");
  for (std::size_t n = 0; n < whole.size(); n += n < 700 ? 7 * every : 997) {
    CAPTURE(n);
    CHECK(is_refused(verdict_of(files, std::string_view{whole}.substr(0, n))));
    CHECK(verdict_of(files, resealed(whole.substr(0, n))) != "OK");
  }
  CHECK(is_refused(verdict_of(files, whole + '\0')));
}

TEST_CASE("a changed byte of header, directory or plan is refused; one of the weights if verification is enabled") {
  const compiled_files files{small_network()};
  const std::string whole = slurp(files.context);
  const parts p = parts_of(whole);
  REQUIRE(p.plans.size() == 1);
  const auto check = [&](std::size_t first, std::size_t count) {
    for (std::size_t at = first; at < first + count; at += 3 * every) {
      CAPTURE(at);
      CHECK(is_refused(verdict_of(files, flipped(whole, at))));
    }
  };
  check(0, p.head.directory + p.head.directory_bytes);
  check(p.plans[0].offset, p.plans[0].bytes);
  for (const blob_row& blob : p.blobs) {
    CHECK(!is_refused(verdict_of(files, flipped(whole, blob.offset + blob.bytes / 2))));
    const std::string refusal = verdict_of(files, flipped(whole, blob.offset + blob.bytes / 2), true);
    CHECK(is_refused(refusal));
    CHECK(says(refusal, "of its weights does not fit its checksum"));
  }
}

TEST_CASE("a changed byte with valid checksums is refused, or gives a plan that runs or fails with a status") {
  const compiled_files files{small_network()};
  const std::string whole = slurp(files.context);
  const parts p = parts_of(whole);
  std::size_t refused = 0, all = 0;
  for (std::size_t at = p.head.directory; at < p.plans[0].offset + p.plans[0].bytes; at += every, ++all) {
    CAPTURE(at);
    refused += verdict_of(files, resealed(flipped(whole, at))) != "OK";
  }
  CHECK(refused > all / 3);
}

TEST_CASE("bools with the value 90 are refused") {
  constexpr std::size_t count = 192;
  std::vector<bool> flags(count);
  std::string found(count, '\0'), odd = found;
  for (std::size_t i = 0; i < count; ++i)
    if (i * i % 7 < 3) flags[i] = true, found[i] = '\1', odd[i] = '\x5a';
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(count)});
  b.output(b.node("Where", {b.constant<bool>("flags", {count}, flags), x, b.node("Neg", {x})}));
  const compiled_files files{b.take()};
  std::string whole = slurp(files.context);
  CHECK(verdict_of(files, whole) == "OK");
  const std::size_t at = whole.find(found);
  REQUIRE(at != whole.npos);
  const std::string refusal = verdict_of(files, whole.replace(at, count, odd));
  CHECK(is_refused(refusal));
  CHECK(says(refusal, "a bool that is neither 0 nor 1"));
}

TEST_CASE("a Cast to a type that its output does not have is rejected") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(192)});
  b.output(b.node("Not", {b.node("Cast", {x}, {model_builder::integer("to", 9)})}));
  const compiled_files files{b.take()};
  std::string whole = slurp(files.context);
  CHECK(verdict_of(files, whole) == "OK");
  const std::string to("\2\0\0\0to\2", 7);
  const std::size_t at = whole.find(to);
  REQUIRE(at != whole.npos);
  whole[at + to.size()] = '\13';  // double, which needs eight times the memory
  const std::string refusal = verdict_of(files, resealed(whole));
  CHECK(is_refused(refusal));
  CHECK(says(refusal, "output 0 has elements of bool, must be double"));
}

TEST_CASE("a context of another cameo, another processor or another format is refused with an error that names both") {
  const compiled_files files{small_network()};
  const std::string whole = slurp(files.context);
  const auto with = [&](std::size_t offset, std::string_view text) {
    std::string changed = whole;
    std::memset(changed.data() + offset, 0, 32);
    text.copy(changed.data() + offset, text.size());
    return verdict_of(files, resealed(changed));
  };
  const header head = parts_of(whole).head;
  const std::string other_cameo = with(offsetof(header, cameo), "0.0.9");
  CHECK(is_refused(other_cameo));
  CHECK(says(other_cameo, "made by cameo 0.0.9 for "));
  CHECK(says(other_cameo, std::string{", this is cameo "} + head.cameo));
  const std::string other_processor = with(offsetof(header, architecture), "z80, packing 1");
  CHECK(is_refused(other_processor));
  CHECK(says(other_processor, " for z80, packing 1"));
  CHECK(says(other_processor, std::string{" for "} + head.architecture));
  std::string other_format = whole;
  other_format[offsetof(header, version)] = 2;
  CHECK(says(verdict_of(files, other_format), "of format 2, this cameo reads format 1"));
  CHECK(says(verdict_of(files, "no context at all, but as many bytes as a header has, and more: " +
                                   std::string(sizeof(header), '.')),
             "not a context of frozen plans"));
  // The attribute of the model is checked before a context is opened.
  const std::string_view name = frozen_cpu::long_name;
  const auto written = must(frozen_runtime{}.compatibility(files.model, name));
  REQUIRE(*written);
  CHECK(**written == std::string{"cameo "} + head.cameo + " for " + head.architecture);
  CHECK(*frozen_runtime{}.fit(std::array{name}, **written) == compiled_fit::optimal);
  CHECK(*frozen_runtime{}.fit(std::array{name}, "cameo 0.0.9 for z80") == compiled_fit::unsupported);
}

TEST_CASE("containers of small models are valid, and are seeds for the fuzzer") {
  const fs::path seeds = fs::path{build_dir} / "fuzz_frozen_seeds";
  fs::create_directories(seeds);
  for (const auto& [name, make] : {std::pair{"network", &small_network}, {"operators", &many_operators}}) {
    const compiled_files files{make()};
    const std::string whole = slurp(files.context);
    CHECK(whole.size() < 1 << 15);
    spill((seeds / name).string(), whole);
  }
}

TEST_CASE("a plan of many operators gives the same bits as the uncompiled operators") {
  const compiled_files files{many_operators()};
  const auto restored = must(frozen_runtime{}.load(files.model));
  const session plain = loaded(many_operators());
  for (const std::int64_t n : {2, 1}) {
    const std::vector<float> x = ramp(std::size_t(n) * 24, 0.01f);
    const std::vector<named_input> inputs{{"x", x, extents{n, 4, 6}}};
    CHECK(bits_of(*restored, inputs) == bits_of(plain, inputs));
  }
}

TEST_CASE("checksums depend on every byte, at every length") {
  std::vector<std::byte> bytes(131);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::uint64_t before = checksum_of(std::span{bytes}.first(n));
    CHECK(before != checksum_of(std::span{bytes}.first(n + 1)));
    for (std::size_t i = 0; i < n; ++i) {
      bytes[i] = std::byte{0x40};
      CHECK(before != checksum_of(std::span{bytes}.first(n)));
      bytes[i] = std::byte{0};
    }
  }
}

}  // namespace
}  // namespace cameo::test
