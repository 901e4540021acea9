#pragma once
// Models whose plans have all that a container can hold, and runtimes to compile and load them with.
#include <cameo/eps/frozen.hpp>
#include <cameo/op/onnx.hpp>

#include "../src/container.hpp"
#include "context/compiled.hpp"

#include <cstring>
#include <numeric>

namespace cameo::test {

using frozen_cpu = eps::frozen<eps::cpu>;
using frozen_runtime = runtime<frozen_cpu, eps::cpu>;

/// Convolutions that are packed in blocks and as rows, a product, its bias, and a reshape by a constant.
inline std::unique_ptr<model> small_network() {
  model_builder b;
  const auto ints = [](std::string_view name, std::span<const std::int64_t> all) {
    attribute a;
    a.name = name, a.kind = attribute_kind::ints, a.ints = all;
    return a;
  };
  static constexpr std::int64_t pads[] = {1, 1, 1, 1};
  const value_id x = b.input("x", dtype::f32, {dim::of(1), dim::of(3), dim::of(8), dim::of(8)});
  const value_id w1 = b.constant("w1", {32, 3, 3, 3}, ramp(32 * 27, 0.0005f));
  const value_id b1 = b.constant("b1", {32}, ramp(32, 0.0001f));
  const value_id w2 = b.constant("w2", {16, 32, 1, 1}, ramp(16 * 32, 0.0003f));
  value_id y = b.node("Relu", {b.node("Conv", {x, w1, b1}, {ints("pads", pads)})});
  y = b.node("Conv", {y, w2});
  y = b.node("GlobalAveragePool", {y});
  y = b.node("Reshape", {y, b.constant<std::int64_t>("shape", {2}, {1, 16})});
  y = b.node("Gemm", {y, b.constant("w3", {16, 10}, ramp(160, 0.001f)), b.constant("b3", {10}, ramp(10, 0.001f))});
  b.output(b.node("Softmax", {y}, {model_builder::integer("axis", -1)}));
  return b.take();
}

/// Products over rows that a run tells, twice over the same weights, for models that share them: each has `more` of its
/// own at the end.
inline std::unique_ptr<model> over_shared_weights(const std::string& more) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::of(64)});
  const value_id w = b.constant("w", {64, 512}, ramp(64 * 512, 0.001f));
  const value_id v = b.constant("v", {512, 64}, ramp(512 * 64, 0.0007f));
  value_id y = b.node("MatMul", {b.node("Tanh", {b.node("MatMul", {x, w})}), v});
  y = b.node(more, {y});
  b.output(y);
  return b.take();
}

/// What a container can't hold, between products that it can: texts, and a sequence.
inline std::unique_ptr<model> texts_and_sequences() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::of(2)});
  const value_id w = b.constant("w", {2, 4}, ramp(8));
  const value_id parts =
      b.node("SplitToSequence", {b.node("MatMul", {x, w}), b.constant<std::int64_t>("one", {}, {1})});
  const value_id joined = b.node("ConcatFromSequence", {parts}, {model_builder::integer("axis", 0)});
  b.output(b.node("MatMul", {joined, b.constant("v", {4, 3}, ramp(12))}));
  const value_id t = b.input("t", dtype::string, {dim::of(3)});
  b.output(b.node("Identity", {t}));
  return b.take();
}

/// A compiled model and its context.
struct compiled_files {
  scratch_folder folder;
  std::string model = folder / "m_ctx.onnx", context = folder / "m_ctx_FrozenExecutionProvider.bin";
};
inline void compile(const compiled_files& to, std::unique_ptr<cameo::model> m, bool embed = false) {
  compile_options options;
  options.input = std::move(m);
  options.output = to.model;
  options.embed = embed;
  options.session.config = {{"ep.context_file_path", to.model}};
  const auto report = frozen_runtime{}.compile(std::move(options));
  REQUIRE(verdict(report) == "OK");
  REQUIRE(report->compiled_nodes > 0);
}

/// The bytes of all outputs, one after the other.
inline std::string bits_of(const session& s, std::span<const named_input> inputs) {
  const auto outputs = s.run(inputs);
  REQUIRE(verdict(outputs) == "OK");
  std::string all;
  for (const auto& each : outputs->items) {
    const value& v = each.value;
    if (v.type == dtype::string)
      for (std::string_view t : v.as<std::string_view>()) all += std::string{t} + '\0';
    else all.append(static_cast<const char*>(v.data), v.bytes());
  }
  return all;
}

/// Gives a damaged container the checksums that fit it, as far as it can be read at all.
inline void reseal(std::span<std::byte> bytes) {
  using namespace eps::frozen_file;
  header head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto within = [&](std::uint64_t offset, std::uint64_t size, std::span<std::byte> all) {
    return offset <= all.size() && size <= all.size() - offset;
  };
  if (within(head.directory, head.directory_bytes, bytes) && head.directory % 8 == 0) {
    const auto rows = bytes.subspan(std::size_t(head.directory), std::size_t(head.directory_bytes));
    directory counts{};
    if (rows.size() >= sizeof counts) std::memcpy(&counts, rows.data(), sizeof counts);
    for (std::uint64_t i = 0; i < counts.plans && i < 1000 && counts.blobs < rows.size(); ++i) {
      const std::uint64_t at = sizeof counts + counts.blobs * sizeof(blob_row) + i * sizeof(plan_row);
      plan_row row;
      if (!within(at, sizeof row, rows)) break;
      std::memcpy(&row, rows.data() + at, sizeof row);
      if (within(row.offset, row.bytes, bytes))
        row.checksum = checksum_of(bytes.subspan(std::size_t(row.offset), std::size_t(row.bytes)));
      std::memcpy(rows.data() + at, &row, sizeof row);
    }
    head.directory_checksum = checksum_of(rows);
  }
  head.file_bytes = bytes.size(), head.bytes = sizeof head, head.version = format_version;
  std::memcpy(head.magic, magic, sizeof magic);
  std::memcpy(bytes.data(), &head, sizeof head);
  head.checksum = checksum_of(bytes.first(offsetof(header, checksum)));
  std::memcpy(bytes.data(), &head, sizeof head);
}
inline std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span{text.data(), text.size()});
}

}  // namespace cameo::test
