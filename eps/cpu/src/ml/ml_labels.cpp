#include <cameo/eps/cpu/ml_labels.hpp>

#include <algorithm>
#include <memory>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A total order of keys: NaN is last, and equal to itself.
template <class T>
bool precedes(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (a == a && b != b);
  else return a < b;
}

/// The keys, values or default that an attribute of any kind contains.
struct given_list {
  dtype type = dtype::undefined;
  const void* data = nullptr;
  std::int64_t count = 0;
};
given_list listed(const bind_context& c, std::string_view name) {
  const attribute* const a = c.find(name);
  if (!a) return {};
  switch (a->kind) {
    case attribute_kind::t:
      if (a->tensors.empty()) return {};
      return {a->tensors[0].type, a->tensors[0].data, a->tensors[0].shape.count()};
    case attribute_kind::floats: return {dtype::f32, a->floats.data(), std::int64_t(a->floats.size())};
    case attribute_kind::ints: return {dtype::i64, a->ints.data(), std::int64_t(a->ints.size())};
    case attribute_kind::strings: return {dtype::string, a->strings.data(), std::int64_t(a->strings.size())};
    case attribute_kind::f: return {dtype::f32, &a->f, 1};
    case attribute_kind::i: return {dtype::i64, &a->i, 1};
    case attribute_kind::s: return {dtype::string, &a->s, 1};
    default: return {};
  }
}
template <std::size_t N>
given_list first_listed(const bind_context& c, const std::string_view (&names)[N]) {
  for (const std::string_view name : names)
    if (const given_list found = listed(c, name); found.type != dtype::undefined) return found;
  return {};
}

/// Memory for elements of any type, strings too, that lives as long as the plan.
template <class T>
result<std::span<T>> keep_elements(bind_context& c, std::int64_t count) {
  std::size_t bytes = 0;
  if (!checked_multiply(std::size_t(count), sizeof(T), bytes)) return status_code::out_of_memory;
  void* const memory = c.state.allocate(bytes, 64);
  if (!memory) return status_code::out_of_memory;
  T* const made = static_cast<T*>(memory);
  std::uninitialized_default_construct_n(made, count);
  return std::span<T>{made, std::size_t(count)};
}

using labels = label_table::elements;

/// Makes a table of sorted keys with their values. Of equal keys, the first counts.
status sort_table(bind_context& c, label_table& table, const given_list& keys, const given_list& values) {
  if (keys.count != values.count) return bad_attribute("there are ", keys.count, " keys and ", values.count, " values");
  for (const dtype type : {keys.type, values.type})
    if (!(detail::bit_of(type) & labels::mask)) return bad_attribute("keys or values of type ", type);
  const result<std::span<std::int64_t>> order = c.keep<std::int64_t>(std::size_t(keys.count));
  if (!order) return order.error();
  for (std::size_t i = 0; i < order->size(); ++i) (*order)[i] = std::int64_t(i);
  table.key_type = keys.type, table.value_type = values.type;
  const status sorted = labels::visit(keys.type, status{}, [&]<class K>(std::type_identity<K>) -> status {
    const K* const from = static_cast<const K*>(keys.data);
    std::sort(order->begin(), order->end(), [&](std::int64_t a, std::int64_t b) {
      return precedes(from[a], from[b]) || (!precedes(from[b], from[a]) && a < b);
    });
    const result<std::span<K>> kept = keep_elements<K>(c, keys.count);
    if (!kept) return kept.error();
    for (const std::int64_t i : *order) {
      if (table.count > 0 && !precedes((*kept)[std::size_t(table.count - 1)], from[i])) continue;
      (*order)[std::size_t(table.count)] = i;
      (*kept)[std::size_t(table.count++)] = from[i];
    }
    table.keys = kept->data();
    return {};
  });
  if (!sorted) return sorted;
  return labels::visit(values.type, status{}, [&]<class V>(std::type_identity<V>) -> status {
    const result<std::span<V>> kept = keep_elements<V>(c, table.count);
    if (!kept) return kept.error();
    for (std::int64_t i = 0; i < table.count; ++i)
      (*kept)[std::size_t(i)] = static_cast<const V*>(values.data)[(*order)[std::size_t(i)]];
    table.values = kept->data();
    return {};
  });
}

/// Returns the value for keys that are not in the table: from the node's attributes, else the default of the operator.
result<const void*> otherwise_of(bind_context& c, dtype type) {
  if (const given_list given = listed(c, "default_tensor"); given.type != dtype::undefined) {
    if (given.type != type || given.count < 1) return bad_attribute("default_tensor must be one ", type);
    return given.data;
  }
  if (const attribute* const a = c.find(type == dtype::string ? "default_string"
                                        : type == dtype::i64  ? "default_int64"
                                                              : "default_float");
      a && (type == dtype::string || type == dtype::i64 || type == dtype::f32))
    return listed(c, a->name).data;
  return static_cast<const void*>(nullptr);
}

/// The default of nodes without a default attribute.
template <class T>
constexpr T preset = std::is_floating_point_v<T> ? -T(0) : T(-1);
template <>
constexpr std::string_view preset<std::string_view> = "_Unused";

status set_otherwise(bind_context& c, label_table& table) {
  const result<const void*> given = otherwise_of(c, table.value_type);
  if (!given) return given.error();
  table.otherwise = *given;
  if (table.otherwise) return {};
  labels::call(table.value_type, [&]<class T>(std::type_identity<T>) { table.otherwise = &preset<T>; });
  return {};
}

/// A table from two lists, strings and integers: that of the input's type is the keys (LabelEncoder 1, CategoryMapper).
result<label_table> two_way_table(bind_context& c, const given_list& strings, const given_list& ints) {
  label_table made;
  const bool from_strings = !c.inputs.empty() && c.inputs[0].type == dtype::string;
  if (status s = sort_table(c, made, from_strings ? strings : ints, from_strings ? ints : strings); !s) return s;
  if (status s = set_otherwise(c, made); !s) return s;
  return made;
}

}  // namespace

result<label_encoder> label_encoder::bind(bind_context& c) {
  if (c.since == 1) {
    const given_list classes = listed(c, "classes_strings");
    const result<std::span<std::int64_t>> numbers = c.keep<std::int64_t>(std::size_t(classes.count));
    if (!numbers) return numbers.error();
    for (std::size_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = std::int64_t(i);
    return two_way_table(c, {dtype::string, classes.data, classes.count}, {dtype::i64, numbers->data(), classes.count})
        .transform([](const label_table& made) { return label_encoder{made}; });
  }
  constexpr std::string_view key_names[] = {"keys_tensor", "keys_strings", "keys_int64s", "keys_floats"};
  constexpr std::string_view value_names[] = {"values_tensor", "values_strings", "values_int64s", "values_floats"};
  const given_list keys = first_listed(c, key_names), values = first_listed(c, value_names);
  if (keys.type == dtype::undefined) return bad_attribute("it needs one of the keys_ attributes");
  if (values.type == dtype::undefined) return bad_attribute("it needs one of the values_ attributes");
  label_encoder made;
  made.nan_is_key = c.since >= 4;
  if (status s = sort_table(c, made, keys, values); !s) return s;
  if (status s = set_otherwise(c, made); !s) return s;
  return made;
}

result<category_mapper> category_mapper::bind(bind_context& c) {
  const given_list strings = listed(c, "cats_strings"), ints = listed(c, "cats_int64s");
  return two_way_table(c, {dtype::string, strings.data, strings.count}, {dtype::i64, ints.data, ints.count})
      .transform([](const label_table& made) { return category_mapper{made}; });
}

status label_table::run(run_context& c) const {
  const value& x = c.input(0);
  if (x.type != key_type) return bad_input("X has elements of ", x.type, ", its keys are ", key_type);
  if (c.output_type(0) != value_type)
    return bad_input("Y has elements of ", c.output_type(0), ", its values are ", value_type);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  labels::call(key_type, [&]<class K>(std::type_identity<K>) {
    const K *const first = static_cast<const K*>(keys), *const last = first + count;
    labels::call(value_type, [&]<class V>(std::type_identity<V>) {
      const auto* const in = static_cast<const K*>(x.data);
      V* const out = static_cast<V*>((*y)->data);
      parallel_for(c, x.shape.count(), 1 << 12, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin) {
          const K* const at = std::lower_bound(first, last, in[begin], precedes<K>);
          const bool found = at != last && !precedes(in[begin], *at) && (nan_is_key || in[begin] == *at);
          out[begin] = found ? static_cast<const V*>(values)[at - first] : *static_cast<const V*>(otherwise);
        }
      });
    });
  });
  return {};
}

status array_feature_extractor::run(run_context& c) const {
  const value &x = c.input(0), &y = c.input(1);
  const std::int64_t columns = x.shape.back(), wanted = y.shape.count();
  const auto* const index = static_cast<const std::int64_t*>(y.data);
  for (std::int64_t i = 0; i < wanted; ++i)
    if (index[i] < 0 || index[i] >= columns)
      return bad_input("index ", index[i], " at ", i, " is not in [0,", columns, ") of X ", x.shape);
  extents shape = x.shape;
  if (shape.rank() == 1) shape.insert(0, 1);
  shape[shape.rank() - 1] = wanted;
  const result<value*> z = c.output(0, shape);
  if (!z) return z.error();
  const std::int64_t rows = columns == 0 || wanted == 0 ? 0 : x.shape.count() / columns;
  const std::size_t bytes = element_bytes(x.type);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < wanted; ++i)
      move_block(bytes_of(**z) + std::size_t(r * wanted + i) * bytes,
                 bytes_of(x) + std::size_t(r * columns + index[i]) * bytes, bytes);
  return {};
}

result<dict_vectorizer> dict_vectorizer::bind(bind_context& c) {
  dict_vectorizer made{c.strings_or("string_vocabulary"), c.ints_or("int64_vocabulary")};
  if (made.strings.empty() == made.ints.empty())
    return bad_attribute("it needs either string_vocabulary or int64_vocabulary");
  return made;
}

status dict_vectorizer::run(run_context& c) const {
  const value& map = c.input(0);
  const std::size_t n = std::max(strings.size(), ints.size());
  if (map.kind != value_kind::map || map.parts.size() != 2) return bad_input("X is not a map");
  const value &keys = map.parts[0], &values = map.parts[1];
  if (keys.type != (strings.empty() ? dtype::i64 : dtype::string))
    return bad_input("the map's keys are of type ", keys.type, ", those of the vocabulary are not");
  const result<value*> y = c.output(0, {1, std::int64_t(n)});
  if (!y) return y.error();
  if (values.type != (*y)->type) return bad_input("the map's values are of type ", values.type, ", Y is ", (*y)->type);
  const std::int64_t count = std::min(keys.shape.count(), values.shape.count());
  elements::call(values.type, [&]<class T>(std::type_identity<T>) {
    for (std::size_t k = 0; k < n; ++k) {
      T found{};
      for (std::int64_t i = 0; i < count; ++i)
        if (strings.empty() ? keys.as_unchecked<std::int64_t>()[i] == ints[k]
                            : keys.as_unchecked<std::string_view>()[i] == strings[k])
          found = static_cast<const T*>(values.data)[i];
      static_cast<T*>((*y)->data)[k] = found;
    }
  });
  return {};
}

result<zip_map> zip_map::bind(bind_context& c) {
  zip_map made{c.strings_or("classlabels_strings"), c.ints_or("classlabels_int64s")};
  if (made.strings.empty() == made.ints.empty())
    return bad_attribute("it needs either classlabels_strings or classlabels_int64s");
  return made;
}

/// Makes a map as output 0, and returns a reference that keeps it alive after output 0 is overwritten by the next map.
result<value> zip_map::map_of(run_context& c, const value& keys, const float* row) const {
  result<value> numbers = c.make(dtype::f32, keys.shape);
  if (!numbers) return numbers.error();
  std::copy_n(row, keys.shape.count(), static_cast<float*>(numbers->data));
  const result<std::span<value>> parts = c.output_parts(0, value_kind::map, 2);
  if (!parts) {
    c.release(*numbers);
    return status_code::out_of_memory;
  }
  (*parts)[0] = keys, (*parts)[1] = *numbers;
  result<value> map = c.keep(c.output_value(0));
  if (map) map->type = keys.type;
  return map;
}

status zip_map::run(run_context& c) const {
  const tensor_view<const float> x = c.input<float>(0);
  const auto columns = std::int64_t(std::max(strings.size(), ints.size()));
  if (x.shape().back() != columns)
    return bad_input("X has shape ", x.shape(), "; it needs ", columns, " columns, one per label");
  const auto rows = std::size_t(x.rank() == 2 ? x.dim(0) : 1);
  const value keys = strings.empty() ? value::tensor<std::int64_t>({columns}, ints)
                                     : value::tensor<std::string_view>({columns}, strings);
  const result<std::span<value>> maps = c.scratch<value>(rows);
  if (!maps) return maps.error();
  for (std::size_t r = 0; r < rows; ++r) {
    result<value> map = map_of(c, keys, x.data() + std::int64_t(r) * columns);
    if (!map) {
      while (r-- > 0) c.release((*maps)[r]);
      return map.error();
    }
    std::construct_at(maps->data() + r, *map);
  }
  const result<std::span<value>> out = c.output_sequence(0, rows);
  if (!out) {
    for (value& map : *maps) c.release(map);
    return status_code::out_of_memory;
  }
  std::ranges::copy(*maps, out->begin());
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
