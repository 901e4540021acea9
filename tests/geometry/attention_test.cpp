#include "both_kinds.hpp"

#include <cameo/geometry/attention.hpp>

namespace attentions {

using namespace both_kinds;
using cameo::geometry::attention;
using open_attention = basic_attention<dim>;
using open_inputs = basic_attention_inputs<dim>;

template <size_kind D>
constexpr bool matches(const output_shape<D>& found, const sizes<D>& wanted) {
  return found.is_known && found == wanted;
}
constexpr bool lie(const basic_heads<std::int64_t>& h, std::int64_t first, std::int64_t batch, std::int64_t head,
                   std::int64_t row) {
  return h.first == first && h.batch_stride == batch && h.head_stride == head && h.row_stride == row;
}

// ONNX's Attention: rank 4, and rank 3 with numbers of heads.
constexpr known q4{2, 4, 5, 8}, k4{2, 2, 6, 8}, v4{2, 2, 6, 7}, past_k{2, 2, 3, 8}, past_v{2, 2, 3, 7};
constexpr attention split = value_in(attention_of<std::int64_t>({.query = q4, .key = k4, .value = v4}, 0, 0));
static_assert(matches(split.y, {2, 4, 5, 7}) && matches(split.present_key, {2, 2, 6, 8}) &&
              matches(split.present_value, {2, 2, 6, 7}) && matches(split.scores, {2, 4, 5, 6}) && split.past == 0);
static_assert(lie(split.q, 0, 160, 40, 8) && lie(split.v, 0, 84, 42, 7));

constexpr known q3{2, 5, 32}, k3{2, 6, 16}, v3{2, 6, 14};
constexpr attention joined = value_in(attention_of<std::int64_t>(
    {.query = q3, .key = k3, .value = v3, .past_key = past_k, .past_value = past_v, .has_past = true}, 4, 2));
static_assert(matches(joined.y, {2, 5, 28}) && matches(joined.present_key, {2, 2, 9, 8}) &&
              matches(joined.scores, {2, 4, 5, 9}));
static_assert(joined.past == 3 && joined.keys == 9 && joined.q.size == 8 && joined.v.size == 7);
static_assert(joined.q.place(1, 2, 3) == 160 + 2 * 8 + 3 * 32);
static_assert(lie(joined.q, 0, 160, 8, 32) && lie(joined.v, 0, 84, 7, 14));
static_assert(says(attention_of<std::int64_t>({.query = q3, .key = k3, .value = v3}, 0, 2),
                   "attribute q_num_heads is 0, must be 1 or more for an input of rank 3"));
static_assert(says(attention_of<std::int64_t>({.query = q3, .key = k3, .value = v3}, 4, -1),
                   "attribute kv_num_heads is -1, must be 1 or more for an input of rank 3"));
constexpr known q_of_three_heads{2, 3, 5, 8};
static_assert(says(attention_of<std::int64_t>({.query = q_of_three_heads, .key = k4, .value = v4}, 0, 0),
                   "Q has 3 heads, must have a multiple of those of K, 2"));

constexpr open open_q{symbol, other_symbol, n(32)}, open_k{symbol, n(6), n(16)}, open_past{symbol, n(2), unknown, n(8)};
constexpr open_attention opened = value_in(attention_of<dim>({.query = open_q, .key = open_k, .value = open_k}, 4, 2));
static_assert(matches(opened.y, {symbol, other_symbol, n(32)}) &&
              matches(opened.present_key, {symbol, n(2), n(6), n(8)}) &&
              matches(opened.scores, {symbol, n(4), other_symbol, n(6)}));
static_assert(matches(value_in(attention_of<dim>({.query = open_q,
                                                  .key = open_k,
                                                  .value = open_k,
                                                  .past_key = open_past,
                                                  .past_value = open_past,
                                                  .has_past = true},
                                                 4, 2))
                          .scores,
                      {symbol, n(4), other_symbol, unknown}));
constexpr open_attention of_no_shapes = value_in(attention_of<dim>({}, 4, 2));
static_assert(!of_no_shapes.y.is_known && matches(of_no_shapes.present_key, {unknown, unknown, unknown, unknown}));

// MultiHeadAttention: separate inputs, packed keys and values, or all three packed.
constexpr known mq{2, 5, 12}, mk{2, 6, 12}, mv{2, 6, 9}, mk4{2, 3, 6, 4}, mv4{2, 3, 6, 5}, packed_kv{2, 6, 3, 2, 4},
    packed{2, 5, 3, 3, 4}, mpast_k{2, 3, 7, 4}, mpast_v{2, 3, 7, 3}, bias{33}, short_bias{32};
constexpr attention three =
    value_in(multi_head_attention_of<std::int64_t>({.query = mq, .key = mk, .value = mv, .bias = bias}, 3));
static_assert(matches(three.y, {2, 5, 9}) && matches(three.present_key, {2, 3, 6, 4}) &&
              matches(three.present_value, {2, 3, 6, 3}) && matches(three.scores, {2, 3, 5, 6}));
static_assert(lie(three.q, 0, 60, 4, 12) && lie(three.v, 0, 54, 3, 9));
constexpr attention cross = value_in(multi_head_attention_of<std::int64_t>({.query = mq, .key = mk4, .value = mv4}, 3));
static_assert(matches(cross.y, {2, 5, 15}) && lie(cross.k, 0, 72, 24, 4) && cross.keys == 6);
constexpr attention two =
    value_in(multi_head_attention_of<std::int64_t>({.query = mq, .key = packed_kv, .has_value = false}, 3));
static_assert(matches(two.y, {2, 5, 12}) && lie(two.k, 0, 144, 8, 24) && lie(two.v, 4, 144, 8, 24) && two.keys == 6);
constexpr attention one =
    value_in(multi_head_attention_of<std::int64_t>({.query = packed, .has_key = false, .has_value = false}, 3));
static_assert(matches(one.y, {2, 5, 12}) && lie(one.q, 0, 180, 12, 36) && lie(one.v, 8, 180, 12, 36) && one.keys == 5);

constexpr attention_inputs with_past{
    .query = mq, .key = mk, .value = mv, .past_key = mpast_k, .past_value = mpast_v, .has_past = true};
constexpr attention continued = value_in(multi_head_attention_of<std::int64_t>(with_past, 3));
static_assert(continued.past == 7 && continued.keys == 13 && matches(continued.present_value, {2, 3, 13, 3}));
constexpr attention_inputs with_space(std::int64_t past_length) {
  attention_inputs in = with_past;
  in.has_past_length = true, in.past_length = past_length;
  return in;
}
constexpr attention in_space = value_in(multi_head_attention_of<std::int64_t>(with_space(1), 3));
static_assert(in_space.past == 1 && in_space.keys == 7 && matches(in_space.present_key, {2, 3, 7, 4}) &&
              matches(in_space.scores, {2, 3, 5, 7}));
static_assert(says(multi_head_attention_of<std::int64_t>(with_space(2), 3),
                   "past_sequence_length is 2, must be from 0 to 1 so that 6 new keys fit into the 7 places of "
                   "past_key"));
static_assert(says(multi_head_attention_of<std::int64_t>(with_space(-1), 3),
                   "past_sequence_length is -1, must be from 0 to 1 so that 6 new keys fit into the 7 places of "
                   "past_key"));
static_assert(says(multi_head_attention_of<std::int64_t>({.query = mq, .key = mk, .value = mv, .bias = short_bias}, 3),
                   "bias has shape [32], must be [33]"));
static_assert(
    says(multi_head_attention_of<std::int64_t>({.query = mq, .key = mk, .value = mv4}, 3),
         "query has shape [2,5,12], key [2,6,12] and value [2,3,6,5], must have ranks 3, 3 and 3, or 3, 4 and "
         "4, or 3 and 5, or 5"));
static_assert(!multi_head_attention_of<std::int64_t>({.query = mq, .has_key = false, .has_value = false}, 3));
static_assert(!multi_head_attention_of<std::int64_t>({.query = packed, .key = mk, .value = mv}, 3));
constexpr known wide_q{2, 5, 15}, odd_q{2, 5, 13};
static_assert(says(multi_head_attention_of<std::int64_t>({.query = wide_q, .key = mk, .value = mv}, 3),
                   "query has 15 elements along axis 2, must have 12"));
static_assert(says(multi_head_attention_of<std::int64_t>({.query = odd_q, .key = mk4, .value = mv4}, 3),
                   "query has 13 elements along axis 2, must have 12"));
static_assert(says(multi_head_attention_of<std::int64_t>({.query = mq,
                                                          .key = packed_kv,
                                                          .past_key = mpast_k,
                                                          .past_value = mpast_v,
                                                          .has_value = false,
                                                          .has_past = true},
                                                         3),
                   "past_value has 3 elements along axis 3, must have 4"));
static_assert(says(multi_head_attention_of<dim>({}, 0), "attribute num_heads is 0, must be 1 or more"));

constexpr open open_mq{symbol, other_symbol, n(12)}, open_mk{symbol, unknown, n(12)};
constexpr open_attention open_three =
    value_in(multi_head_attention_of<dim>({.query = open_mq, .key = open_mk, .value = open_mk}, 3));
static_assert(matches(open_three.y, {symbol, other_symbol, n(12)}) &&
              matches(open_three.present_key, {symbol, n(3), unknown, n(4)}));
static_assert(matches(value_in(multi_head_attention_of<dim>({.query = open_mq}, 3)).present_key,
                      {symbol, n(3), unknown, n(4)}));
static_assert(!value_in(multi_head_attention_of<dim>({.key = open_mk}, 3)).y.is_known);
constexpr open open_capacity{symbol, n(3), n(7), n(4)};
constexpr open_attention open_space = value_in(multi_head_attention_of<dim>({.query = open_mq,
                                                                             .key = open_mk,
                                                                             .value = open_mk,
                                                                             .past_key = open_capacity,
                                                                             .past_value = open_capacity,
                                                                             .has_past = true,
                                                                             .has_past_length = true},
                                                                            3));
static_assert(matches(open_space.present_key, {symbol, n(3), n(7), n(4)}) && open_space.keys == unknown);

// GroupQueryAttention: separate or packed, with a cache that grows, keeps a window, or is quantized.
constexpr known gq{2, 5, 24}, gk{2, 5, 12}, gpacked{2, 5, 48}, gpast{2, 2, 9, 6}, codes{2, 2, 9, 3}, narrow_k{2, 5, 10};
constexpr group_query_attributes four_of_two{.heads = 4, .key_heads = 2};
constexpr attention grouped = value_in(
    group_query_attention_of<std::int64_t>({.query = gq, .key = gk, .value = gk, .total_length = 5}, four_of_two));
static_assert(matches(grouped.y, {2, 5, 24}) && matches(grouped.present_key, {2, 2, 5, 6}) &&
              matches(grouped.scores, {2, 4, 5, 5}) && grouped.keys == 5);
static_assert(lie(grouped.q, 0, 120, 6, 24) && lie(grouped.v, 0, 60, 6, 12));
constexpr attention packed_group = value_in(group_query_attention_of<std::int64_t>({.query = gpacked,
                                                                                    .past_key = gpast,
                                                                                    .past_value = gpast,
                                                                                    .has_key = false,
                                                                                    .has_value = false,
                                                                                    .has_past = true,
                                                                                    .total_length = 12},
                                                                                   four_of_two));
static_assert(matches(packed_group.y, {2, 5, 24}) && matches(packed_group.present_key, {2, 2, 12, 6}) &&
              packed_group.past == 9 && packed_group.keys == 12);
static_assert(lie(packed_group.q, 0, 240, 6, 48) && lie(packed_group.k, 24, 240, 6, 48) &&
              lie(packed_group.v, 36, 240, 6, 48));
constexpr attention_inputs cached(std::int64_t total, const known& past) {
  return {.query = gq,
          .key = gk,
          .value = gk,
          .past_key = past,
          .past_value = past,
          .has_past = true,
          .total_length = total};
}
constexpr attention windowed =
    value_in(group_query_attention_of<std::int64_t>(cached(20, gpast), {.heads = 4, .key_heads = 2, .window = 8}));
static_assert(matches(windowed.present_key, {2, 2, 9, 6}) && windowed.keys == 14);
static_assert(value_in(group_query_attention_of<std::int64_t>(cached(5, gpast),
                                                              {.heads = 4, .key_heads = 2, .window = 8}))
                  .keys == 5);
static_assert(matches(value_in(group_query_attention_of<std::int64_t>(cached(6, codes),
                                                                      {.heads = 4, .key_heads = 2, .code_bits = 4}))
                          .present_key,
                      {2, 2, 9, 3}));
static_assert(says(group_query_attention_of<std::int64_t>(cached(6, codes), four_of_two),
                   "past_key has 3 elements along axis 3, must have 6"));
static_assert(says(group_query_attention_of<std::int64_t>(cached(6, gpast), {.heads = 4, .key_heads = 2, .window = 10}),
                   "past_key has 9 rows, must have local_window_size, 10, or more"));
static_assert(says(group_query_attention_of<std::int64_t>(cached(4, gpast), four_of_two),
                   "total_sequence_length is 4, must be at least the number of new keys, 5"));
static_assert(says(
    group_query_attention_of<std::int64_t>({.query = gq, .key = narrow_k, .value = gk, .total_length = 5}, four_of_two),
    "key has 10 elements along axis 2, must have 12"));
static_assert(says(group_query_attention_of<std::int64_t>({.query = gq, .key = gk, .value = gk, .total_length = 5},
                                                          {.heads = 5, .key_heads = 5}),
                   "query has 24 elements along axis 2, must have a multiple of 5, the number of heads"));
static_assert(says(group_query_attention_of<dim>({}, {.heads = 4, .key_heads = 3}),
                   "attribute num_heads is 4, must be a multiple of kv_num_heads, 3"));
static_assert(says(group_query_attention_of<dim>({}, {.heads = 0, .key_heads = 3}),
                   "attribute num_heads is 0, must be from 1 to 1048576"));
static_assert(says(group_query_attention_of<dim>({.has_value = false}, four_of_two),
                   "key and value must both be given, or neither"));
static_assert(says(group_query_attention_of<dim>({}, {.heads = 4, .key_heads = 2, .window = 3}),
                   "past_key is missing, must be given with sliding_window_cache"));
static_assert(says(group_query_attention_of<dim>({}, {.heads = 4, .key_heads = 2, .code_bits = 8}),
                   "past_key is missing, must be given for a quantized cache, with 0 rows at first"));

constexpr open open_gq{symbol, other_symbol, n(24)}, open_gpast{symbol, n(2), unknown, n(6)};
constexpr open_attention open_group = value_in(group_query_attention_of<dim>(
    {.query = open_gq, .past_key = open_gpast, .past_value = open_gpast, .has_past = true}, four_of_two));
static_assert(matches(open_group.y, {symbol, other_symbol, n(24)}) &&
              matches(open_group.present_key, {symbol, n(2), unknown, n(6)}) &&
              matches(open_group.scores, {symbol, n(4), other_symbol, unknown}));
static_assert(!value_in(group_query_attention_of<dim>({}, four_of_two)).y.is_known);

// Attention of com.microsoft: the input times weights is query, key and value.
using list = std::initializer_list<std::int64_t>;
template <size_kind D>
constexpr result<basic_projected_attention<D>> projected(const sizes<D>& x, const sizes<D>& weights, std::int64_t heads,
                                                         list widths = {}) {
  return projected_attention_of<D>(x, weights, heads, std::span<const std::int64_t>{widths.begin(), widths.size()}, {},
                                   false, false);
}
constexpr known px{2, 5, 8}, pweights{8, 24}, ppast{2, 2, 4, 7, 2}, wide_past{2, 2, 4, 7, 3};
static_assert(matches(value_in(projected(px, pweights, 4)).y, {2, 5, 8}) &&
              matches(value_in(projected(px, pweights, 4)).present, {2, 2, 4, 5, 2}));
static_assert(matches(value_in(projected(px, {8, 20}, 4, {8, 8, 4})).y, {2, 5, 4}) &&
              value_in(projected(px, {8, 20}, 4, {8, 8, 4})).query_width == 8);
static_assert(matches(value_in(projected_attention_of<std::int64_t>(px, pweights, 4, {}, ppast, true, true)).present,
                      {2, 2, 4, 12, 2}));
static_assert(matches(value_in(projected(open{symbol, unknown, n(8)}, open{n(8), unknown}, 4)).present,
                      {n(2), symbol, n(4), unknown, unknown}));
static_assert(says(projected_attention_of<std::int64_t>(px, pweights, 4, {}, wide_past, true, true),
                   "past has 3 elements along axis 4, must have 2"));
constexpr std::int64_t narrow_values[] = {8, 8, 4};
constexpr known twenty{8, 20};
static_assert(says(projected_attention_of<std::int64_t>(px, twenty, 4, narrow_values, {}, false, true),
                   "values have 1 elements in each head, must have 2 for a past or present"));
static_assert(says(projected(px, {8, 21}, 4),
                   "weights has 21 columns, must have three times a multiple of num_heads, 4"));
static_assert(says(projected(px, {8, 24}, 4, {8, 8, 4}),
                   "weights has 24 columns, must have 20 for qkv_hidden_sizes [8,8,4]"));
static_assert(says(projected(px, {8, 24}, 4, {8, 4, 4}),
                   "attribute qkv_hidden_sizes is [8,4,4], must have three numbers, of which the first two are equal"));
static_assert(says(projected(px, {8, 24}, 4, {8, 8, 6}),
                   "attribute qkv_hidden_sizes has 6, must have multiples of num_heads, 4, up to 2^30"));
static_assert(says(projected(px, {8, 24}, 0), "attribute num_heads is 0, must be 1 or more"));

TEST_CASE("geometry: an attention has the same shapes for both kinds of size, and is refused in the same words") {
  const auto same = [](const attention& running, const open_attention& loading) {
    CHECK(loading.y == as_dims(running.y));
    CHECK(loading.present_key == as_dims(running.present_key));
    CHECK(loading.present_value == as_dims(running.present_value));
    CHECK(loading.scores == as_dims(running.scores));
    CHECK(loading.keys == n(running.keys));
    CHECK(loading.q.row_stride == running.q.row_stride);
    CHECK(loading.k.head_stride == running.k.head_stride);
    CHECK(loading.v.batch_stride == running.v.batch_stride);
    CHECK(loading.v.first == running.v.first);
  };
  std::size_t made = 0;
  for (std::int64_t heads = 0; heads < 4; ++heads)
    for (std::int64_t size = 0; size < 3; ++size)
      for (std::int64_t past = 0; past < 4; ++past)
        for (std::int64_t length = 0; length < 4; ++length) {
          INFO("heads " << heads << ", size " << size << ", past " << past << ", length " << length);
          const known q{1, length, 2 * heads * size}, k{1, length, heads * size}, cache{1, heads, past, size};
          const open loaded_q = as_dims(q), loaded_k = as_dims(k), loaded_cache = as_dims(cache);
          attention_inputs in{.query = q,
                              .key = k,
                              .value = k,
                              .past_key = cache,
                              .past_value = cache,
                              .has_past = true,
                              .total_length = past + 1};
          open_inputs loaded{.query = loaded_q,
                             .key = loaded_k,
                             .value = loaded_k,
                             .past_key = loaded_cache,
                             .past_value = loaded_cache,
                             .has_past = true,
                             .total_length = n(past + 1)};
          const auto shared = attention_of<std::int64_t>(in, 2 * heads, heads);
          const auto loaded_shared = attention_of<dim>(loaded, 2 * heads, heads);
          if (agree(shared, loaded_shared)) same(*shared, *loaded_shared), ++made;
          for (const std::int64_t window : {0, 2}) {
            const group_query_attributes how{.heads = 2 * heads, .key_heads = heads, .window = window};
            const auto grouped = group_query_attention_of<std::int64_t>(in, how);
            const auto loaded_group = group_query_attention_of<dim>(loaded, how);
            if (agree(grouped, loaded_group)) same(*grouped, *loaded_group), ++made;
          }
          in.query = k, loaded.query = loaded_k;
          for (const bool has_length : {false, true}) {
            in.has_past_length = loaded.has_past_length = has_length;
            in.past_length = 1, loaded.past_length = n(1);
            const auto multi = multi_head_attention_of<std::int64_t>(in, heads);
            const auto loaded_multi = multi_head_attention_of<dim>(loaded, heads);
            if (agree(multi, loaded_multi)) same(*multi, *loaded_multi), ++made;
          }
        }
  CHECK(made > 100);
}

}  // namespace attentions
