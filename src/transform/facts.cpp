#include <cameo/transform/rewriter.hpp>

namespace cameo::inline CAMEO_ABI {
namespace {

const attribute_rule* rule_of_attribute(const node_view& n, std::string_view name) {
  if (!n.raw().version) return nullptr;
  for (const attribute_rule& rule : n.raw().version->attributes)
    if (rule.name == name) return rule.has_default ? &rule : nullptr;
  return nullptr;
}

template <class T>
T element_at(const value& v, std::size_t i) {
  T element;
  std::memcpy(&element, static_cast<const std::byte*>(v.data) + i * sizeof(T), sizeof(T));
  return element;
}

/// Calls f(a getter of the i-th element as a double) for types whose elements are numbers of whole bytes.
template <class F>
bool with_numbers(const value& v, F f) {
  switch (v.type) {
    case dtype::f32: return f([&](std::size_t i) { return double(element_at<float>(v, i)); });
    case dtype::f64: return f([&](std::size_t i) { return element_at<double>(v, i); });
    case dtype::f16: return f([&](std::size_t i) { return double(float(element_at<float16>(v, i))); });
    case dtype::bf16: return f([&](std::size_t i) { return double(float(element_at<bfloat16>(v, i))); });
    case dtype::i64: return f([&](std::size_t i) { return double(element_at<std::int64_t>(v, i)); });
    case dtype::i32: return f([&](std::size_t i) { return double(element_at<std::int32_t>(v, i)); });
    case dtype::i16: return f([&](std::size_t i) { return double(element_at<std::int16_t>(v, i)); });
    case dtype::u16: return f([&](std::size_t i) { return double(element_at<std::uint16_t>(v, i)); });
    case dtype::i8: return f([&](std::size_t i) { return double(element_at<std::int8_t>(v, i)); });
    case dtype::u8: return f([&](std::size_t i) { return double(element_at<std::uint8_t>(v, i)); });
    default: return false;
  }
}

bool is_host_tensor(const value* v) { return v && v->kind == value_kind::tensor && v->memory == 0; }

}  // namespace

std::int64_t int_attribute(const node_view& n, std::string_view name, std::int64_t otherwise) {
  if (const attribute* a = n.find(name)) return a->i;
  const attribute_rule* const rule = rule_of_attribute(n, name);
  return rule ? rule->default_int : otherwise;
}

float float_attribute(const node_view& n, std::string_view name, float otherwise) {
  if (const attribute* a = n.find(name)) return a->f;
  const attribute_rule* const rule = rule_of_attribute(n, name);
  return rule ? rule->default_float : otherwise;
}

std::string_view string_attribute(const node_view& n, std::string_view name, std::string_view otherwise) {
  if (const attribute* a = n.find(name)) return a->s;
  const attribute_rule* const rule = rule_of_attribute(n, name);
  return rule ? rule->default_string : otherwise;
}

std::span<const std::int64_t> ints_attribute(const node_view& n, std::string_view name) {
  const attribute* const a = n.find(name);
  return a ? a->ints : std::span<const std::int64_t>{};
}

std::optional<double> number_of(const value* v) {
  if (!is_host_tensor(v) || v->shape.count() != 1) return {};
  std::optional<double> found;
  with_numbers(*v, [&](auto at) {
    found = at(0);
    return true;
  });
  return found;
}

std::optional<std::vector<std::int64_t>> ints_of(const value* v) {
  constexpr std::int64_t most = 4096;
  if (!is_host_tensor(v) || v->shape.count() > most) return {};
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < v->shape.count(); ++i) switch (v->type) {
      case dtype::i64: found.push_back(element_at<std::int64_t>(*v, std::size_t(i))); break;
      case dtype::i32: found.push_back(element_at<std::int32_t>(*v, std::size_t(i))); break;
      default: return {};
    }
  return found;
}

bool all_equal(const value* v, double number) {
  if (!is_host_tensor(v) || v->shape.count() == 0) return false;
  return with_numbers(*v, [&](auto at) {
    for (std::size_t i = 0; i < std::size_t(v->shape.count()); ++i)
      if (at(i) != number) return false;
    return true;
  });
}

}  // namespace cameo::inline CAMEO_ABI
