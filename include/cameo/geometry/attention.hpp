#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// Queries, keys or values: for each batch, head and position a row of `size` elements, which begins at element first +
/// batch * batch_stride + head * head_stride + position * row_stride of its tensor. The numbers of elements are only
/// set if all sizes are known; of a tensor without elements they may be any numbers.
template <size_kind D>
struct basic_heads {
  D batches{}, heads{}, length{}, size{};
  std::int64_t first = 0, batch_stride = 0, head_stride = 0, row_stride = 0;

  /// The distance of a row from the first one, of heads whose sizes are known.
  constexpr std::int64_t place(std::int64_t batch, std::int64_t head, std::int64_t position) const {
    return batch * batch_stride + head * head_stride + position * row_stride;
  }
};
/// Heads whose sizes are known.
using attention_heads = basic_heads<std::int64_t>;

/// The shapes of the inputs of an attention. A shape may be unknown, and so may `past_length` and `total_length`, which
/// are elements of an input.
template <size_kind D>
struct basic_attention_inputs {
  shape_view<D> query = {}, key = {}, value = {}, bias = {}, past_key = {}, past_value = {};
  bool has_key = true, has_value = true, has_past = false;
  bool has_past_length = false;  // of MultiHeadAttention: the past has space for the new rows
  D past_length{};               // the number of its rows that are used
  D total_length{};              // of GroupQueryAttention: the number of keys of the longest sequence
};
/// Inputs whose shapes are known.
using attention_inputs = basic_attention_inputs<std::int64_t>;

/// An attention: queries, new keys and values; the number of rows of the past, without those of its space for new ones;
/// the number of keys, those of the past included; and the shapes of the outputs, of which those that depend on the
/// query are unknown if its rank is.
template <size_kind D>
struct basic_attention {
  basic_heads<D> q{}, k{}, v{};
  D past{}, keys{};
  output_shape<D> y, present_key, present_value, scores;
};
/// An attention whose sizes are known.
using attention = basic_attention<std::int64_t>;

/// Checks an Attention of ONNX. Query, key and value are [batch, heads, length, size] or [batch, length, heads * size];
/// their shapes are those that the operator's row states. The attributes q_num_heads and kv_num_heads are for inputs of
/// rank 3. Refuses heads of the query that cannot share those of key and value equally.
template <size_kind D>
constexpr result<basic_attention<D>> attention_of(const basic_attention_inputs<D>& in, std::int64_t q_heads,
                                                  std::int64_t kv_heads);

/// Checks com.microsoft's MultiHeadAttention. The query is [batch, length, heads * size]; key and value are [batch,
/// keys, heads * size] or [batch, heads, keys, size]; the key may be [batch, keys, heads, 2, size] and contain the
/// value, or the query [batch, length, heads, 3, size] and contain both. Refuses other combinations, a query whose
/// heads are not as long as those of the key, a bias and a past that do not fit, and a past without space for the new
/// rows.
template <size_kind D>
constexpr result<basic_attention<D>> multi_head_attention_of(const basic_attention_inputs<D>& in, std::int64_t heads);

/// The attributes of a GroupQueryAttention that shapes depend on.
struct group_query_attributes {
  std::int64_t heads = 1, key_heads = 1;
  std::int64_t window = 0;     // rows that the cache keeps at least while it drops older ones; 0: it keeps all
  std::int64_t code_bits = 0;  // of a number in a quantized cache: 4 or 8; 0: the cache is not quantized
};
/// Checks com.microsoft's GroupQueryAttention. The query is [batch, length, heads * size], key and value are [batch,
/// length, key heads * size]; without a key, the query contains all three. Refuses heads and sizes that do not fit each
/// other, a past that does not fit or is missing, and a total length below that of the new keys. `keys` is the length
/// of the cache that this run joins.
template <size_kind D>
constexpr result<basic_attention<D>> group_query_attention_of(const basic_attention_inputs<D>& in,
                                                              const group_query_attributes& how);

/// com.microsoft's Attention: the sizes of query (also of key) and value in all heads, and outputs. The columns of the
/// weights are those of query, key and value.
template <size_kind D>
struct basic_projected_attention {
  D batches{}, length{}, query_width{}, value_width{}, past{}, keys{};
  output_shape<D> y, present;
};
/// Checks com.microsoft's Attention of x [batch, length, in] and weights [in, columns], as the operator's row states.
/// `widths` is the attribute qkv_hidden_sizes; if it is empty, query, key and value are equally wide. A past is [2,
/// batch, heads, rows, size]. `has_present`: the node has a past or an output for the present, which need values as
/// wide as keys. Refuses widths that heads cannot share or that the weights do not have.
template <size_kind D>
constexpr result<basic_projected_attention<D>> projected_attention_of(shape_view<D> x, shape_view<D> weights,
                                                                      std::int64_t heads,
                                                                      std::span<const std::int64_t> widths,
                                                                      shape_view<D> past, bool has_past,
                                                                      bool has_present);

namespace detail {
/// The product of two sizes, which may overflow where a tensor has no elements.
constexpr std::int64_t elements_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  static_cast<void>(checked_multiply(a, b, product));
  return product;
}
template <size_kind D>
constexpr bool are_known(const basic_heads<D>& h) {
  return is_known(h.batches) && is_known(h.heads) && is_known(h.length) && is_known(h.size);
}
}  // namespace detail

/// Heads of a tensor [batch, heads, length, size].
template <size_kind D>
constexpr basic_heads<D> split_heads(shape_view<D> x) {
  basic_heads<D> made{x[0], x[1], x[2], x[3]};
  if (!detail::are_known(made)) return made;
  made.row_stride = number_of(made.size);
  made.head_stride = detail::elements_of(number_of(made.length), made.row_stride);
  made.batch_stride = detail::elements_of(number_of(made.heads), made.head_stride);
  return made;
}
/// Places heads in rows of `row` elements, each `apart` elements from the next, from element `first` of the row on.
template <size_kind D>
constexpr void join_heads(basic_heads<D>& heads, D row, std::int64_t apart, std::int64_t first) {
  if (!detail::are_known(heads) || !is_known(row)) return;
  heads.first = first, heads.head_stride = apart, heads.row_stride = number_of(row);
  heads.batch_stride = detail::elements_of(number_of(heads.length), heads.row_stride);
}

namespace detail {
/// Heads of a tensor [batch, length, heads * size].
template <size_kind D>
constexpr basic_heads<D> joined_heads(shape_view<D> x, std::int64_t heads) {
  basic_heads<D> made{x[0], fixed<D>(heads), x[1], share_of(x[2], heads)};
  if (is_known(made.size)) join_heads(made, x[2], number_of(made.size), 0);
  return made;
}
/// Heads of a tensor [batch, length, heads, parts, size], of which this is one of the parts.
template <size_kind D>
constexpr basic_heads<D> packed_heads(shape_view<D> x, std::int64_t heads, std::int64_t part) {
  basic_heads<D> made{x[0], fixed<D>(heads), x[1], x[4]};
  if (!are_known(made) || !is_known(x[3])) return made;
  const std::int64_t size = number_of(x[4]), apart = elements_of(number_of(x[3]), size);
  join_heads(made, fixed<D>(elements_of(heads, apart)), apart, elements_of(part, size));
  return made;
}

template <size_kind D>
constexpr status too_wide(std::int64_t heads, D size) {
  return wrong<D>(heads, " heads have ", size, " elements each: more than 64 bits count");
}
template <size_kind D>
[[nodiscard]] constexpr bool width_of(D heads, D size, D& width) {
  const D both[] = {heads, size};
  return checked_product<D>(both, width);
}
/// Checks the size of an axis, as far as it is known.
template <size_kind D>
constexpr status check_axis(shape_view<D> x, std::size_t axis, D wanted, std::string_view name) {
  if (!x || !differ(x[axis], wanted)) return {};
  return wrong<D>(name, " has ", x[axis], " elements along axis ", axis, ", must have ", wanted);
}
/// Sets the number of keys, those of the past included.
template <size_kind D>
constexpr status count_keys(basic_attention<D>& a) {
  if (checked_sum(a.past, a.k.length, a.keys)) return {};
  return wrong<D>("the past has ", a.past, " rows, key has ", a.k.length, ": more than 64 bits count");
}
/// The rows of the past.
template <size_kind D>
constexpr D rows_of_past(const basic_attention_inputs<D>& in) {
  if (!in.has_past) return fixed<D>(0);
  return in.past_key ? in.past_key[2] : D{};
}

template <size_kind D>
constexpr status read_attention_heads(shape_view<D> x, std::int64_t heads, std::string_view attribute,
                                      basic_heads<D>& out) {
  if (!x) return {};
  if (x.rank() == 4) return out = split_heads(x), status{};
  if (heads < 1)
    return wrong_attribute("attribute ", attribute, " is ", heads, ", must be 1 or more for an input of rank 3");
  out = joined_heads(x, heads);
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_attention<D>> attention_of(const basic_attention_inputs<D>& in, std::int64_t q_heads,
                                                  std::int64_t kv_heads) {
  basic_attention<D> made;
  basic_heads<D>&q = made.q, &k = made.k, &v = made.v;
  if (status s = detail::read_attention_heads(in.query, q_heads, "q_num_heads", q); !s) return s;
  if (status s = detail::read_attention_heads(in.key, kv_heads, "kv_num_heads", k); !s) return s;
  if (status s = detail::read_attention_heads(in.value, kv_heads, "kv_num_heads", v); !s) return s;
  if (is_known(q.heads) && is_known(k.heads) && in.query && in.key &&
      (number_of(k.heads) == 0 || number_of(q.heads) % number_of(k.heads) != 0))
    return wrong<D>("Q has ", q.heads, " heads, must have a multiple of those of K, ", k.heads);
  made.past = detail::rows_of_past(in);
  if (status s = detail::count_keys(made); !s) return s;
  D width{};
  if (!detail::width_of(q.heads, v.size, width)) return detail::too_wide(number_of(q.heads), v.size);
  if (in.query && in.query.rank() == 4) made.y = sizes<D>{q.batches, q.heads, q.length, v.size};
  else if (in.query) made.y = sizes<D>{q.batches, q.length, width};
  made.present_key = sizes<D>{k.batches, k.heads, made.keys, k.size};
  made.present_value = sizes<D>{v.batches, v.heads, made.keys, v.size};
  made.scores = sizes<D>{q.batches, q.heads, q.length, made.keys};
  return made;
}

namespace detail {
/// Sets queries, keys and values of a MultiHeadAttention whose query has a known shape.
template <size_kind D>
constexpr void read_multi_heads(const basic_attention_inputs<D>& in, std::int64_t heads, basic_attention<D>& out) {
  if (!in.has_key) {
    out.q = packed_heads(in.query, heads, 0), out.k = packed_heads(in.query, heads, 1);
    out.v = packed_heads(in.query, heads, 2);
    return;
  }
  const D batches = in.query[0];
  out.q = joined_heads(in.query, heads);
  out.k = out.v = {batches, fixed<D>(heads), D{}, D{}};
  if (in.key && in.key.rank() == 5) out.k = packed_heads(in.key, heads, 0), out.v = packed_heads(in.key, heads, 1);
  else if (in.key) out.k = in.key.rank() == 4 ? split_heads(in.key) : joined_heads(in.key, heads);
  if (in.has_value && in.value) out.v = in.value.rank() == 4 ? split_heads(in.value) : joined_heads(in.value, heads);
  out.k.size = unified(out.k.size, out.q.size);
  if (!in.has_value) out.v.size = out.k.size;
}

template <size_kind D>
constexpr status check_attention_ranks(const basic_attention_inputs<D>& in) {
  const shape_view<D> q = in.query, k = in.key, v = in.value;
  bool fits = in.has_key || !in.has_value;
  if (q) fits = fits && q.rank() == (in.has_key ? 3 : 5);
  if (k && in.has_value && v) fits = fits && k.rank() == v.rank();
  if (k && !in.has_value) fits = fits && k.rank() == 5;
  if (fits) return {};
  return wrong<D>("query has shape ", q.sizes, ", key ", k.sizes, " and value ", v.sizes,
                  ", must have ranks 3, 3 and 3, or 3, 4 and 4, or 3 and 5, or 5");
}

/// Checks that the heads of the query are as long as those of the key.
template <size_kind D>
constexpr status check_query_heads(const basic_attention_inputs<D>& in, const basic_attention<D>& a) {
  D width{};
  if (!in.has_key || !is_known(a.k.size)) return {};
  if (!width_of(a.q.heads, a.k.size, width)) return too_wide(number_of(a.q.heads), a.k.size);
  return check_axis(in.query, 2, width, "query");
}

/// Checks the bias of MultiHeadAttention, which has an element for each of query, key and value in all heads.
template <size_kind D>
constexpr status check_attention_bias(shape_view<D> bias, D width, D value_width) {
  D sum{};
  if (!bias || !is_known(width) || !is_known(value_width)) return {};
  if (!checked_sum(width, width, sum) || !checked_sum(sum, value_width, sum))
    return wrong<D>("query has ", width, " elements in all heads, more than 64 bits count for a bias");
  if (bias.rank() == 1 && !differ(bias[0], sum)) return {};
  return wrong<D>("bias has shape ", bias.sizes, ", must be [", sum, "]");
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_attention<D>> multi_head_attention_of(const basic_attention_inputs<D>& in, std::int64_t heads) {
  if (heads < 1) return wrong_attribute("attribute num_heads is ", heads, ", must be 1 or more");
  if (status s = detail::check_attention_ranks(in); !s) return s;
  basic_attention<D> made;
  if (!in.query) return made;
  detail::read_multi_heads(in, heads, made);
  if (status s = detail::check_query_heads(in, made); !s) return s;
  const basic_heads<D>&q = made.q, &k = made.k, &v = made.v;
  D width{}, value_width{};
  if (!detail::width_of(q.heads, q.size, width)) return detail::too_wide(heads, q.size);
  if (!detail::width_of(q.heads, v.size, value_width)) return detail::too_wide(heads, v.size);
  if (status s = detail::check_attention_bias(in.bias, width, value_width); !s) return s;
  if (status s = detail::check_axis(in.past_value, 3, v.size, "past_value"); !s) return s;
  const D capacity = detail::rows_of_past(in);
  const bool has_space = in.has_past && in.has_past_length;
  made.past = has_space ? in.past_length : capacity;
  if (has_space && is_known(made.past) && is_known(capacity) && is_known(k.length)) {
    const std::int64_t most = number_of(capacity) - number_of(k.length);
    if (number_of(made.past) < 0 || number_of(made.past) > most)
      return wrong<D>("past_sequence_length is ", made.past, ", must be from 0 to ", most, " so that ", k.length,
                      " new keys fit into the ", capacity, " places of past_key");
  }
  if (status s = detail::count_keys(made); !s) return s;
  const D rows = has_space ? capacity : made.keys;
  made.y = sizes<D>{q.batches, q.length, value_width};
  made.present_key = sizes<D>{q.batches, q.heads, rows, k.size};
  made.present_value = sizes<D>{q.batches, q.heads, rows, v.size};
  made.scores = sizes<D>{q.batches, q.heads, q.length, made.keys};
  return made;
}

namespace detail {
/// Checks the attributes of a GroupQueryAttention and the inputs that need each other.
template <size_kind D>
constexpr status check_group(const basic_attention_inputs<D>& in, const group_query_attributes& how) {
  constexpr std::int64_t most = 1 << 20;
  if (how.heads < 1 || how.heads > most)
    return wrong_attribute("attribute num_heads is ", how.heads, ", must be from 1 to ", most);
  if (how.key_heads < 1 || how.heads % how.key_heads != 0)
    return wrong_attribute("attribute num_heads is ", how.heads, ", must be a multiple of kv_num_heads, ",
                           how.key_heads);
  if (in.has_key != in.has_value) return wrong<D>("key and value must both be given, or neither");
  if (!in.has_past && how.window > 0) return wrong<D>("past_key is missing, must be given with sliding_window_cache");
  if (!in.has_past && how.code_bits != 0)
    return wrong<D>("past_key is missing, must be given for a quantized cache, with 0 rows at first");
  return {};
}

/// Sets queries, keys and values of a GroupQueryAttention whose query has a known shape.
template <size_kind D>
constexpr status read_group(const basic_attention_inputs<D>& in, const group_query_attributes& how,
                            basic_attention<D>& out) {
  const D batches = in.query[0], length = in.query[1], row = in.query[2];
  const std::int64_t rows = in.has_key ? how.heads : how.heads + 2 * how.key_heads;
  if (is_known(row) && number_of(row) % rows != 0)
    return wrong<D>("query has ", row, " elements along axis 2, must have a multiple of ", rows,
                    ", the number of heads");
  D size = share_of(row, rows);
  if (in.key && !is_known(size)) size = share_of(in.key[2], how.key_heads);
  D key_row = row, wanted{};
  out.q = {batches, fixed<D>(how.heads), length, size};
  out.k = out.v = {batches, fixed<D>(how.key_heads), length, size};
  if (in.has_key) {
    if (!width_of(out.k.heads, size, wanted)) return too_wide(how.key_heads, size);
    if (status s = check_axis(in.key, 2, wanted, "key"); !s) return s;
    key_row = wanted;
  }
  if (!is_known(size)) return {};
  const std::int64_t n = number_of(size);
  join_heads(out.q, row, n, 0);
  join_heads(out.k, key_row, n, in.has_key ? 0 : elements_of(how.heads, n));
  join_heads(out.v, key_row, n, in.has_key ? 0 : elements_of(how.heads + how.key_heads, n));
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_attention<D>> group_query_attention_of(const basic_attention_inputs<D>& in,
                                                              const group_query_attributes& how) {
  if (status s = detail::check_group(in, how); !s) return s;
  basic_attention<D> made;
  if (!in.query) return made;
  if (status s = detail::read_group(in, how, made); !s) return s;
  const basic_heads<D>& q = made.q;
  D width{}, row = q.size;
  if (!detail::width_of(q.heads, q.size, width)) return detail::too_wide(how.heads, q.size);
  if (how.code_bits == 4) row = is_known(row) ? fixed<D>(number_of(row) / 2 + number_of(row) % 2) : D{};
  if (status s = detail::check_axis(in.past_key, 3, row, "past_key"); !s) return s;
  if (in.past_key) row = unified(row, in.past_key[3]);
  const D total = in.total_length, past = made.past = detail::rows_of_past(in);
  if (is_known(past) && number_of(past) < how.window)
    return wrong<D>("past_key has ", past, " rows, must have local_window_size, ", how.window, ", or more");
  const bool is_open = !is_known(total) || !is_known(q.length);
  if (!is_open && number_of(total) < number_of(q.length))
    return wrong<D>("total_sequence_length is ", total, ", must be at least the number of new keys, ", q.length);
  D rows = past;
  if (how.window == 0) {
    if (is_known(total) && is_known(past)) rows = number_of(total) > number_of(past) ? total : past;
    else rows = D{};
    made.keys = rows;
  } else if (!is_open) {
    // If all keys are new, there is no past, whatever past_key contains.
    if (number_of(total) == number_of(q.length)) made.keys = q.length;
    else if (status s = detail::count_keys(made); !s) return s;
  }
  made.y = sizes<D>{q.batches, q.length, width};
  made.present_key = made.present_value = sizes<D>{q.batches, made.k.heads, rows, row};
  made.scores = sizes<D>{q.batches, q.heads, q.length, total};
  return made;
}

namespace detail {
/// Checks the attribute qkv_hidden_sizes.
constexpr status check_widths(std::span<const std::int64_t> widths, std::int64_t heads) {
  if (heads < 1) return wrong_attribute("attribute num_heads is ", heads, ", must be 1 or more");
  if (!widths.empty() && (widths.size() != 3 || widths[0] != widths[1]))
    return wrong_attribute("attribute qkv_hidden_sizes is ", widths,
                           ", must have three numbers, of which the first two are equal");
  for (const std::int64_t width : widths)
    if (width < 1 || width > 1 << 30 || width % heads != 0)
      return wrong_attribute("attribute qkv_hidden_sizes has ", width, ", must have multiples of num_heads, ", heads,
                             ", up to 2^30");
  return {};
}

/// Checks that the columns of the weights are those of query, key and value in all heads.
template <size_kind D>
constexpr status check_columns(shape_view<D> weights, std::int64_t heads, std::span<const std::int64_t> widths) {
  if (!weights || !is_known(weights[1])) return {};
  const std::int64_t columns = number_of(weights[1]);
  if (widths.empty()) {
    if (columns % 3 == 0 && columns / 3 % heads == 0) return {};
    return wrong<D>("weights has ", columns, " columns, must have three times a multiple of num_heads, ", heads);
  }
  const std::int64_t wanted = 2 * widths[0] + widths[2];
  if (columns == wanted) return {};
  return wrong<D>("weights has ", columns, " columns, must have ", wanted, " for qkv_hidden_sizes ", widths);
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_projected_attention<D>> projected_attention_of(shape_view<D> x, shape_view<D> weights,
                                                                      std::int64_t heads,
                                                                      std::span<const std::int64_t> widths,
                                                                      shape_view<D> past, bool has_past,
                                                                      bool has_present) {
  if (status s = detail::check_widths(widths, heads); !s) return s;
  if (status s = detail::check_columns(weights, heads, widths); !s) return s;
  basic_projected_attention<D> made;
  if (!x) return made;
  made.batches = x[0], made.length = x[1];
  if (!widths.empty()) {
    made.query_width = fixed<D>(widths[0]), made.value_width = fixed<D>(widths[2]);
  } else if (weights && is_known(weights[1])) {
    made.query_width = made.value_width = fixed<D>(number_of(weights[1]) / 3);
  }
  const D size = share_of(made.query_width, heads), value_size = share_of(made.value_width, heads);
  if (has_present && differ(size, value_size))
    return wrong<D>("values have ", value_size, " elements in each head, must have ", size, " for a past or present");
  if (status s = detail::check_axis(past, 4, size, "past"); !s) return s;
  made.past = !has_past ? fixed<D>(0) : past ? past[3] : D{};
  if (!checked_sum(made.past, made.length, made.keys))
    return wrong<D>("past has ", made.past, " rows, the input ", made.length, ": more than 64 bits count");
  made.y = sizes<D>{made.batches, made.length, made.value_width};
  made.present = sizes<D>{fixed<D>(2), made.batches, fixed<D>(heads), made.keys, value_size};
  return made;
}

// Compiled in geometry/attention.cpp, once for loading and once for running.
extern template result<basic_attention<dim>> attention_of(const basic_attention_inputs<dim>&, std::int64_t,
                                                          std::int64_t);
extern template result<attention> attention_of(const attention_inputs&, std::int64_t, std::int64_t);
extern template result<basic_attention<dim>> multi_head_attention_of(const basic_attention_inputs<dim>&, std::int64_t);
extern template result<attention> multi_head_attention_of(const attention_inputs&, std::int64_t);
extern template result<basic_attention<dim>> group_query_attention_of(const basic_attention_inputs<dim>&,
                                                                      const group_query_attributes&);
extern template result<attention> group_query_attention_of(const attention_inputs&, const group_query_attributes&);
extern template result<basic_projected_attention<dim>> projected_attention_of(shape_view<dim>, shape_view<dim>,
                                                                              std::int64_t,
                                                                              std::span<const std::int64_t>,
                                                                              shape_view<dim>, bool, bool);
extern template result<basic_projected_attention<std::int64_t>> projected_attention_of(
    shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t, std::span<const std::int64_t>,
    shape_view<std::int64_t>, bool, bool);

}  // namespace CAMEO_NAMESPACE::geometry
