#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <cstring>

#include "cast_rows.hpp"
#include "machine/past_caches.hpp"
#include "operands/outputs.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Calls write(first, n, to) for blocks of at most cast_block elements: it writes n elements of y from `first` on to
/// `to`.
template <class Write>
void write_blocks(run_context& c, const value& x, value& y, Write&& write) {
  const std::size_t bits = detail::row_of(y.type).bits;
  const bool large = bits % 8 == 0 && y.data != x.data && past_caches(y.bytes());
  parallel_for(c, y.shape.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    constexpr std::size_t block_bytes = cast_block * sizeof(double);
    past_caches_writer past;
    detail::stop_pace pace;
    alignas(64) std::byte block[block_bytes];
    for (const auto step = std::int64_t(block_bytes * 8 / bits); first < last && !c.stopped(pace); first += step) {
      const std::int64_t n = std::min(step, last - first);
      std::byte* const to = static_cast<std::byte*>(y.data) + std::size_t(first) * bits / 8;
      for (std::int64_t i = 0; i < n; i += cast_block)
        write(first + i, std::min(cast_block, n - i), (large ? block : to) + std::size_t(i) * bits / 8);
      if (large) past.write(to, block, std::size_t(n) * bits / 8);
    }
  });
}

template <class W>
status cast_numbers(const cast_state& how, run_context& c, const value& x, value& y) {
  const bool to_wide = how.target == dtype_of<W>;
  write_blocks(c, x, y, [&](std::int64_t first, std::int64_t n, std::byte* to) {
    W wide[cast_block];
    read_wide<W>(how.source, x.data, first, to_wide ? reinterpret_cast<W*>(to) : wide, n);
    if (!to_wide) write_wide<W>(how, wide, to, 0, n);
  });
  return {};
}

template <class W>
status parse_text(const cast_state& how, const value& x, value& y) {
  const auto* const texts = static_cast<const std::string_view*>(x.data);
  const std::int64_t count = x.shape.count();
  W wide[cast_block];
  for (std::int64_t first = 0; first < count; first += cast_block) {
    const std::int64_t n = std::min(cast_block, count - first);
    for (std::int64_t i = 0; i < n; ++i)
      if (!parse_number(texts[first + i], wide[i]))
        return bad_input("'", texts[first + i].substr(0, 64), "' (element ", first + i, ") is not a number");
    write_wide<W>(how, wide, y.data, first, n);
  }
  return {};
}

template <class W>
status print_text(const cast_state& how, run_context& c, const value& x, value& y) {
  auto* const texts = static_cast<std::string_view*>(y.data);
  const std::int64_t count = x.shape.count();
  W wide[cast_block];
  char digits[40];
  for (std::int64_t first = 0; first < count; first += cast_block) {
    const std::int64_t n = std::min(cast_block, count - first);
    read_wide<W>(how.source, x.data, first, wide, n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t length = print_number(how.source, wide[i], digits);
      const result<std::span<char>> text = c.text(length);
      if (!text) return text.error();
      std::memcpy(text->data(), digits, length);
      texts[first + i] = {text->data(), length};
    }
  }
  return {};
}

bool is_complex(dtype type) { return type == dtype::c64 || type == dtype::c128; }
bool is_integer(dtype type) {
  return (detail::bit_of(type) & (mask_of<bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                                          std::int32_t, std::int64_t> |
                                  mask_of<uint4, int4, uint2, int2>)) != 0;
}

/// `a`: the attributes of Cast, of which CastLike has a part.
status finish(bind_context& c, const op::cast_attributes& a, dtype to, cast_state& made) {
  made.source = c.inputs[0].type;
  made.target = to;
  made.direct = direct_cast_of(made.source, to);
  if (to == dtype::undefined || to >= dtype::count || is_complex(to) || is_complex(made.source))
    return refuse(status_code::not_implemented, "no cast from ", made.source, " to type ", std::int64_t(to));
  if (status same = check_output_type(c, to); !same) return same;
  made.saturate = a.saturate != 0, made.round = a.round_mode;
  if (detail::row_of(made.source).bits == detail::row_of(to).bits) c.may_overwrite(0, 0);
  return {};
}

/// Until opset 6, the attribute `to` was the name of a type in capitals.
dtype named_in_capitals(std::string_view name) {
  for (const detail::dtype_row& row : detail::elements::rows) {
    const std::string_view small = row.name;
    bool same = small.size() == name.size();
    for (std::size_t i = 0; same && i < name.size(); ++i)
      same = name[i] == small[i] || (name[i] >= 'A' && name[i] <= 'Z' && name[i] - 'A' + 'a' == small[i]);
    if (same) return row.id;
  }
  return dtype::undefined;
}

}  // namespace

result<cast> cast::bind(bind_context& c) {
  const attributes_of<op::Cast> a{c.attributes};
  dtype to = a.to > 0 && a.to < std::int64_t(dtype::count) ? dtype(a.to) : dtype::undefined;
  if (!a.to_string.empty()) to = named_in_capitals(a.to_string);
  cast made;
  if (status bound = finish(c, a, to, made); !bound) return bound;
  return made;
}
result<cast_like> cast_like::bind(bind_context& c) {
  cast_like made;
  if (status bound = finish(c, op::cast_attributes{c.attributes}, c.inputs[1].type, made); !bound) return bound;
  return made;
}

status cast_state::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> made = c.output(0, x.shape);
  if (!made) return made.error();
  value& y = **made;
  if (x.shape.count() == 0) return {};
  if (source == target) {
    copy_bytes(c, y.data, x.data, x.bytes());
    return {};
  }
  if (direct) {
    const std::size_t from_bytes = detail::row_of(source).bits / 8;
    write_blocks(c, x, y, [&](std::int64_t first, std::int64_t n, std::byte* to_bytes) {
      direct(static_cast<const std::byte*>(x.data) + std::size_t(first) * from_bytes, to_bytes, n);
    });
    return {};
  }
  if (source == dtype::string) {
    if (target == dtype::u64) return parse_text<std::uint64_t>(*this, x, y);
    return is_integer(target) ? parse_text<std::int64_t>(*this, x, y) : parse_text<double>(*this, x, y);
  }
  if (target == dtype::string) {
    if (source == dtype::u64) return print_text<std::uint64_t>(*this, c, x, y);
    if (source == dtype::f64) return print_text<double>(*this, c, x, y);
    return is_integer(source) ? print_text<std::int64_t>(*this, c, x, y) : print_text<float>(*this, c, x, y);
  }
  if (source == dtype::u64) return cast_numbers<std::uint64_t>(*this, c, x, y);
  if (source == dtype::f64) return cast_numbers<double>(*this, c, x, y);
  return is_integer(source) ? cast_numbers<std::int64_t>(*this, c, x, y) : cast_numbers<float>(*this, c, x, y);
}

}  // namespace CAMEO_NAMESPACE::eps
