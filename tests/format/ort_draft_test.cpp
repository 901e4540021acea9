#include "ort_files.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/minimal/session.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/os/heap_arena.hpp>

#include <algorithm>
#include <filesystem>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr const detail::kernel_table* cpu_list[] = {&eps::cpu_kernels::table};

/// A session whose memory is a vector of any size.
struct loaded_draft {
  std::vector<std::byte> file, memory;
  std::optional<minimal_session> session;
  status why;

  explicit loaded_draft(std::vector<std::byte> bytes, std::size_t room = std::size_t{4} << 20,
                        std::span<const detail::kernel_table* const> lists = cpu_list)
      : file{std::move(bytes)}, memory(room) {
    result<minimal_session> made = minimal_session::load(file, memory, lists, {});
    if (made) session.emplace(std::move(*made));
    else why = std::move(made).error();
  }
};

/// Runs one data set of a sample. Returns false when the set feeds an input that is a constant of this model.
bool run_set(minimal_session& session, const std::string& set, double rtol, double atol) {
  detail::heap_arena memory;
  std::vector<value> inputs(session.input_count()), outputs(session.output_count());
  for (std::size_t i = 0; std::filesystem::exists(set + "/input_" + std::to_string(i) + ".pb"); ++i) {
    const std::vector<std::byte> bytes = bytes_of_file(set + "/input_" + std::to_string(i) + ".pb");
    std::string name;
    const pb_kind kind = i < inputs.size() ? pb_kind_of(session.input(i).info.kind) : pb_kind::tensor;
    const result<value> read = read_pb(bytes, kind, memory, &name);
    REQUIRE(read);
    const std::size_t at = name.empty() ? i : session.find_input(name);
    if (at == minimal_session::not_found) return false;
    inputs[at] = *read;
  }
  const status ran = session.run(inputs, outputs);
  REQUIRE_MESSAGE(ran, set, ": ", ran.words());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::byte> bytes = bytes_of_file(set + "/output_" + std::to_string(i) + ".pb");
    const result<value> want = read_pb(bytes, pb_kind_of(session.output(i).info.kind), memory);
    REQUIRE(want);
    CHECK_MESSAGE(same(outputs[i], *want, rtol, atol), set, " output ", i);
  }
  return true;
}

/// Runs with zeros of a shape that the model allows, if all inputs are tensors.
void run_on_zeros(minimal_session& session) {
  static std::vector<std::byte> zeros(std::size_t{1} << 16);
  std::vector<value> inputs, outputs(session.output_count());
  for (std::size_t i = 0; i < session.input_count(); ++i) {
    extents shape = session.input(i).info.shape;
    for (std::int64_t& d : shape) d = d < 0 ? 2 : d;
    const dtype type = session.input(i).info.type;
    std::int64_t count = 0;
    if (session.input(i).info.kind != type_kind::tensor || type == dtype::string || !shape.checked_count(count) ||
        count > 4096)
      return;
    inputs.push_back(value::tensor(type, shape, zeros.data()));
  }
  static_cast<void>(session.run(inputs, outputs));
}

/// Whether a value that a run returned has the type and shape that the model declares.
bool as_promised(const operand& said, const value& v) {
  if (said.kind == type_kind::tensor) return v.kind == value_kind::tensor && v.type == said.type;
  return said.kind != type_kind::sequence ||
         std::all_of(v.parts.begin(), v.parts.end(), [&](const value& part) { return part.type == said.type; });
}

/// A value for every input of the model: zeros, or true and 3 for a single bool and a single integer.
std::vector<value> some_inputs(const minimal_session& session) {
  alignas(64) static std::int64_t numbers[64] = {3}, zeros[64] = {};
  static std::vector<value> no_parts;
  std::vector<value> made;
  for (std::size_t i = 0; i < session.input_count(); ++i) {
    const operand& info = session.input(i).info;
    extents shape = info.shape;
    for (std::int64_t& d : shape) d = d < 0 ? 2 : d;
    const bool is_count = shape.rank() == 0 || (info.type == dtype::i64 && shape.count() == 1);
    made.push_back(value::tensor(info.type, shape, is_count ? numbers : zeros));
    if (info.kind != type_kind::tensor) made.back() = {value_kind::sequence, info.type};
  }
  return made;
}

}  // namespace

TEST_CASE("every sample runs without a graph, with the results of ONNX Runtime") {
  int sets = 0, samples = 0;
  const nlohmann::json manifest = json_of_file(ort_folder() + "manifest.json");
  for (const auto& item : manifest.items()) {
    const std::string name = item.key();
    INFO(name);
    loaded_draft model{bytes_of_file(ort_sample(name))};
    if (name == "v4_session_state") {
      CHECK(model.why.code() == status_code::fail);
      CHECK(model.why.words().find("ort_version is 4") != std::string_view::npos);
      CHECK(model.why.words().find("convert") != std::string_view::npos);
      continue;
    }
    CHECK_MESSAGE(model.session, model.why.words());
    if (!model.session || name == "conv2d_nchwc") continue;
    ++samples;
    const nlohmann::json tolerance = json_of_file(ort_folder() + name + "/tolerance.json");
    for (int i = 0;; ++i) {
      const std::string set = ort_folder() + name + "/test_data_set_" + std::to_string(i);
      if (!std::filesystem::exists(set)) break;
      sets += run_set(*model.session, set, tolerance["rtol"], tolerance["atol"]);
    }
  }
  CHECK(samples == 41);
  CHECK(sets >= 41);
}

TEST_CASE("every malformed file is refused without a graph, too, with the expected code") {
  const nlohmann::json all = json_of_file(ort_folder() + "malformed/expected.json");
  for (const nlohmann::json& each : all) {
    const std::string file = each["file"];
    INFO(file);
    const loaded_draft model{bytes_of_file(ort_folder() + file)};
    if (model.session) {
      CHECK((file.find("int4_initializer") != file.npos || file.find("resolver_op_missing") != file.npos));
      continue;
    }
    const std::string want = each["status"] == "exception" ? "INVALID_GRAPH" : each["status"].get<std::string>();
    CHECK_MESSAGE(model.why.name() == want, model.why.words());
    CHECK(!model.why.words().empty());
  }
}

TEST_CASE("every prefix of a file and every flipped byte ends in a status, or in a model that runs without a fault") {
  for (const char* name : {"if_sequence", "loose", "sparse", "loop"}) {
    const std::vector<std::byte> whole = bytes_of_file(ort_sample(name));
    for (std::size_t size = 0; size < whole.size(); size += 3)
      static_cast<void>(loaded_draft{{whole.begin(), whole.begin() + std::ptrdiff_t(size)}, 1 << 16});
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (unsigned flip : {0x01u, 0x80u, 0xFFu}) {
        std::vector<std::byte> bytes = whole;
        bytes[i] ^= std::byte(flip);
        loaded_draft model{std::move(bytes), 1 << 16};
        if (model.session && std::string_view{name} != "loop") run_on_zeros(*model.session);
      }
  }
}

TEST_CASE("a value that comes out of a subgraph has the type that the file declares outside, or the run ends") {
  // Each number 1 in the file, which may be the type float, is replaced by other types, one number at a time. One of
  // the numbers is the type of a subgraph's output.
  for (const std::string name : {"if_float", "loop", "scan", "nested_if", "if_sequence", "loop_sequence"}) {
    INFO(name);
    const std::vector<std::byte> whole = bytes_of_file(ort_sample(name));
    int caught = 0;
    for (std::size_t at = 0; at + 4 <= whole.size(); at += 4)
      for (std::int32_t type : {std::int32_t(dtype::string), std::int32_t(dtype::i64), std::int32_t(dtype::boolean)}) {
        if (std::int32_t was = 0; std::memcpy(&was, &whole[at], 4), was != 1) continue;
        std::vector<std::byte> bytes = whole;
        std::memcpy(&bytes[at], &type, 4);
        loaded_draft model{std::move(bytes), 1 << 17};
        if (!model.session) continue;
        const std::vector<value> inputs = some_inputs(*model.session);
        std::vector<value> outputs(model.session->output_count());
        const status ran = model.session->run(inputs, outputs);
        caught += ran.code() == status_code::invalid_graph;
        for (std::size_t i = 0; i < outputs.size() && ran; ++i)
          CHECK_MESSAGE(as_promised(model.session->output(i).info, outputs[i]), at, " became ", type);
      }
    CHECK(caught > 0);
  }
}

TEST_CASE("too little memory is a status at every size, and the size that a session reports is enough") {
  for (const char* name : {"loop", "nested_if", "sparse", "all_types"}) {
    const std::vector<std::byte> bytes = bytes_of_file(ort_sample(name));
    const loaded_draft roomy{bytes};
    REQUIRE(roomy.session);
    const std::size_t used = roomy.session->memory_used() + 64;  // the vector's memory is aligned to 16 only
    CHECK(loaded_draft{bytes, used}.session);
    for (std::size_t room = 0; room < used - 256; room += 64) {
      const loaded_draft model{bytes, room};
      if (!model.session) CHECK_MESSAGE(model.why.code() == status_code::out_of_memory, name, ": ", model.why.words());
    }
  }
}

namespace {

/// A kernel list with an Add whose versions end before the one in the files, or start after it.
struct young_add {
  static constexpr std::string_view domain = "", name = "Add";
  static constexpr parameter inputs[] = {{"A", "T"}, {"B", "T"}}, outputs[] = {{"C", "T"}};
  static constexpr type_rule types[] = {{"T", mask_of<float, std::int32_t>}};
  static constexpr op_version versions[] = {{7, inputs, outputs, types, {}, 2, 1}};
};
struct add_floats {
  static result<add_floats> bind(bind_context&) { return add_floats{}; }
  status run(run_context& c) const {
    const auto a = c.input<float>(0), b = c.input<float>(1);
    if (a.shape() != b.shape()) return status_code::invalid_argument;
    auto y = c.output<float>(0, a.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < a.count(); ++i) (*y)[i] = a[i] + b[i];
    return {};
  }
};
using floats = kernel_list<erased_entry<young_add, since<7>, constrain<"T", float>, add_floats>>;
using integers = kernel_list<erased_entry<young_add, since<7>, constrain<"T", std::int32_t>, add_floats>>;

/// The file with `from` replaced with `to`, which has the same length.
std::vector<std::byte> changed(std::vector<std::byte> bytes, std::string_view from, std::string_view to) {
  REQUIRE(from.size() == to.size());
  std::memcpy(bytes.data() + place_of(bytes, from), to.data(), to.size());
  return bytes;
}

}  // namespace

TEST_CASE("for a version that no list has, the resolver in the file defines the type strings") {
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample("add"));
  const detail::kernel_table *const good[] = {&floats::table}, *const bad[] = {&integers::table};
  loaded_draft model{bytes, 1 << 16, good};
  REQUIRE_MESSAGE(model.session, model.why.words());
  CHECK(loaded_draft{bytes, 1 << 16, bad}.why.code() == status_code::not_implemented);  // T is float, by the resolver
  const loaded_draft lacking{changed(bytes, ":Add:14", ":Sub:14"), 1 << 16, good};
  CHECK(lacking.why.code() == status_code::fail);
  CHECK(lacking.why.words().find(":Add:14") != std::string_view::npos);
  const detail::kernel_table* const both[] = {&integers::table, &floats::table};  // the first that accepts it
  CHECK(loaded_draft{bytes, 1 << 16, both}.session);
}

namespace {

/// An Add of an older version than that of the files, with an input and an attribute that their nodes lack.
template <bool NeedsInput>
struct demanding_add {
  static constexpr std::string_view domain = "", name = "Add";
  static constexpr parameter inputs[] = {{"A", "T"}, {"B", "T"}, {"X", "T"}}, outputs[] = {{"C", "T"}};
  static constexpr type_rule types[] = {{"T", mask_of<float>}};
  static constexpr attribute_rule needed[] = {{"alpha", attribute_kind::f, true}};
  static constexpr op_version versions[] = {
      {7, std::span{inputs}.first(NeedsInput ? 3 : 2), outputs, types,
       NeedsInput ? std::span<const attribute_rule>{} : std::span<const attribute_rule>{needed}, 2, 1}};
};

/// An Add of an older version whose second input is a tensor of other elements, or needs a third input.
template <bool NeedsInput>
struct odd_add {
  static constexpr std::string_view domain = "", name = "Add";
  static constexpr parameter inputs[] = {{"A", "T"},
                                         {"B", NeedsInput ? "T" : "tensor(uint8)"},
                                         {"X", "T", parameter_option::optional}},
                             outputs[] = {{"C", "T"}};
  static constexpr type_rule types[] = {{"T", mask_of<float>}};
  static constexpr op_version versions[] = {
      {7, inputs, outputs, types, {}, 2, 1, false, nullptr, NeedsInput ? "B&X" : nullptr}};
};

}  // namespace

TEST_CASE("a node of a version that no list has needs what kernels of the newest known version rely on") {
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample("add"));
  using input = kernel_list<erased_entry<demanding_add<true>, since<7>, constrain<"T", float>, add_floats>>;
  using attribute = kernel_list<erased_entry<demanding_add<false>, since<7>, constrain<"T", float>, add_floats>>;
  for (const detail::kernel_table* const table : {&input::table, &attribute::table}) {
    const detail::kernel_table* const lists[] = {table};
    const loaded_draft refused{bytes, 1 << 16, lists};
    CHECK(refused.why.code() == status_code::invalid_graph);
    CHECK(refused.why.words().find("is missing") != std::string_view::npos);
  }
  using pair = kernel_list<erased_entry<odd_add<true>, since<7>, constrain<"T", float>, add_floats>>;
  using bytes_of_b = kernel_list<erased_entry<odd_add<false>, since<7>, constrain<"T", float>, add_floats>>;
  for (const auto& [table, why] :
       {std::pair{&pair::table, "B and X go together"}, std::pair{&bytes_of_b::table, "does not allow the type"}}) {
    const detail::kernel_table* const lists[] = {table};
    const loaded_draft refused{bytes, 1 << 16, lists};
    CHECK(refused.why.code() == status_code::invalid_graph);
    CHECK(refused.why.words().find(why) != std::string_view::npos);
  }
}

TEST_CASE("an operator, a type or a version without a kernel is NOT_IMPLEMENTED, and the message names it") {
  const loaded_draft none{bytes_of_file(ort_sample("add")), 1 << 16, {}};
  CHECK(none.why.code() == status_code::not_implemented);
  CHECK(none.why.words().find("(Add)") != std::string_view::npos);
}

namespace {

/// A definition that Add might have had in version 14: the sample's node adds two float tensors and has no attributes.
template <int Variant>
struct other_add {
  static constexpr std::string_view domain = "", name = "Add";
  static constexpr parameter good[] = {{"A", "T"}, {"B", "T"}}, one[] = {{"A", "T"}},
                             three[] = {{"A", "T"}, {"B", "T"}, {"X", "T"}},
                             spelled[] = {{"A", "T"}, {"B", "tensor(int64)"}}, sequence[] = {{"A", "S"}, {"B", "T"}},
                             optional[] = {{"A", "T"}, {"B", "T"}, {"X", "T", parameter_option::optional}},
                             many[] = {{"A", "T", parameter_option::variadic}}, out[] = {{"C", "T"}},
                             integers[] = {{"C", "I"}};
  static constexpr std::span<const parameter> ins[9] = {good,     one,  three, spelled, sequence,
                                                        optional, many, good,  good};
  static constexpr type_rule types[] = {{"T", mask_of<float>}, {"S", 0, mask_of<float>}, {"I", mask_of<std::int64_t>}};
  static constexpr attribute_rule needed[] = {{"alpha", attribute_kind::f, true}};
  static constexpr op_version versions[] = {
      {14, ins[Variant], Variant == 7 ? std::span<const parameter>{integers} : std::span<const parameter>{out}, types,
       Variant == 8 ? std::span<const attribute_rule>{needed} : std::span<const attribute_rule>{}, 1, 1}};
};
template <int Variant>
status_code code_for() {
  using list = kernel_list<erased_entry<other_add<Variant>, since<14>, any_types, add_floats>>;
  const detail::kernel_table* const lists[] = {&list::table};
  return loaded_draft{bytes_of_file(ort_sample("add")), 1 << 16, lists}.why.code();
}

}  // namespace

TEST_CASE("a node is checked against its operator: arity, types, attributes, counts of inputs") {
  CHECK(code_for<0>() == status_code::ok);
  CHECK(code_for<1>() == status_code::fail);  // the arity differs from input_arg_counts of the file
  CHECK(code_for<2>() == status_code::fail);
  CHECK(code_for<5>() == status_code::fail);
  CHECK(code_for<6>() == status_code::fail);
  CHECK(code_for<3>() == status_code::invalid_graph);  // the arity agrees, the types differ
  CHECK(code_for<4>() == status_code::invalid_graph);
  CHECK(code_for<7>() == status_code::invalid_graph);
  CHECK(code_for<8>() == status_code::invalid_graph);
}

TEST_CASE("a negative dim in a file is an unknown one, for which ONNX Runtime writes -1") {
  std::vector<std::byte> file = bytes_of_file(ort_sample("add"));
  std::size_t changed = 0;
  const loaded_draft before{file};
  REQUIRE(before.session);
  const extents shape = before.session->input(0).info.shape;
  REQUIRE(shape.rank() >= 1);
  REQUIRE(shape[0] > 0);
  for (std::size_t at = 0; at + 8 <= file.size(); at += 4) {
    std::int64_t number = 0;
    std::memcpy(&number, file.data() + at, 8);
    if (number != shape[0]) continue;
    std::vector<std::byte> other = file;
    for (const std::int64_t negative : {std::int64_t{-1}, std::int64_t{-7}}) {
      std::memcpy(other.data() + at, &negative, 8);
      const loaded_draft model{other};
      if (!model.session || model.session->input(0).info.shape[0] != -1) continue;
      ++changed;
    }
  }
  CHECK(changed >= 2);  // of an input, by both numbers
}
