#include <cameo/eps/cpu/ml_labels.hpp>
#include <cameo/op/attributes/ml.hpp>

#include <algorithm>
#include <memory>

#include "map_input.hpp"
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

/// The keys or values that an attribute of any kind lists.
struct given_list {
  dtype type = dtype::undefined;
  const void* data = nullptr;
  std::int64_t count = 0;
};
template <class T>
given_list listed(std::span<const T> list) {
  return {dtype_of<T>, list.data(), std::int64_t(list.size())};
}
/// The first of these attributes that the node has.
given_list first_of(attribute_tensor tensor, const attribute_list<std::string_view>& strings,
                    const attribute_list<std::int64_t>& ints, const attribute_list<float>& numbers) {
  if (tensor) return {tensor->type, tensor->data, tensor->shape.count()};
  if (strings.given) return listed<std::string_view>(strings);
  if (ints.given) return listed<std::int64_t>(ints);
  return numbers.given ? listed<float>(numbers) : given_list{};
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

/// The value for keys that are not in the table, which attributes set for three types.
template <class T>
T otherwise_of(const op::ml::label_encoder_attributes& a) {
  if (a.default_tensor) return static_cast<const T*>(a.default_tensor->data)[0];
  if constexpr (std::is_same_v<T, std::string_view>) return a.default_string;
  else if constexpr (std::is_same_v<T, std::int64_t>) return a.default_int64;
  else if constexpr (std::is_floating_point_v<T>) return std::is_same_v<T, float> ? T(a.default_float) : -T(0);
  else return T(-1);
}

/// Makes a table of sorted keys with their values. Of equal keys, the first counts.
status make_table(bind_context& c, const op::ml::label_encoder_attributes& a, const given_list& keys,
                  const given_list& values, label_table& table) {
  if (status s = of_model(check_count("the list of values", values.count, keys.count)); !s) return s;
  for (const dtype type : {keys.type, values.type})
    if (!(detail::bit_of(type) & labels::mask)) return bad_attribute("keys or values of type ", type);
  if (a.default_tensor) {
    const value& v = *a.default_tensor;
    const status fits = check_all(
        {check_type("default_tensor", v.type, values.type), check_least_count("default_tensor", v.shape.count(), 1)});
    if (!fits) return of_model(fits);
  }
  const result<std::span<std::int64_t>> order = c.keep<std::int64_t>(std::size_t(keys.count));
  if (!order) return order.error();
  for (std::size_t i = 0; i < order->size(); ++i) (*order)[i] = std::int64_t(i);
  table.key_type = keys.type, table.value_type = values.type;
  const status sorted = labels::visit(keys.type, status{}, [&]<class K>(std::type_identity<K>) -> status {
    const K* const from = static_cast<const K*>(keys.data);
    std::sort(order->begin(), order->end(), [&](std::int64_t i, std::int64_t j) {
      return precedes(from[i], from[j]) || (!precedes(from[j], from[i]) && i < j);
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
    const result<std::span<V>> kept = keep_elements<V>(c, table.count + 1);
    if (!kept) return kept.error();
    for (std::int64_t i = 0; i < table.count; ++i)
      (*kept)[std::size_t(i)] = static_cast<const V*>(values.data)[(*order)[std::size_t(i)]];
    V* const otherwise = kept->data() + table.count;
    *otherwise = otherwise_of<V>(a);
    table.values = kept->data(), table.otherwise = otherwise;
    return {};
  });
}

/// A table from two lists, strings and integers: that of the input's type is the keys (LabelEncoder 1, CategoryMapper).
status make_two_way_table(bind_context& c, const op::ml::label_encoder_attributes& a,
                          std::span<const std::string_view> strings, std::span<const std::int64_t> ints,
                          label_table& table) {
  const given_list texts = listed(strings), numbers = listed(ints);
  if (!c.inputs.empty() && c.inputs[0].type == dtype::string) return make_table(c, a, texts, numbers, table);
  return make_table(c, a, numbers, texts, table);
}

}  // namespace

result<label_encoder> label_encoder::bind(bind_context& c) {
  const attributes_of<op::ml::LabelEncoder> a{c.attributes};
  label_encoder made;
  if (c.since == 1) {
    const result<std::span<std::int64_t>> numbers = c.keep<std::int64_t>(a.classes_strings.size());
    if (!numbers) return numbers.error();
    for (std::size_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = std::int64_t(i);
    if (status s = make_two_way_table(c, a, a.classes_strings, *numbers, made); !s) return s;
    return made;
  }
  const given_list keys = first_of(a.keys_tensor, a.keys_strings, a.keys_int64s, a.keys_floats);
  const given_list values = first_of(a.values_tensor, a.values_strings, a.values_int64s, a.values_floats);
  if (status s = check_given("one of the keys_ attributes", keys.type != dtype::undefined); !s) return s;
  if (status s = check_given("one of the values_ attributes", values.type != dtype::undefined); !s) return s;
  made.nan_is_key = c.since >= 4;
  if (status s = make_table(c, a, keys, values, made); !s) return s;
  return made;
}

result<category_mapper> category_mapper::bind(bind_context& c) {
  const attributes_of<op::ml::CategoryMapper> a{c.attributes};
  op::ml::label_encoder_attributes defaults;
  defaults.default_int64 = a.default_int64, defaults.default_string = a.default_string;
  category_mapper made;
  if (status s = make_two_way_table(c, defaults, a.cats_strings, a.cats_int64s, made); !s) return s;
  return made;
}

status label_table::run(run_context& c) const {
  const value& x = c.input(0);
  if (status s = check_type("X", x.type, key_type); !s) return s;
  if (status s = check_type("Y", c.output_type(0), value_type); !s) return s;
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
    if (status s = check_element("Y", index[i], 0, columns - 1); !s) return s;
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
  const attributes_of<op::ml::DictVectorizer> a{c.attributes};
  const bool one = a.string_vocabulary.empty() != a.int64_vocabulary.empty();
  if (status s = check_given("either string_vocabulary or int64_vocabulary", one); !s) return s;
  return dict_vectorizer{a.string_vocabulary, a.int64_vocabulary};
}

status dict_vectorizer::run(run_context& c) const {
  const value& map = c.input(0);
  const std::size_t n = std::max(strings.size(), ints.size());
  if (status s = check_map(map, strings.empty() ? dtype::i64 : dtype::string); !s) return s;
  const value &keys = map.parts[0], &values = map.parts[1];
  const result<value*> y = c.output(0, {1, std::int64_t(n)});
  if (!y) return y.error();
  if (status s = check_type("X", values.type, (*y)->type); !s) return s;
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
  const attributes_of<op::ml::ZipMap> a{c.attributes};
  const bool one = a.classlabels_strings.empty() != a.classlabels_int64s.empty();
  if (status s = check_given("either classlabels_strings or classlabels_int64s", one); !s) return s;
  return zip_map{a.classlabels_strings, a.classlabels_int64s};
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
  if (status s = check_count("a row of X", x.shape().back(), columns); !s) return s;
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
