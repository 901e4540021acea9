#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/linear_code.hpp>

#include "functions/quantized.hpp"

namespace CAMEO_NAMESPACE::eps {

inline const std::uint8_t* codes(const value& v) { return static_cast<const std::uint8_t*>(v.data); }
inline std::uint8_t* codes(value& v) { return static_cast<std::uint8_t*>(v.data); }

/// Calls f(std::type_identity<T>) for the type of codes of 8 bits.
template <class F>
decltype(auto) with_codes(dtype type, F&& f) {
  return type == dtype::i8 ? f(std::type_identity<std::int8_t>{}) : f(std::type_identity<std::uint8_t>{});
}

/// y[i] = the code of v[i].
void write_codes(const linear_code& to, const float* v, std::uint8_t* y, std::int64_t n);
/// The codes of f(what a byte stands for), for each byte; without f, of what it stands for.
code_table table_of(const linear_code& from, const linear_code& to, const activation& f = {});
/// Codes that a thread is worthwhile for.
inline constexpr std::int64_t codes_at_once = 1 << 15;

}  // namespace CAMEO_NAMESPACE::eps
