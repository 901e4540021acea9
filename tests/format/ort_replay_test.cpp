// Applies the optimizations that an ORT file has saved: on a graph when the session's options enable it, and on a
// draft.
#include "ort_files.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/integer_conv.hpp>
#include <cameo/eps/cpu/pool.hpp>
#include <cameo/eps/cpu/quantize_linear.hpp>
#include <cameo/minimal/session.hpp>
#include <cameo/op/onnx.hpp>

#include "../../src/format/ort_schema.hpp"
#include "../../src/format/ort_view.hpp"
#include "../session/models.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr std::string_view with_bias = "qdq_runtime_opt", without_bias = "qdq_runtime_opt_no_bias";
using bytes = std::vector<std::byte>;

session_options replaying(bool on = true, optimization_level level = optimization_level::extended) {
  session_options options;
  options.optimize = level;
  options.config.emplace_back("session.enable_saved_runtime_optimizations", on ? "1" : "0");
  return options;
}

result<session> load(const bytes& file, const session_options& options) {
  return runtime<eps::cpu>{}.load(std::span<const std::byte>{file}, options);
}

std::size_t count(const session& s, std::string_view op) {
  std::size_t found = 0;
  for (const placement_info& each : s.placements()) found += each.op_type == op;
  return found;
}

/// The i-th record of the only optimizer.
ort::table_view record_of(const bytes& file, std::size_t i = 0) {
  const result<ort::table_view> root = ort::verify(file);
  REQUIRE(root);
  const ort::table_view optimizer = root->table(ort::session::model)
                                        .table(ort::model::graph)
                                        .table(ort::graph::runtime_optimizations)
                                        .vector(ort::optimizations::records)
                                        .table(0);
  return optimizer.vector(ort::optimizer::runtime_optimization_records).table(i);
}
std::size_t place_in(const bytes& file, const void* at) {
  return std::size_t(static_cast<const std::byte*>(at) - file.data());
}

/// The file with another operator in its first record. Texts are shared, so the new text is appended to the file.
bytes with_product(bytes file, std::string_view now) {
  const std::size_t field = place_in(file, record_of(file).vector(ort::record::produced_op_ids).bytes().data());
  file.resize((file.size() + 3) / 4 * 4);
  const auto size = std::uint32_t(now.size()), distance = std::uint32_t(file.size() - field);
  std::memcpy(file.data() + field, &distance, 4);
  const auto* const head = reinterpret_cast<const std::byte*>(&size);
  file.insert(file.end(), head, head + 4);
  for (char c : now) file.push_back(std::byte(c));
  file.resize((file.size() + 4) / 4 * 4);
  return file;
}
/// The file with another action in its second record, whose text is not shared.
bytes with_action(bytes file, char last) {
  const std::string_view there = record_of(file, 1).text(ort::record::action_id);
  file[place_in(file, &there.back())] = std::byte(last);
  return file;
}
/// The file with another node at a place of its first record.
bytes with_node(bytes file, std::size_t place, std::uint32_t index) {
  const std::span<const std::byte> numbers =
      record_of(file).table(ort::record::nodes_to_optimize_indices).vector(ort::indices::node_indices).bytes();
  std::memcpy(file.data() + place_in(file, numbers.data()) + 4 * place, &index, sizeof index);
  return file;
}
std::string temporary(std::string_view name) {
  return (std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + std::string{name})).string();
}
bytes sample(std::string_view name) { return bytes_of_file(ort_sample(name)); }

/// All outputs of a run on increasing values.
template <class Run>
std::vector<float> on_ramps(Run run) {
  std::vector<float> x(3 * 8 * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 17) / 8 - 1;
  return run(x);
}

std::vector<float> run(const session& s) {
  return on_ramps([&](std::vector<float>& x) {
    const std::vector<dim>& shape = *s.inputs()[0].type.shape;
    extents e;
    std::int64_t n = 1;
    for (const dim& d : shape) e.push_back(d.size), n *= d.size;
    x.resize(std::size_t(n));
    auto out = s.run({{s.inputs()[0].name, tensor_view<const float>{x.data(), e}}});
    REQUIRE_MESSAGE(out, out.error().words());
    const auto y = out->get<float>(s.outputs()[0].name);
    REQUIRE(y);
    return std::vector<float>(y->begin(), y->end());
  });
}

}  // namespace

TEST_CASE("saved optimizations are applied at level extended if they are enabled, with equal results to a step") {
  for (std::string_view name : {with_bias, without_bias}) {
    const bytes file = sample(name);
    const auto plain = load(file, replaying(false, optimization_level::basic)),
               low = load(file, replaying(true, optimization_level::basic)), done = load(file, replaying());
    REQUIRE(plain);
    REQUIRE(low);
    REQUIRE_MESSAGE(done, done.error().words());
    CHECK(count(*plain, "Conv") == 1);
    CHECK(count(*low, "Conv") == 1);
    CHECK(count(*done, "Conv") == 0);
    CHECK(count(*done, "QLinearConv") == 1);
    CHECK(count(*done, "MaxPool") == 1);
    CHECK(count(*done, "DequantizeLinear") == 1);
    const std::vector<float> want = run(*plain), got = run(*done);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= 0.0501f);
  }
}

TEST_CASE("an invalid record ends loading if it is to be applied, and is a warning otherwise") {
  const bytes good = sample(with_bias);
  struct row {
    bytes file;
    const char* words;
  };
  const row rows[] = {{with_action(good, 'x'), "no such action"},
                      {with_product(good, ":QLinearConv"), "op id"},
                      {with_product(good, ":QLinearConv:1x"), "op id"},
                      {with_product(good, ":QLinearConv:19"), "the action makes [:QLinearConv:10]"},
                      {with_product(good, ":QLinearPool:10"), "the action makes [:QLinearConv:10]"},
                      {with_node(good, 1, 4711), "4711 is not below"}};
  for (const row& each : rows) {
    const auto done = load(each.file, replaying());
    REQUIRE(!done);
    CHECK(done.error().code() == status_code::fail);
    CHECK_MESSAGE(done.error().words().find(each.words) != std::string_view::npos, done.error().words());
    CHECK(load(each.file, replaying(false)));
    CHECK(load(each.file, replaying(true, optimization_level::basic)));
  }
}

TEST_CASE("a record whose nodes are gone, or that does not fit them, is skipped") {
  const bytes good = sample(with_bias);
  for (const bytes& file : {with_node(good, 1, 0xFFFFFFFF), with_node(good, 1, 0), with_node(good, 3, 0)}) {
    const auto done = load(file, replaying());
    REQUIRE_MESSAGE(done, done.error().words());
    CHECK(count(*done, "Conv") == 1);
    CHECK(count(*done, "QLinearConv") == 0);
  }
}

TEST_CASE("the records of an unknown optimizer are kept; applied records are not saved again") {
  const std::string path = temporary("replayed.ort");
  const auto left = [&](const bytes& file, bool on) {
    session_options options = replaying(on, on ? optimization_level::extended : optimization_level::none);
    options.config.emplace_back("session.optimized_model_filepath", path);
    REQUIRE(load(file, options));
    auto again = read_ort(path);
    REQUIRE(again);
    std::remove(path.c_str());
    return (*again)->main().saved_optimizations.size();
  };
  const bytes good = sample(with_bias);
  CHECK(left(good, false) == 2);
  CHECK(left(good, true) == 0);
  bytes other = good;
  other[place_of(other, "QDQSelectorActionTransformer")] = std::byte('X');
  const auto done = load(other, replaying());
  REQUIRE(done);
  CHECK(done->graph().main().saved_optimizations.size() == 2);
  CHECK(count(*done, "Conv") == 1);
}

namespace {

/// A quantized Add between a float convolution's activation and the output of the model: records of two optimizers.
std::unique_ptr<model> two_optimizers() {
  model_builder b{13};
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(1), dim::fixed(4), dim::fixed(4)});
  const value_id w = b.constant<float>("w", {1, 1, 1, 1}, {0.5f}), scale = b.constant<float>("scale", {}, {0.05f}),
                 zero = b.constant<std::uint8_t>("zero", {}, {128});
  const auto rounded = [&](value_id v) {
    return b.node("DequantizeLinear", {b.node("QuantizeLinear", {v, scale, zero}), scale, zero});
  };
  const value_id y = b.node("Relu", {b.node("Conv", {x, w})});
  b.output(rounded(b.node("Add", {rounded(y), rounded(x)})));
  return b.take();
}

result<bytes> saved(session_options options, std::unique_ptr<model> net = two_optimizers()) {
  const std::string path = temporary("saved.ort");
  options.config.emplace_back("session.optimized_model_filepath", path);
  const auto done = runtime<eps::cpu>{}.load(std::move(net), options);
  if (!done) return status{done.error()};
  bytes file = bytes_of_file(path);
  std::remove(path.c_str());
  return file;
}

session_options saving(std::string how, optimization_level level = optimization_level::extended) {
  session_options options;
  options.optimize = level;
  options.config.emplace_back("optimization.minimal_build_optimizations", std::move(how));
  return options;
}

}  // namespace

TEST_CASE(
    "the mode save stores optimizations and has the operators that they make in the resolver; apply applies them") {
  const auto file = saved(saving("save"));
  REQUIRE_MESSAGE(file, file.error().words());
  const auto net = read_and_check(*file);
  const std::span<const detail::saved_optimization> records = net->main().saved_optimizations;
  REQUIRE(records.size() == 2);
  CHECK(records[0].optimizer == "ConvActivationFusion");
  CHECK(records[0].action == "ConvAct");
  CHECK(records[0].produces[0] == "com.microsoft:FusedConv:1");
  CHECK(records[1].action == "2DQ");
  CHECK(records[1].produces[0] == "com.microsoft:QLinearAdd:1");
  CHECK(records[1].inputs == 2);
  CHECK(records[1].outputs == 1);
  CHECK(place_of(*file, "com.microsoft:QLinearAdd:1") > 0);
  const auto plain = load(*file, replaying(false)), done = load(*file, replaying());
  REQUIRE(done);
  CHECK(count(*done, "QLinearAdd") == 1);
  CHECK(count(*done, "FusedConv") == 1);
  const auto applied = runtime<eps::cpu>{}.load(two_optimizers(), saving("apply"));
  REQUIRE(applied);
  CHECK(count(*applied, "QLinearAdd") == 1);
  CHECK(count(*applied, "DequantizeLinear") == 1);
  const std::vector<float> want = run(*plain), got = run(*done), same = run(*applied);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= 0.0501f);
  CHECK(got == same);
  // Below level extended, no optimization is saved.
  const auto low = saved(saving("save", optimization_level::basic));
  REQUIRE(low);
  CHECK(read_and_check(*low)->main().saved_optimizations.empty());
}

TEST_CASE("a file's resolver has the operators that rules may still insert, if the model has what these need") {
  const auto knows = [](const bytes& file, std::string_view id) {
    const ort::vector_view ops = (*ort::verify(file))
                                     .table(ort::session::kernel_type_str_resolver)
                                     .vector(ort::resolver::op_kernel_type_str_args);
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (ops.table(i).text(ort::op_entry::op_id) == id) return true;
    return false;
  };
  session_options options;
  options.optimize = optimization_level::none;
  const auto file = saved(options);
  REQUIRE(file);
  CHECK(knows(*file, ":Conv:11"));
  CHECK(knows(*file, "com.microsoft:FusedConv:1"));
  CHECK(knows(*file, "com.microsoft:QLinearAdd:1"));
  CHECK(knows(*file, "com.microsoft.nchwc:ReorderInput:1"));
  CHECK(!knows(*file, "com.microsoft:QLinearMul:1"));
  CHECK(!knows(*file, "com.microsoft:Gelu:1"));
  CHECK(!knows(*file, "com.microsoft:FusedGemm:1"));
  options.config.emplace_back("optimization.disable_specified_optimizers",
                              "NchwcTransformer,ConvActivationFusion,ConvAddActivationFusion");
  const auto fewer = saved(options);
  REQUIRE(fewer);
  CHECK(!knows(*fewer, "com.microsoft:FusedConv:1"));
  CHECK(!knows(*fewer, "com.microsoft.nchwc:ReorderInput:1"));
  CHECK(knows(*fewer, "com.microsoft:QLinearAdd:1"));
}

TEST_CASE("saving needs a file in the ORT format, and the key has two values besides nothing") {
  const auto code = [](session_options options) {
    const auto done = runtime<eps::cpu>{}.load(two_optimizers(), options);
    return done ? status_code::ok : done.error().code();
  };
  const auto to = [](session_options options, std::string path) {
    options.config.emplace_back("session.optimized_model_filepath", temporary(path));
    return options;
  };
  CHECK(code(saving("save")) == status_code::invalid_argument);
  CHECK(code(to(saving("save"), "saved.onnx")) == status_code::invalid_argument);
  CHECK(code(saving("Save")) == status_code::invalid_argument);
  CHECK(code(saving("apply")) == status_code::ok);
  CHECK(code(saving("")) == status_code::ok);
}

TEST_CASE("an optimizer that is listed twice is an error if its records are to be applied") {
  bytes file = *saved(saving("save"));
  const auto optimizers = (*ort::verify(file))
                              .table(ort::session::model)
                              .table(ort::model::graph)
                              .table(ort::graph::runtime_optimizations)
                              .vector(ort::optimizations::records);
  REQUIRE(optimizers.size() == 2);
  std::byte* const entries = file.data() + (optimizers.bytes().data() - file.data());
  std::uint32_t first = 0;
  std::memcpy(&first, entries, 4);
  first -= 4;
  std::memcpy(entries + 4, &first, 4);
  const auto done = load(file, replaying());
  REQUIRE(!done);
  CHECK(done.error().words().find("is given twice") != std::string_view::npos);
  CHECK(load(file, replaying(false)));
}

namespace {

/// The kernels for the replayed sample; there is none for Conv.
using integer_kernels = kernel_list<erased_entry<op::QuantizeLinear, since<10>, any_types, eps::quantize_linear>,
                                    erased_entry<op::DequantizeLinear, since<10>, any_types, eps::dequantize_linear>,
                                    erased_entry<op::QLinearConv, since<10>, any_types, eps::qlinear_conv>,
                                    kernel_entry<op::MaxPool, since<8>, constrain<"T", std::uint8_t>, eps::max_pool>>;

std::vector<float> run(minimal_session& s) {
  return on_ramps([&](std::vector<float>& x) {
    const value in = value::tensor(dtype::f32, s.input(0).info.shape, x.data());
    std::vector<value> out(1);
    const status done = s.run({&in, 1}, out);
    REQUIRE_MESSAGE(done, done.words());
    const auto y = out[0].as_unchecked<float>();
    return std::vector<float>(y.begin(), y.end());
  });
}

}  // namespace

TEST_CASE(
    "a runtime without a graph that names saved_optimizations applies them, and needs no kernels for the nodes that "
    "they remove") {
  using replaying_runtime = minimal_runtime<saved_optimizations, integer_kernels>;
  for (std::string_view name : {with_bias, without_bias}) {
    const bytes file = sample(name);
    std::vector<std::byte> memory(1 << 18);
    const auto without = minimal_runtime<integer_kernels>::load(file, memory);
    REQUIRE(!without);
    CHECK(without.error().code() == status_code::not_implemented);
    auto with = replaying_runtime::load(file, memory);
    REQUIRE_MESSAGE(with, with.error().words());
    const auto graph = load(file, replaying());
    REQUIRE(graph);
    CHECK(run(*with) == run(*graph));
  }
  // Too little memory is a status at every size.
  const bytes file = sample(with_bias);
  for (std::size_t room = 0; room < 1 << 15; room += 64) {
    std::vector<std::byte> memory(room);
    const auto done = replaying_runtime::load(file, memory);
    if (!done) CHECK(done.error().code() == status_code::out_of_memory);
  }
}

TEST_CASE(
    "a runtime that names saved_optimizations trusts files that cameo wrote, and reports how much memory a load "
    "needs") {
  using replaying_runtime = minimal_runtime<saved_optimizations, integer_kernels>;
  for (std::string_view name : {with_bias, without_bias}) {
    const auto text = write_ort(*read_and_check(sample(name)));
    REQUIRE(text);
    const auto* const first = reinterpret_cast<const std::byte*>(text->data());
    const bytes file{first, first + text->size()};
    std::vector<std::byte> memory(1 << 18), other(1 << 18);
    const result<std::size_t> needed = replaying_runtime::memory_needed(file, memory);
    REQUIRE(needed);
    auto checked = replaying_runtime::load(file, memory);
    REQUIRE_MESSAGE(checked, checked.error().words());
    CHECK(*needed == checked->memory_used());
    auto trusted = replaying_runtime::load_trusted(file, other);
    REQUIRE_MESSAGE(trusted, trusted.error().words());
    CHECK(trusted->memory_used() < *needed);
    CHECK(run(*trusted) == run(*checked));
    const std::span<std::byte> room{memory};
    CHECK(replaying_runtime::load(file, room.first(*needed)));
    CHECK(replaying_runtime::load(file, room.first(*needed - 64)).error().code() == status_code::out_of_memory);
    const bytes bad = with_node(file, 0, 4711);  // records are checked nevertheless
    CHECK(replaying_runtime::load_trusted(bad, other).error().code() == status_code::fail);
  }
}

TEST_CASE("without a graph, too, invalid records end loading, and those that do not fit are skipped") {
  using all = minimal_runtime<saved_optimizations, eps::cpu_kernels>;
  const bytes good = sample(with_bias);
  std::vector<std::byte> memory(1 << 18);
  for (const bytes& file :
       {with_action(good, 'x'), with_product(good, ":QLinearConv"), with_product(good, ":QLinearConv:1x"),
        with_product(good, ":QLinearPool:10"), with_product(good, ":QLinearConv:19"), with_node(good, 1, 4711)}) {
    const auto done = all::load(file, memory);
    REQUIRE(!done);
    CHECK_MESSAGE(done.error().code() == status_code::fail, done.error().words());
  }
  const auto plain = minimal_runtime<eps::cpu_kernels>::load(good, memory);
  REQUIRE(plain);
  for (const bytes& file : {with_node(good, 1, 0xFFFFFFFF), with_node(good, 1, 0), with_node(good, 3, 0),
                            with_node(good, 0, 1), with_node(good, 4, 3)}) {
    std::vector<std::byte> room(1 << 18);
    auto done = all::load(file, room);
    REQUIRE_MESSAGE(done, done.error().words());
    static_cast<void>(run(*done));
  }
}

TEST_CASE("every flipped byte of the records ends in a status, or in a model that runs without a fault") {
  using all = minimal_runtime<saved_optimizations, eps::cpu_kernels>;
  const bytes good = sample(with_bias);
  std::vector<std::byte> memory(1 << 18);
  for (std::size_t at = 0; at < good.size(); ++at) {
    bytes file = good;
    file[at] ^= std::byte{1};
    if (auto done = all::load(file, memory); done && done->input_count() == 1) {
      extents shape = done->input(0).info.shape;
      std::int64_t elements = 0;
      if (done->input(0).info.type != dtype::f32 || !shape.checked_count(elements) || elements < 0 || elements > 4096)
        continue;
      std::vector<float> x(4096);
      const value in = value::tensor(dtype::f32, shape, x.data());
      std::vector<value> out(done->output_count());
      static_cast<void>(done->run({&in, 1}, out));
    }
    static_cast<void>(load(file, replaying()));
  }
}
