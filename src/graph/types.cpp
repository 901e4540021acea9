#include "types.hpp"

#include "messages.hpp"

namespace CAMEO_NAMESPACE {
namespace {

bool known(const value_type* type) { return type && type->kind != type_kind::unknown; }

/// The mask of type_rule that a type belongs to, and its element type.
struct shape_of_type {
  detail::type_mask type_rule::* mask = nullptr;  // null: a map, or a sequence of them
  dtype element = dtype::undefined;
  bool has_map = false;
};

shape_of_type classify(const value_type& type) {
  const value_type* const of = type.element.get();
  switch (type.kind) {
    case type_kind::tensor: return {&type_rule::tensors, type.type};
    case type_kind::sparse_tensor: return {&type_rule::sparse_tensors, type.type};
    case type_kind::map: return {nullptr, dtype::undefined, true};
    case type_kind::sequence:
      if (known(of) && of->kind == type_kind::map) return {nullptr, dtype::undefined, true};
      return {&type_rule::sequences, known(of) && of->is_tensor() ? of->type : dtype::undefined};
    case type_kind::optional:
      if (known(of) && of->kind == type_kind::sequence)
        return {&type_rule::optional_sequences, known(of->element.get()) ? of->element->type : dtype::undefined};
      return {&type_rule::optionals, known(of) && of->is_tensor() ? of->type : dtype::undefined};
    default: return {};
  }
}

bool allows(const type_rule& rule, const value_type& type) {
  const shape_of_type shape = classify(type);
  if (shape.has_map) return rule.maps;
  if (!shape.mask) return false;
  const detail::type_mask mask = rule.*shape.mask;
  return shape.element == dtype::undefined ? mask != 0 : (mask & detail::bit_of(shape.element)) != 0;
}

constexpr std::pair<detail::type_mask type_rule::*, std::pair<const char*, const char*>> containers[] = {
    {&type_rule::tensors, {"tensor(", ")"}},
    {&type_rule::sequences, {"seq(tensor(", "))"}},
    {&type_rule::optionals, {"optional(tensor(", "))"}},
    {&type_rule::optional_sequences, {"optional(seq(tensor(", ")))"}},
    {&type_rule::sparse_tensors, {"sparse_tensor(", ")"}},
};

std::string allowed_types(const type_rule& rule) {
  std::string all;
  for (const auto& [mask, words] : containers)
    for (const detail::dtype_row& row : detail::elements::rows)
      if (rule.*mask & detail::bit_of(row.id))
        all += fmt::format("{}{}{}{}", all.empty() ? "" : ", ", words.first, row.name, words.second);
  if (rule.maps) all += all.empty() ? "maps" : ", maps";
  return all;
}

const type_rule* rule_of(const op_version& version, std::string_view type_string) {
  for (const type_rule& rule : version.types)
    if (rule.type_string == type_string) return &rule;
  return nullptr;
}

dim merge_dims(dim inferred, dim declared) {
  if (inferred.known()) return inferred;
  return declared.known() || inferred.symbol == 0 ? declared : inferred;
}

/// Completes an inferred shape by a declared one. Sets `differ` if they contradict each other.
status merge_shapes(std::optional<std::vector<dim>>& merged, const std::optional<std::vector<dim>>& declared,
                    rank_conflict ranks, bool& differ) {
  if (!merged) return merged = declared, status_code::ok;
  if (!declared) return status_code::ok;
  if (merged->size() != declared->size()) {
    if (ranks == rank_conflict::is_error)
      return failed(status_code::invalid_graph, "is declared with rank {}, but has rank {}", declared->size(),
                    merged->size());
    differ = true;
    return status_code::ok;
  }
  for (std::size_t i = 0; i < merged->size(); ++i) {
    const dim inferred = (*merged)[i], said = (*declared)[i];
    differ = differ || (inferred.known() && said.known() && inferred.size != said.size);
    (*merged)[i] = merge_dims(inferred, said);
  }
  return status_code::ok;
}

}  // namespace

std::string type_name(const value_type& type) {
  const std::string of = type.element ? type_name(*type.element) : "?";
  switch (type.kind) {
    case type_kind::tensor: return fmt::format("tensor({})", detail::row_of(type.type).name);
    case type_kind::sparse_tensor: return fmt::format("sparse_tensor({})", detail::row_of(type.type).name);
    case type_kind::sequence: return fmt::format("seq({})", of);
    case type_kind::optional: return fmt::format("optional({})", of);
    case type_kind::map: return fmt::format("map({}, {})", detail::row_of(type.type).name, of);
    case type_kind::opaque: return "opaque";
    default: return "unknown";
  }
}

bool same_kind(const value_type& a, const value_type& b) {
  if (a.kind == type_kind::unknown || b.kind == type_kind::unknown) return true;
  if (a.kind != b.kind) return false;
  if (a.type != b.type && a.type != dtype::undefined && b.type != dtype::undefined) return false;
  return !a.element || !b.element || same_kind(*a.element, *b.element);
}

bool same_type(const value_type& a, const value_type& b) {
  if (a.kind != b.kind || a.type != b.type || a.shape != b.shape || a.denotation != b.denotation) return false;
  return a.element == b.element || (a.element && b.element && same_type(*a.element, *b.element));
}

value_type type_of(const value& v) {
  const auto dims = [&] {
    std::vector<dim> made;
    for (std::int64_t d : v.shape) made.push_back(dim::fixed(d));
    return made;
  };
  switch (v.kind) {
    case value_kind::tensor: return value_type::tensor(v.type, dims());
    case value_kind::sparse_tensor: return {type_kind::sparse_tensor, v.type, dims(), {}, {}};
    case value_kind::sequence:
      return value_type::sequence(v.parts.empty() || v.type != dtype::undefined ? value_type::tensor(v.type)
                                                                                : type_of(v.parts[0]));
    case value_kind::map:
      return value_type::map(v.type, v.parts.size() == 2 ? value_type::tensor(v.parts[1].type) : value_type{});
    default: return {};
  }
}

value_type without_symbols(value_type type) {
  if (type.shape)
    for (dim& d : *type.shape) d.symbol = 0;
  if (type.element) type.element = std::make_shared<const value_type>(without_symbols(*type.element));
  return type;
}

value_type without_shapes(value_type type) {
  type.shape.reset();
  if (type.element) type.element = std::make_shared<const value_type>(without_shapes(*type.element));
  return type;
}

value_type detail::described_type(const detail::graph_value& v) {
  if (!v.type || !v.declared) return v.type ? *v.type : v.declared ? *v.declared : value_type{};
  result<value_type> both = merge_types(*v.type, *v.declared, rank_conflict::tolerated);
  return both ? *std::move(both) : *v.type;
}

result<value_type> merge_types(const value_type& inferred, const value_type& declared, rank_conflict ranks,
                               bool* differ) {
  if (inferred.kind == type_kind::unknown) return declared;
  if (declared.kind == type_kind::unknown) return inferred;
  // An optional with a value has the type of the value: files declare either.
  if (declared.kind == type_kind::optional && inferred.kind != type_kind::optional && declared.element &&
      same_kind(*declared.element, inferred))
    return declared;
  // A sparse constant that is read as a tensor becomes dense, whatever type ONNX's own inference declared for it.
  if (inferred.is_tensor() && declared.kind == type_kind::sparse_tensor) {
    value_type dense = declared;
    dense.kind = type_kind::tensor;
    return merge_types(inferred, dense, ranks, differ);
  }
  if (!same_kind(inferred, declared))
    return failed(status_code::invalid_graph, "is declared as {}, but is {}", type_name(declared), type_name(inferred));
  value_type merged = inferred;
  if (merged.type == dtype::undefined) merged.type = declared.type;
  if (merged.denotation.empty()) merged.denotation = declared.denotation;
  if (!merged.element || merged.element->kind == type_kind::unknown) {
    merged.element = declared.element;
  } else if (declared.element) {
    result<value_type> of = merge_types(*merged.element, *declared.element, rank_conflict::tolerated, differ);
    if (!of) return of.error();
    merged.element = std::make_shared<const value_type>(*std::move(of));
  }
  bool ignored = false;
  if (status s = merge_shapes(merged.shape, declared.shape, ranks, differ ? *differ : ignored); !s) return s;
  return merged;
}

const type_bindings::binding* type_bindings::find(std::string_view type_string) const {
  for (const binding& b : bound_)
    if (b.type_string == type_string) return &b;
  return nullptr;
}

status type_bindings::bind(const op_version& version, const parameter& p, const value_type& type, std::string_view what,
                           std::string_view argument) {
  if (type.kind == type_kind::unknown) return status_code::ok;
  const auto subject = [&] {
    return argument.empty() ? fmt::format("{} '{}'", what, p.name)
                            : fmt::format("{} '{}' ('{}')", what, p.name, argument);
  };
  const type_rule* const rule = rule_of(version, p.type_string);
  if (rule && !allows(*rule, type))
    return failed(status_code::invalid_graph, "{} is {}; '{}' allows {}", subject(), type_name(type), p.type_string,
                  allowed_types(*rule));
  if (p.option == parameter_option::variadic && !p.homogeneous) return status_code::ok;
  if (const binding* const before = find(p.type_string)) {
    if (!same_kind(*before->type, type))
      return failed(status_code::invalid_graph, "{} is {}, but '{}' is {} already, by '{}': they must be the same",
                    subject(), type_name(type), p.type_string, type_name(*before->type), before->parameter);
    return status_code::ok;
  }
  bound_.push_back({p.type_string, p.name, &type});
  return status_code::ok;
}

value_type type_bindings::expected(const op_version& version, const parameter& p) const {
  if (p.option != parameter_option::variadic || p.homogeneous)
    if (const binding* const bound = find(p.type_string)) {
      value_type type = *bound->type;
      type.shape.reset();
      type.denotation.clear();
      if (type.element) {  // other sequences may have elements of other shapes
        value_type of = *type.element;
        of.shape.reset();
        type.element = std::make_shared<const value_type>(std::move(of));
      }
      return type;
    }
  const type_rule* const rule = rule_of(version, p.type_string);
  if (!rule || rule->maps || rule->optionals || rule->optional_sequences || rule->sparse_tensors) return {};
  if (std::has_single_bit(rule->tensors) && !rule->sequences)
    return value_type::tensor(dtype(std::countr_zero(rule->tensors)));
  if (std::has_single_bit(rule->sequences) && !rule->tensors)
    return value_type::sequence(value_type::tensor(dtype(std::countr_zero(rule->sequences))));
  return {};
}

}  // namespace CAMEO_NAMESPACE
