#include "program/ops_config.hpp"
#include "program/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

constexpr std::pair<dtype, std::string_view> type_names[] = {
    {dtype::f32, "float"},
    {dtype::f64, "double"},
    {dtype::i8, "int8_t"},
    {dtype::i16, "int16_t"},
    {dtype::i32, "int32_t"},
    {dtype::i64, "int64_t"},
    {dtype::u8, "uint8_t"},
    {dtype::u16, "uint16_t"},
    {dtype::u32, "uint32_t"},
    {dtype::u64, "uint64_t"},
    {dtype::boolean, "bool"},
    {dtype::string, "std::string"},
    {dtype::f16, "MLFloat16"},
    {dtype::bf16, "BFloat16"},
    {dtype::f8e4m3fn, "Float8E4M3FN"},
    {dtype::f8e4m3fnuz, "Float8E4M3FNUZ"},
    {dtype::f8e5m2, "Float8E5M2"},
    {dtype::f8e5m2fnuz, "Float8E5M2FNUZ"},
};

std::string_view name_of(dtype type) {
  for (const auto& [id, name] : type_names)
    if (id == type) return name;
  return {};
}
dtype type_named(std::string_view name) {
  for (const auto& [id, text] : type_names)
    if (text == name) return id;
  return dtype::undefined;
}

/// Operators whose types ONNX Runtime's reduced build tracks, as in its tools/python/util/ort_format_model/
/// operator_type_usage_processors.py.
struct tracked_row {
  std::string_view domain, ops;  // ops: names with a blank before and after each
  unsigned inputs, outputs;      // bit i: the type of input or output i is tracked
  detail::type_mask always;      // types that are always kept for tracked inputs
  bool triple = false;           // the types of inputs 0, 2 and 1 are tracked together
};
constexpr detail::type_mask indices = mask_of<std::int32_t, std::int64_t>,
                            quantized = mask_of<std::int8_t, std::uint8_t, std::int32_t>;
constexpr tracked_row tracked[] = {
    {"",
     " Abs ArgMax ArgMin AveragePool BatchNormalization BitShift Ceil Clip Conv CumSum Exp Expand Floor Gemm IsNaN Log "
     "LogSoftmax LpNormalization MatMul Max MaxPool Mean Min NonZero Pad QLinearConv QLinearMatMul Range Reciprocal "
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
     "ReduceSumSquare Relu Resize ReverseSequence RoiAlign Round Scatter ScatterElements ScatterND Shrink Sigmoid Sign "
     "Sin Softmax Split SplitToSequence Sqrt Sum Tanh TopK Transpose Unique ",
     1, 0, 0},
    {"", " Add Concat Div Equal Greater Less Mul Neg Sub ", 1, 0, indices},
    {"", " DequantizeLinear ", 1, 0, quantized},
    {"", " Gather GatherElements Pow Slice ", 3, 0, 0},
    {"", " Where ", 2, 0, 0},
    {"", " Cast ", 1, 1, 0},
    {"",
     " ConstantOfShape RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial QuantizeLinear "
     "DynamicQuantizeLinear ",
     0, 1, 0},
    {"", " OneHot ", 0, 0, 0, true},
    {"com.microsoft", " QLinearAdd QLinearMul QLinearConv ", 1, 0, 0},
};

const tracked_row* tracked_for(std::string_view domain, std::string_view op_type) {
  const std::string padded = fmt::format(" {} ", op_type);
  for (const tracked_row& row : tracked)
    if (row.domain == domain && row.ops.find(padded) != row.ops.npos) return &row;
  return nullptr;
}

dtype type_at(std::span<const operand> all, std::size_t i) {
  return i < all.size() && all[i].present ? all[i].type : dtype::undefined;
}

/// Splits a text at each `at` that is not inside of braces, and removes blanks around the parts.
result<std::vector<std::string_view>> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (depth < 0) return status{status_code::invalid_argument, "a brace closes that was not opened"};
    if (depth || text[i] != at) continue;
    parts.push_back(trimmed(text.substr(first, i - first)));
    first = i + 1;
  }
  if (depth) return status{status_code::invalid_argument, "a brace is not closed"};
  parts.push_back(trimmed(text.substr(first)));
  return parts;
}

class parser {
 public:
  result<ops_config> run(std::string_view text) {
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (status s = line(trimmed(text.substr(0, end))); !s) return std::move(s).in(fmt::format("line {}", number));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (made_.allowed && !made_.types.empty())
      return bad("!globally_allowed_types can't be combined with types of operators");
    return std::move(made_);
  }

 private:
  status line(std::string_view text) {
    if (text.empty() || text.front() == '#') return {};
    if (text == "!no_ops_specified_means_all_ops_are_required") return made_.empty_means_all = true, status{};
    result<std::vector<std::string_view>> parts = split(text, ';');
    if (!parts) return std::move(parts).error();
    if (text.front() == '!') return allowed(*parts);
    if (parts->size() != 3)
      return bad(fmt::format("{} parts between semicolons, needs domain;opsets;operators", parts->size()));
    const std::string domain{(*parts)[0] == "ai.onnx" ? std::string_view{} : (*parts)[0]};
    const result<std::vector<std::string_view>> opsets = split((*parts)[1], ','), ops = split((*parts)[2], ',');
    if (!opsets || !ops) return bad("unmatched braces");
    std::vector<int> numbers;
    for (std::string_view each : *opsets) {
      int number = 0;
      const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), number);
      if (error != std::errc{} || end != each.data() + each.size())
        return bad(fmt::format("'{}' is not an opset", each));
      numbers.push_back(number);
    }
    for (std::string_view each : *ops)
      if (status s = op(domain, numbers, each); !s) return s;
    return {};
  }

  status allowed(const std::vector<std::string_view>& parts) {
    if (parts.size() != 2 || parts[0] != "!globally_allowed_types") return bad("unknown line");
    if (made_.allowed) return bad("!globally_allowed_types is given twice");
    made_.allowed = 0;
    const result<std::vector<std::string_view>> names = split(parts[1], ',');
    if (!names) return bad("unmatched braces");
    for (std::string_view name : *names) {
      const dtype type = type_named(name);
      if (type == dtype::undefined) return bad(fmt::format("'{}' is not a type", name));
      *made_.allowed |= detail::bit_of(type);
    }
    return {};
  }

  status op(const std::string& domain, const std::vector<int>& opsets, std::string_view text) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    const std::string name{trimmed(text.substr(0, brace))};
    if (name.empty()) return {};
    for (int opset : opsets) made_.ops[domain][opset].insert(name);
    if (brace == text.size()) return {};
    const json types = json::parse(text.substr(brace), nullptr, false);
    if (!types.is_object()) return bad(fmt::format("the text after {} is not a JSON object", name));
    used_types read;
    for (const auto& [key, value] : types.items()) {
      status s = key == "custom"    ? triples(value, read.triples)
                 : key == "inputs"  ? numbered(value, read.inputs)
                 : key == "outputs" ? numbered(value, read.outputs)
                                    : bad(fmt::format("unknown key '{}', needs inputs, outputs or custom", key));
      if (!s) return std::move(s).in(name);
    }
    made_.types[{domain, name}] = std::move(read);  // a later line for the same operator replaces an earlier one
    return {};
  }

  static status numbered(const json& from, std::map<int, detail::type_mask>& to) {
    if (!from.is_object()) return bad("inputs and outputs must be JSON objects");
    for (const auto& [key, names] : from.items()) {
      int index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error != std::errc{} || end != key.data() + key.size() || !names.is_array())
        return bad(fmt::format("'{}' is not an index with a list of types", key));
      for (const json& name : names) {
        const dtype type = name.is_string() ? type_named(name.get<std::string>()) : dtype::undefined;
        if (type == dtype::undefined) return bad(fmt::format("{} is not a type", name.dump()));
        to[index] |= detail::bit_of(type);
      }
    }
    return {};
  }

  static status triples(const json& from, std::set<std::array<dtype, 3>>& to) {
    if (!from.is_array()) return bad("custom must be a list");
    for (const json& each : from) {
      std::array<dtype, 3> made{};
      if (!each.is_array() || each.size() != made.size())
        return bad("each element of custom must be a list of three types");
      for (std::size_t i = 0; i < made.size(); ++i) {
        made[i] = each[i].is_string() ? type_named(each[i].get<std::string>()) : dtype::undefined;
        if (made[i] == dtype::undefined) return bad(fmt::format("{} is not a type", each[i].dump()));
      }
      to.insert(made);
    }
    return {};
  }

  ops_config made_;
};

/// The list ["float", "int64_t"], sorted by name and with the blanks of Python's JSON, which ONNX Runtime's tool
/// writes.
std::string list_of(detail::type_mask mask) {
  std::vector<std::string> names;
  for (const auto& [id, name] : type_names)
    if (mask & detail::bit_of(id)) names.push_back(fmt::format("\"{}\"", name));
  std::sort(names.begin(), names.end());
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string object_of(const std::map<int, detail::type_mask>& types) {
  std::string made;
  for (const auto& [index, mask] : types)
    made += fmt::format("{}\"{}\": {}", made.empty() ? "" : ", ", index, list_of(mask));
  return made;
}

std::string text_of(const used_types& types) {
  if (!types.triples.empty()) {
    std::vector<std::string> lists;
    for (const auto& t : types.triples)
      lists.push_back(fmt::format("[\"{}\", \"{}\", \"{}\"]", name_of(t[0]), name_of(t[1]), name_of(t[2])));
    std::sort(lists.begin(), lists.end());
    return fmt::format("{{\"custom\": [{}]}}", fmt::join(lists, ", "));
  }
  std::string made;
  if (!types.inputs.empty()) made = fmt::format("\"inputs\": {{{}}}", object_of(types.inputs));
  if (!types.outputs.empty())
    made += fmt::format("{}\"outputs\": {{{}}}", made.empty() ? "" : ", ", object_of(types.outputs));
  return made.empty() ? made : fmt::format("{{{}}}", made);
}

}  // namespace

void ops_config::add(std::string_view domain, std::string_view op_type, const detail::node_signature& node) {
  ops[std::string{domain}][node.since].emplace(op_type);
  const tracked_row* const row = tracked_for(domain, op_type);
  if (!row) return;
  used_types& to = types[{std::string{domain}, std::string{op_type}}];
  const auto note = [](std::map<int, detail::type_mask>& where, unsigned bits, std::span<const operand> all) {
    for (int i = 0; bits >> i; ++i)
      if (const dtype type = type_at(all, std::size_t(i)); (bits >> i & 1) && !name_of(type).empty())
        where[i] |= detail::bit_of(type);
  };
  note(to.inputs, row->inputs, node.inputs);
  note(to.outputs, row->outputs, node.outputs);
  if (row->triple) to.triples.insert({type_at(node.inputs, 0), type_at(node.inputs, 2), type_at(node.inputs, 1)});
}

std::optional<detail::type_mask> ops_config::wanted(const op_key& key, int index, bool is_output) const {
  if (allowed) return allowed;
  const auto found = types.find(key);
  if (found == types.end()) return {};
  if (!found->second.triples.empty()) {
    if (is_output) return {};
    detail::type_mask mask = 0;
    constexpr std::size_t position_of_input[] = {0, 2, 1};  // triples have the types of inputs 0, 2 and 1
    for (const auto& t : found->second.triples)
      if (index < 3) mask |= detail::bit_of(t[position_of_input[index]]);
    return mask;
  }
  const std::map<int, detail::type_mask>& from = is_output ? found->second.outputs : found->second.inputs;
  const auto at = from.find(index);
  if (at == from.end()) return {};
  const tracked_row* const row = tracked_for(key.first, key.second);
  return at->second | (row && !is_output ? row->always : 0);
}

result<ops_config> read_ops_config(std::string_view text) { return parser{}.run(text); }

std::string write_ops_config(const ops_config& config, const std::vector<std::string>& models, bool with_types) {
  std::string text = "# Generated from model/s:\n";
  std::vector<std::string> sorted = models;
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& model : sorted) text += fmt::format("# - {}\n", model);
  std::map<std::string, const std::map<int, std::set<std::string>>*> domains;  // files write "ai.onnx" for ""
  for (const auto& [domain, opsets] : config.ops) domains[domain.empty() ? "ai.onnx" : domain] = &opsets;
  for (const auto& [domain, opsets] : domains)
    for (const auto& [opset, ops] : *opsets) {
      std::vector<std::string> entries;
      for (const std::string& op : ops) {
        const auto types = config.types.find({domain == "ai.onnx" ? "" : domain, op});
        entries.push_back(op + (with_types && types != config.types.end() ? text_of(types->second) : ""));
      }
      text += fmt::format("{};{};{}\n", domain, opset, fmt::join(entries, ","));
    }
  return text;
}

}  // namespace cameo::program
