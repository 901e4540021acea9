#include "cast_rows.hpp"
#include "skeletons/float_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

namespace CAMEO_NAMESPACE::eps {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

/// The result for a number that is out of the range of double: infinity, or zero if it is tiny.
double beyond_double(std::string_view text) {
  const bool negative = text[0] == '-';
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(negative, e == std::string_view::npos ? e : e - negative);
  const bool tiny = e != std::string_view::npos ? e + 1 < text.size() && text[e + 1] == '-'
                                                : digits.find_first_of("123456789") > digits.find('.');
  const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -magnitude : magnitude;
}

template <class T>
bool parse_integer(std::string_view text, T& out) {
  const std::string_view word = without_blanks(text);
  const std::from_chars_result read = std::from_chars(word.data(), word.data() + word.size(), out);
  if (read.ec == std::errc{} && read.ptr == word.data() + word.size()) return true;
  double number = 0;
  if (!parse_number(text, number)) return false;
  out = as_element<T>(number);
  return true;
}

/// The number with the fewest digits that rounds to `number` in a type narrower than float.
float with_fewest_digits(dtype type, float number) {
  cast_state to_type;
  to_type.target = type;
  for (int digits = 0; digits < 4; ++digits) {
    char text[32];
    const char* const end = std::to_chars(text, std::end(text), number, std::chars_format::scientific, digits).ptr;
    float shorter = 0, back = 0;
    std::from_chars(text, end, shorter);
    std::uint16_t narrow = 0;
    write_wide(to_type, &shorter, &narrow, 0, 1);
    read_wide(type, &narrow, 0, &back, 1);
    if (back == number) return shorter;
  }
  return number;
}

/// Prints a number as numpy does: the fewest digits that read back as the same number, always with a point or an
/// exponent; with an exponent from `large` on, and below 0.0001.
template <class T>
std::size_t print_float(T number, T large, char* out) {
  const auto put = [out](std::string_view word) { return std::size_t(std::copy(word.begin(), word.end(), out) - out); };
  if (number != number) return put("nan");
  const T size = std::abs(number);
  const bool in_full = size == 0 || (double(size) >= 0.0001 && size < large);
  const auto form = in_full ? std::chars_format::fixed : std::chars_format::scientific;
  char* end = std::to_chars(out, out + 32, number, form).ptr;
  if (in_full && std::find(out, end, '.') == end) *end++ = '.', *end++ = '0';
  return std::size_t(end - out);
}

}  // namespace

bool parse_number(std::string_view text, double& out) {
  const std::string_view word = without_blanks(text);
  double number = 0;
  const std::from_chars_result read = std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ptr != word.data() + word.size() || read.ec == std::errc::invalid_argument) return false;
  out = read.ec == std::errc{} ? number : beyond_double(word);
  return true;
}
bool parse_number(std::string_view text, std::int64_t& out) { return parse_integer(text, out); }
bool parse_number(std::string_view text, std::uint64_t& out) { return parse_integer(text, out); }

std::size_t print_number(dtype, std::int64_t number, char* out) {
  return std::size_t(std::to_chars(out, out + 32, number).ptr - out);
}
std::size_t print_number(dtype, std::uint64_t number, char* out) {
  return std::size_t(std::to_chars(out, out + 32, number).ptr - out);
}
std::size_t print_number(dtype type, float number, char* out) {
  if (type == dtype::f16) return print_float(with_fewest_digits(type, number), 1e3f, out);
  if (type == dtype::bf16) number = with_fewest_digits(type, number);
  return print_float(number, 1e6f, out);
}
std::size_t print_number(dtype, double number, char* out) { return print_float(number, 1e16, out); }

}  // namespace CAMEO_NAMESPACE::eps
