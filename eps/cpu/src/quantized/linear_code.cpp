#include "linear_code.hpp"

#include "code_rows.hpp"
#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads the scale and the zero point (which may be absent) of an operand.
result<linear_code> read_code(dtype type, const value& scale, const value& zero) {
  linear_code made{type, 1, 0};
  const auto check = [](std::string_view name, const value& v, dtype must) {
    const status s = check_type(name, v.type, must);
    return s ? check_count(name, v.shape.count(), 1) : s;
  };
  if (status s = check("the scale", scale, dtype::f32); !s) return s;
  made.scale = static_cast<const float*>(scale.data)[0];
  if (!zero) return made;
  if (status s = check("the zero point", zero, type); !s) return s;
  made.zero = code_of(type, codes(zero)[0]);
  return made;
}

}  // namespace

linear_code_inputs linear_code_inputs::bind(const bind_context& c, dtype type, std::size_t scale, std::size_t zero) {
  linear_code_inputs made{std::uint32_t(scale), std::uint32_t(zero), false, {}};
  if (!c.is_constant(scale) || (c.has_input(zero) && !c.is_constant(zero))) return made;
  const value* const s = c.constant(scale);
  const value* const z = c.has_input(zero) ? c.constant(zero) : nullptr;
  if (!s || (c.has_input(zero) && !z)) return made;
  // An error is reported by the run, as it is for scales that are not constant.
  if (const result<linear_code> known = read_code(type, *s, z ? *z : value{}))
    made.known = *known, made.is_known = true;
  return made;
}

result<linear_code> linear_code_inputs::read(run_context& c, dtype type) const {
  if (is_known) return known;
  return read_code(type, c.input(scale), c.has_input(zero) ? c.input(zero) : value{});
}

void write_codes(const linear_code& to, const float* v, std::uint8_t* y, std::int64_t n) {
  const auto zero = float(to.zero);
  const integer_range range = range_of(to.type);
  with_codes(to.type, [&]<class T>(std::type_identity<T>) {
    quantize_row(v, {&to.scale, &zero, 0}, float(range.low), float(range.high), reinterpret_cast<T*>(y), n);
  });
}

code_table table_of(const linear_code& from, const linear_code& to, const activation& f) {
  float meanings[256];
  for (int byte = 0; byte < 256; ++byte)
    meanings[byte] = float(code_of(from.type, std::uint8_t(byte)) - from.zero) * from.scale;
  apply_activation(f, meanings, 256);
  code_table table;
  write_codes(to, meanings, table.data(), 256);
  return table;
}

}  // namespace CAMEO_NAMESPACE::eps
