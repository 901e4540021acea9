#include <cameo/eps/cpu/ml_labels.hpp>
#include <cameo/op/attributes/ml.hpp>

#include <algorithm>
#include <charconv>

#include "elementwise/cast_rows.hpp"
#include "map_input.hpp"
#include "operands/outputs.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The bytes of the longest float that is printed with six digits after the point.
constexpr std::size_t longest_number = 64;

std::string_view printed(float number, char* to) {
  const auto end = std::to_chars(to, to + longest_number, double(number), std::chars_format::fixed, 6).ptr;
  return {to, std::size_t(end - to)};
}

/// Converts element `i` of a map's values to T; false if a string is not a number. `room` is a buffer for printed
/// floats.
template <class T>
bool value_as(const value& values, std::int64_t i, char* room, T& out) {
  const bool is_text = values.type == dtype::string;
  if constexpr (std::is_same_v<T, std::string_view>) {
    out = is_text ? values.as_unchecked<std::string_view>()[i] : printed(values.as_unchecked<float>()[i], room);
    return true;
  } else {
    using number = std::conditional_t<std::is_same_v<T, float>, double, T>;
    number parsed{};
    if (is_text && !parse_number(values.as_unchecked<std::string_view>()[i], parsed)) return false;
    out = is_text ? T(parsed) : as_element<T>(values.as_unchecked<float>()[i]);
    return true;
  }
}

template <class T>
status cast_values(run_context& c, const value& map, std::int64_t size) {
  const value &keys = map.parts[0], &values = map.parts[1];
  const std::int64_t count = keys.shape.count();
  const tensor_view<const std::int64_t> key = keys.as_unchecked<std::int64_t>();
  const result<tensor_view<T>> y = c.output<T>(0, {1, size < 0 ? count : size});
  const result<std::span<std::int64_t>> order = c.scratch<std::int64_t>(std::size_t(count));
  if (!y) return y.error();
  if (!order) return order.error();
  std::span<char> room;
  if (std::is_same_v<T, std::string_view> && values.type != dtype::string) {
    const result<std::span<char>> text = c.text(std::size_t(count) * longest_number);
    if (!text) return text.error();
    room = *text;
  }
  T nothing{};
  if constexpr (std::is_same_v<T, std::string_view>) nothing = "0.f";
  std::fill(y->begin(), y->end(), nothing);
  for (std::int64_t i = 0; i < count; ++i) (*order)[std::size_t(i)] = i;
  std::sort(order->begin(), order->end(), [&](std::int64_t a, std::int64_t b) { return key[a] < key[b]; });
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = (*order)[std::size_t(i)], at = size < 0 ? i : key[from];
    if (status s = check_at_least("a key of X", at, 0); !s) return s;
    if (at >= y->count()) continue;
    char* const text = room.empty() ? nullptr : room.data() + std::size_t(i) * longest_number;
    if (!value_as<T>(values, from, text, (*y)[at]))
      return bad_input("the value of key ", key[from], " is not a number");
  }
  return {};
}

}  // namespace

result<cast_map> cast_map::bind(bind_context& c) {
  constexpr dtype targets[] = {dtype::f32, dtype::string, dtype::i64};  // in the order of cast_to_choice
  const attributes_of<op::ml::CastMap> a{c.attributes};
  const bool is_sparse = a.map_form == op::map_form_choice::sparse;
  if (is_sparse)
    if (status s = of_model(check_at_least("max_map", a.max_map, 1)); !s) return s;
  const dtype target = targets[std::size_t(a.cast_to)];
  if (status s = check_output_type(c, target); !s) return s;
  return cast_map{is_sparse ? a.max_map : -1, target};
}

status cast_map::run(run_context& c) const {
  const value& map = c.input(0);
  if (status s = check_map(map, dtype::i64); !s) return s;
  const value &keys = map.parts[0], &values = map.parts[1];
  if (values.type != dtype::string)
    if (status s = check_type("X", values.type, dtype::f32); !s) return s;
  if (status s = check_count("the list of X's values", values.shape.count(), keys.shape.count()); !s) return s;
  if (target == dtype::f32) return cast_values<float>(c, map, size);
  return target == dtype::i64 ? cast_values<std::int64_t>(c, map, size) : cast_values<std::string_view>(c, map, size);
}

}  // namespace CAMEO_NAMESPACE::eps
