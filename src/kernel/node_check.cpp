#include <cameo/kernel/node_check.hpp>
#include <cameo/op/check_attribute.hpp>
#include <cameo/op/check_presence.hpp>

#include <algorithm>
#include <iterator>

namespace CAMEO_NAMESPACE {
namespace {

status wrong(std::string_view what, std::string_view name) {
  status made{status_code::invalid_graph, what};
  return name.empty() ? std::move(made) : std::move(made).in(name);
}

/// The parameter of the i-th operand, or null.
const parameter* formal(std::span<const parameter> parameters, std::size_t i) {
  if (i < parameters.size()) return &parameters[i];
  if (parameters.empty() || parameters.back().option != parameter_option::variadic) return nullptr;
  return &parameters.back();
}

const type_rule* rule_of(const op_version& version, std::string_view type_string) {
  for (const type_rule& rule : version.types)
    if (rule.type_string == type_string) return &rule;
  return nullptr;
}

bool allows(const type_rule& rule, const operand& o) {
  const detail::type_mask bit = detail::bit_of(o.type);
  switch (o.kind) {
    case type_kind::tensor: return ((o.optional ? rule.optionals : rule.tensors) & bit) != 0;
    case type_kind::sequence: return rule.maps || ((o.optional ? rule.optional_sequences : rule.sequences) & bit) != 0;
    case type_kind::sparse_tensor: return (rule.sparse_tensors & bit) != 0;
    case type_kind::map: return rule.maps;
    default: return false;
  }
}

/// Used instead of std::string_view::starts_with(), whose code contains a throw.
bool begins(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::string_view{text.data(), word.size()} == word;
}

/// True if a type string is the operand's type: "tensor(int64)", "seq(tensor(float))".
bool is_spelled(std::string_view text, const operand& o) {
  const auto take = [&](std::string_view word) {
    if (!begins(text, word)) return false;
    text.remove_prefix(word.size());
    return true;
  };
  if (take("map(")) return o.kind == type_kind::map;
  if (take("seq(")) {
    if (o.kind != type_kind::sequence) return false;
    if (!take("tensor(")) return true;
  } else if (!take("tensor(") || o.kind != type_kind::tensor) {
    return false;
  }
  const std::string_view name = detail::row_of(o.type).name;
  return begins(text, name) && text.size() > name.size() && text[name.size()] == ')';
}

/// What a type string is bound to in this node, by the first operand that has it.
struct binding {
  std::string_view type_string;
  type_kind kind = type_kind::unknown;
  dtype type = dtype::undefined;
};

class checker {
 public:
  explicit checker(const op_version& version) : version_{version} {}

  /// Checks operands. No argument of a variadic input may be absent, because kernels read them all.
  status operands(std::span<const parameter> parameters, std::span<const operand> actual, std::size_t least,
                  bool are_inputs) {
    std::size_t count = actual.size();
    const bool is_variadic = !parameters.empty() && parameters.back().option == parameter_option::variadic;
    if (!are_inputs || !is_variadic || count < parameters.size())
      while (count > 0 && !actual[count - 1].present) --count;
    if (count < least) return wrong("an input or output is missing", {});
    for (std::size_t i = 0; i < std::max(count, parameters.size()); ++i) {
      const parameter* const p = formal(parameters, i);
      if (!p) return wrong("it has more inputs or outputs than its operator", {});
      const bool is_there = i < count && actual[i].present;
      const bool is_needed =
          p->option == parameter_option::single ||
          (p->option == parameter_option::variadic && (i < count || i + 1 - parameters.size() < p->min_arity));
      if (is_needed && !is_there) return wrong("it is missing", p->name);
      if (!is_there) continue;
      if (status s = type(*p, actual[i]); !s) return s;
    }
    return {};
  }

  status attributes(std::span<const attribute> actual) const {
    for (const attribute_rule& rule : version_.attributes) {
      const attribute* const a = detail::find_attribute(actual, rule.name);
      if (!a && rule.required)
        return detail::refuse(status_code::invalid_graph, "attribute ", rule.name, " is missing");
      if (status s = a ? detail::check_attribute(rule, *a) : status{}; !s) return s;
    }
    return {};
  }

 private:
  status type(const parameter& p, const operand& o) {
    const type_rule* const rule = rule_of(version_, p.type_string);
    if (!(rule ? allows(*rule, o) : is_spelled(p.type_string, o)))
      return wrong("its operator does not allow the type", p.name);
    if (!rule || (p.option == parameter_option::variadic && !p.homogeneous)) return {};
    binding* at = bindings_;
    while (at != end_ && at->type_string != p.type_string) ++at;
    if (at == end_ && end_ != std::end(bindings_)) *end_++ = {p.type_string, o.kind, o.type};
    else if (at != end_ && (at->kind != o.kind || at->type != o.type))
      return wrong("its type is not that of others of the same type string", p.name);
    return {};
  }

  const op_version& version_;
  binding bindings_[12], *end_ = bindings_;
};

}  // namespace

status check_node(const op_version& version, const detail::node_signature& node,
                  std::span<const attribute> attributes) {
  checker check{version};
  if (status s = check.operands(version.inputs, node.inputs, version.min_inputs, true); !s) return s;
  if (status s = check.operands(version.outputs, node.outputs, version.min_outputs, false); !s) return s;
  if (status s = check.attributes(attributes); !s) return s;
  const auto has = [](std::span<const operand> all) {
    return [all](std::size_t i) { return i < all.size() && all[i].present; };
  };
  return detail::check_presence(version, attributes, has(node.inputs), has(node.outputs));
}

}  // namespace CAMEO_NAMESPACE
