#pragma once
#include "attention_parts.hpp"

// Quantized caches of keys and values: a quantized value times the scale of its channel is the number. An element of an
// int8 cache is one value. An element of a uint8 cache is two 4-bit values, the first in the low bits, each with zero
// point 8. Elements of a float8e4m3fn cache are floats.
namespace CAMEO_NAMESPACE::eps {

/// Quantizes a row of n numbers to a type, with one scale for each number: rounds to nearest and saturates. As in ONNX
/// Runtime, a number is multiplied by the reciprocal of its scale; a scale of 0 counts as 1.
void store_codes(dtype type, const float* row, const float* scales, std::int64_t n, std::byte* to);
/// Converts the joined rows of a quantized cache to a type that the loops read, [batch, heads, length, size]: int8, or
/// float16, which represents every number of float8e4m3fn.
result<key_rows> numbers_of_codes(run_context&, const key_rows& stored, std::int64_t size);
/// Returns the scales of each channel, [heads * size], of a tensor with one number or with a number for each channel.
result<const float*> channel_scales(run_context&, const value& scales, std::string_view name, bool per_channel,
                                    std::int64_t heads, std::int64_t size);
/// The number of elements that a row of `size` quantized values takes.
constexpr std::int64_t code_width(dtype type, std::int64_t size) { return type == dtype::u8 ? (size + 1) / 2 : size; }

/// Joins past and new rows as joined_keys() does, for quantized caches. The rows that are returned are quantized.
template <class P, class F>
result<key_rows> join_codes(run_context& c, const head_tensor& now, const past_heads& old, const P& past_of,
                            std::int64_t total, std::size_t output, const float* scales, const F& change) {
  const geometry::attention_heads& at = now.at;
  const dtype type = old.tensor.type;
  const std::int64_t width = code_width(type, at.size);
  const extents shape{at.batches, at.heads, total, width};
  const result<value*> present = optional_output(c, output, shape);
  if (!present) return present.error();
  if (status s = *present ? check_type("present", (*present)->type, type) : status{}; !s) return s;
  const auto to = *present ? result<std::byte*>{bytes_of(**present)} : scratch_of<std::byte>(c, shape);
  if (!to) return to.error();
  const auto make = [&](std::int64_t batch, std::int64_t i, std::int64_t head, float* buffer, std::byte* row) {
    now.load(batch, head, i, buffer);
    change(batch, i, head, buffer);
    store_codes(type, buffer, scales + head * at.size, at.size, row);
  };
  if (status s = join_made_rows<std::byte>(c, old, past_of, now, total, width, *to, make); !s) return s;
  return key_rows{*to, type, split_heads(at.batches, at.heads, total, width)};
}

}  // namespace CAMEO_NAMESPACE::eps
