#pragma once
#include "attention_parts.hpp"

// Caches whose elements are codes: a code stands for a number times the scale of its channel. A cache of int8 has one
// in each element; one of uint8 has two of 4 bits, the first one low, with 8 added; one of float8e4m3fn has floats.
namespace CAMEO_NAMESPACE::eps {

/// n numbers as codes of a type, to nearest, at most what a code can be. As ONNX Runtime does, they are multiplied by
/// the inverse of the scale, 1 for a scale of 0.
void store_codes(dtype type, const float* row, const float* scales, std::int64_t n, std::byte* to);
/// Joined rows of a cache as scores are formed with them, [batch, heads, length, size]: int8, or float16 that has each
/// number of float8e4m3fn.
result<key_rows> numbers_of_codes(run_context&, const key_rows& stored, std::int64_t size);
/// The scales of each channel: [heads * size], of a tensor with one number or with one for each.
result<const float*> channel_scales(run_context&, const value& scales, std::string_view name, bool per_channel,
                                    std::int64_t heads, std::int64_t size);
/// Elements that a row of so many numbers takes.
constexpr std::int64_t code_width(dtype type, std::int64_t size) { return type == dtype::u8 ? (size + 1) / 2 : size; }

/// joined_keys() for codes, which lie in the rows that are returned as the cache has them.
template <class P, class F>
result<key_rows> join_codes(run_context& c, const head_tensor& now, const past_heads& old, const P& past_of,
                            std::int64_t total, std::size_t output, const float* scales, const F& change) {
  const head_layout& at = now.at;
  const dtype type = old.from.type;
  const std::int64_t width = code_width(type, at.size);
  const extents shape{at.batches, at.heads, total, width};
  const result<value*> present = optional_output(c, output, shape);
  if (!present) return present.error();
  if (*present && (*present)->type != type) return bad_input("present is ", (*present)->type, ", past ", type);
  const auto to = *present ? result<std::byte*>{bytes_of(**present)} : scratch_of<std::byte>(c, shape);
  if (!to) return to.error();
  const auto make = [&](std::int64_t batch, std::int64_t i, std::int64_t head, float* room, std::byte* row) {
    now.load(batch, head, i, room);
    change(batch, i, head, room);
    store_codes(type, room, scales + head * at.size, at.size, row);
  };
  if (status s = join_made_rows<std::byte>(c, old, past_of, now, total, width, *to, make); !s) return s;
  return key_rows{*to, type, head_layout::split(at.batches, at.heads, total, width)};
}

}  // namespace CAMEO_NAMESPACE::eps
