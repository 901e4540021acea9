#include "program/compare.hpp"

#include <cameo/core/elements.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <vector>

namespace cameo::program {
namespace {

std::string_view kind_name(value_kind kind) {
  static constexpr std::string_view names[] = {"nothing", "a tensor", "a sequence", "a map", "a sparse tensor"};
  return names[std::size_t(kind)];
}

std::string type_text(const value& v) {
  return fmt::format("{}[{}]", detail::row_of(v.type).name, fmt::join(v.shape.dims(), ","));
}

std::string position_text(std::int64_t flat, const extents& shape) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t i = shape.rank(); i-- > 0; flat /= shape[i]) index[i] = flat % shape[i];
  return fmt::format("[{}]", fmt::join(index, ","));
}

/// Element `i` of a tensor with `bits` bits per element; the first element is in the lowest bits of a byte.
unsigned packed_at(const void* data, std::int64_t i, unsigned bits) {
  const std::size_t at = std::size_t(i) * bits;
  return unsigned(static_cast<const std::uint8_t*>(data)[at / 8]) >> (at % 8) & ((1u << bits) - 1);
}
template <dtype Id>
auto packed_at(const void* data, std::int64_t i, packed<Id>) {
  const unsigned stored = packed_at(data, i, bits_of(Id));
  const auto as = [&](detail::float_format format) { return double(detail::widen(std::uint16_t(stored), format)); };
  if constexpr (Id == dtype::f4e2m1) return as(detail::float4e2m1_format);
  else if constexpr (Id == dtype::f6e2m3) return as(detail::float6e2m3_format);
  else if constexpr (Id == dtype::f6e3m2) return as(detail::float6e3m2_format);
  else if constexpr (Id == dtype::u4 || Id == dtype::u2) return std::uint64_t(stored);
  else return stored >> (bits_of(Id) - 1) ? std::int64_t(stored) - (1 << bits_of(Id)) : std::int64_t(stored);
}
/// Element `i` as the widest type of its kind: int64, uint64, double or complex<double>.
template <class T>
auto wide_at(const void* data, std::int64_t i) {
  const auto element = [&] { return static_cast<const T*>(data)[i]; };
  if constexpr (std::is_empty_v<T>) return packed_at(data, i, T{});
  else if constexpr (std::signed_integral<T>) return std::int64_t(element());
  else if constexpr (std::integral<T>) return std::uint64_t(element());
  else if constexpr (std::same_as<T, double>) return element();
  else if constexpr (requires(T c) { c.im; }) return std::complex<double>{double(element().re), double(element().im)};
  else return double(float(element()));
}

double error_of(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  return std::isnan(got) || std::isnan(expected) ? INFINITY : std::abs(got - expected);
}
double error_of(std::complex<double> got, std::complex<double> expected) {
  const double re = error_of(got.real(), expected.real()), im = error_of(got.imag(), expected.imag());
  return std::hypot(re, im);
}

// Large integers that differ may be equal after conversion to double. 1e-300 makes the error of a difference nonzero.
double error_of(std::int64_t a, std::int64_t b) { return std::abs(double(a) - double(b)) + (a != b ? 1e-300 : 0); }
double error_of(std::uint64_t a, std::uint64_t b) { return std::abs(double(a) - double(b)) + (a != b ? 1e-300 : 0); }

/// Compares two tensors of the same type and shape. `at(data, i)` returns element i as a number, `limit(expected)` the
/// largest error that is allowed.
template <class At, class Limit>
comparison compare_numbers(const value& got, const value& expected, At at, Limit limit) {
  comparison found;
  std::int64_t wrong = 0, worst = -1;
  double worst_error = -1;
  const std::int64_t count = expected.shape.count();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto a = at(got.data, i), b = at(expected.data, i);
    const double error = error_of(a, b);
    if (error == 0) continue;
    found.largest_error = std::max(found.largest_error, error);
    if (std::isfinite(error) && error <= limit(b)) continue;
    ++wrong;
    if (error > worst_error) worst = i, worst_error = error;
  }
  if (wrong == 0) return found;
  const auto text = [](auto number) {
    if constexpr (requires { number.imag(); }) return fmt::format("{:.8g}{:+.8g}i", number.real(), number.imag());
    else if constexpr (std::is_floating_point_v<decltype(number)>) return fmt::format("{:.8g}", number);
    else return fmt::format("{}", number);
  };
  found.difference = fmt::format("{} of {} elements differ, largest error {:.4g} at {}: got {}, expected {}", wrong,
                                 count, worst_error, position_text(worst, expected.shape), text(at(got.data, worst)),
                                 text(at(expected.data, worst)));
  return found;
}

template <class At>
comparison compare_within(const value& got, const value& expected, tolerance allowed, At at) {
  return compare_numbers(got, expected, at, [allowed](auto b) { return allowed.atol + allowed.rtol * std::abs(b); });
}
/// Compares integers and booleans: exactly, unless the tolerance applies to integers, too.
template <class At>
comparison compare_wholes(const value& got, const value& expected, tolerance allowed, At at) {
  const bool exactly = !allowed.of_integers || expected.type == dtype::boolean;
  return compare_numbers(got, expected, at, [allowed, exactly](auto b) {
    return exactly ? -1.0 : allowed.atol + allowed.rtol * std::abs(double(b));
  });
}

comparison compare_strings(const value& got, const value& expected) {
  const auto a = got.as_unchecked<std::string_view>(), b = expected.as_unchecked<std::string_view>();
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < b.count(); ++i)
    if (a[i] != b[i] && wrong++ == 0) first = i;
  if (wrong == 0) return {};
  return {fmt::format("{} of {} strings differ, the first at {}: got '{}', expected '{}'", wrong, b.count(),
                      position_text(first, expected.shape), a[first], b[first])};
}

comparison compare_elements(const value& got, const value& expected, tolerance allowed) {
  if (expected.type == dtype::bf16) allowed.rtol = std::max(allowed.rtol, 0x1p-6);
  const comparison no_type{"elements of an undefined type"};
  return detail::all_elements::visit(expected.type, no_type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::same_as<T, std::string_view>) return compare_strings(got, expected);
    else if constexpr (std::integral<decltype(wide_at<T>(nullptr, 0))>)
      return compare_wholes(got, expected, allowed, wide_at<T>);
    else return compare_within(got, expected, allowed, wide_at<T>);
  });
}

comparison compare_tensors(const value& got, const value& expected, const tolerance& allowed) {
  if (got.type != expected.type || !(got.shape == expected.shape))
    return {fmt::format("got {}, expected {}", type_text(got), type_text(expected))};
  return compare_elements(got, expected, allowed);
}

comparison compare_parts(const value& got, const value& expected, const tolerance& allowed) {
  if (got.parts.size() != expected.parts.size())
    return {fmt::format("got {} elements, expected {}", got.parts.size(), expected.parts.size())};
  comparison all;
  for (std::size_t i = 0; i < expected.parts.size(); ++i) {
    comparison one = compare(got.parts[i], expected.parts[i], allowed);
    all.largest_error = std::max(all.largest_error, one.largest_error);
    if (!one && all.difference.empty()) all.difference = fmt::format("element {}: {}", i, one.difference);
  }
  return all;
}

/// One element of a one-dimensional tensor, as a separate tensor of shape [1] that borrows the memory.
value element_of(const value& v, std::int64_t i) {
  return value::tensor(v.type, extents{1},
                       static_cast<const std::byte*>(v.data) + i * (detail::row_of(v.type).bits / 8));
}

comparison compare_maps(const value& got, const value& expected, const tolerance& allowed) {
  if (got.parts.size() != 2 || expected.parts.size() != 2) return {"a map without keys and values"};
  const value &keys = expected.parts[0], &values = expected.parts[1];
  if (got.parts[0].type != keys.type || !(got.parts[0].shape == keys.shape) || keys.shape.rank() != 1)
    return {fmt::format("keys: got {}, expected {}", type_text(got.parts[0]), type_text(keys))};
  if (compare(got.parts[0], keys, allowed)) return compare(got.parts[1], values, allowed);
  if (got.parts[1].type != values.type || !(got.parts[1].shape == values.shape) || values.shape.rank() != 1)
    return {fmt::format("values: got {}, expected {}", type_text(got.parts[1]), type_text(values))};
  comparison all;
  for (std::int64_t i = 0; i < keys.shape[0]; ++i) {  // a map has no order
    std::int64_t at = 0;
    while (at < keys.shape[0] && !compare(element_of(got.parts[0], at), element_of(keys, i), allowed)) ++at;
    if (at == keys.shape[0]) return {fmt::format("key {} is missing", i)};
    comparison one = compare(element_of(got.parts[1], at), element_of(values, i), allowed);
    all.largest_error = std::max(all.largest_error, one.largest_error);
    if (!one && all.difference.empty()) all.difference = fmt::format("the value of key {}: {}", i, one.difference);
  }
  return all;
}

comparison compare_sparse(const value& got, const value& expected, const tolerance& allowed) {
  if (got.type != expected.type || !(got.shape == expected.shape))
    return {fmt::format("got sparse {}, expected sparse {}", type_text(got), type_text(expected))};
  if (got.parts.size() != 2 || expected.parts.size() != 2) return {"a sparse tensor without values and indices"};
  comparison indices = compare(got.parts[1], expected.parts[1], allowed);
  if (!indices) return {"indices: " + indices.difference, indices.largest_error};
  return compare(got.parts[0], expected.parts[0], allowed);
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t bits) {
  for (int byte = 0; byte < 8; ++byte, bits >>= 8) hash = (hash ^ (bits & 0xFF)) * 1099511628211u;
  return hash;
}
std::uint64_t mixed(std::uint64_t hash, std::int64_t number) { return mixed(hash, std::uint64_t(number)); }
std::uint64_t mixed(std::uint64_t hash, double number) {
  return mixed(hash, std::bit_cast<std::uint64_t>(std::isnan(number) ? std::nan("") : number));
}
std::uint64_t mixed(std::uint64_t hash, std::complex<double> number) {
  return mixed(mixed(hash, number.real()), number.imag());
}

}  // namespace

std::uint64_t hash_of(const value& v, std::uint64_t hash) {
  hash = mixed(mixed(hash, std::uint64_t(v.kind)), std::uint64_t(v.type));
  for (const std::int64_t d : v.shape.dims()) hash = mixed(hash, d);
  for (const value& part : v.parts) hash = hash_of(part, hash);
  if (v.kind != value_kind::tensor) return hash;
  if (v.type == dtype::string) {
    for (const std::string_view text : v.as_unchecked<std::string_view>().span())
      for (const char letter : text) hash = mixed(hash, std::uint64_t(static_cast<unsigned char>(letter)));
    return hash;
  }
  detail::all_elements::call(v.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, std::string_view>)
      for (std::int64_t i = 0; i < v.shape.count(); ++i) hash = mixed(hash, wide_at<T>(v.data, i));
  });
  return hash;
}

comparison compare(const value& got, const value& expected, const tolerance& allowed) {
  if (got.kind != expected.kind)
    return {fmt::format("got {}, expected {}", kind_name(got.kind), kind_name(expected.kind))};
  switch (expected.kind) {
    case value_kind::none: return {};
    case value_kind::tensor: return compare_tensors(got, expected, allowed);
    case value_kind::sequence: return compare_parts(got, expected, allowed);
    case value_kind::map: return compare_maps(got, expected, allowed);
    case value_kind::sparse_tensor: return compare_sparse(got, expected, allowed);
  }
  return {"a value of an unknown kind"};
}

comparison compare_samples(const value& got, const value& expected) {
  const auto numbers = [](const value& v) {
    std::vector<double> all;
    detail::all_elements::call(v.type, [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_same_v<T, std::string_view>)
        if constexpr (std::convertible_to<decltype(wide_at<T>(nullptr, 0)), double>)
          for (std::int64_t i = 0; i < v.shape.count(); ++i) all.push_back(double(wide_at<T>(v.data, i)));
    });
    std::erase_if(all, [](double x) { return std::isnan(x); });
    std::sort(all.begin(), all.end());
    return all;
  };
  if (got.kind != value_kind::tensor || expected.kind != value_kind::tensor || got.type != expected.type ||
      !std::ranges::equal(got.shape.dims(), expected.shape.dims()))
    return compare(got, expected, {});
  const std::vector<double> a = numbers(got), b = numbers(expected);
  if (a.empty() || b.empty()) return a.empty() == b.empty() ? comparison{} : comparison{"only one has numbers"};
  comparison found;
  const double n = double(a.size()), m = double(b.size());
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double at = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= at) ++i;
    while (j < b.size() && b[j] <= at) ++j;
    found.largest_error = std::max(found.largest_error, std::abs(double(i) / n - double(j) / m));
  }
  constexpr double one_of_a_million = 1e-6;
  const double most = std::sqrt(-0.5 * std::log(one_of_a_million / 2) * (n + m) / (n * m));
  if (found.largest_error > most)
    found.difference = fmt::format("random numbers of another distribution: distance {:.4g}, where {:.4g} is possible",
                                   found.largest_error, most);
  return found;
}

}  // namespace cameo::program
