#pragma once
#include <cameo/geometry/shape.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// An input of an operator: its formal name, and its shape, or nothing if the input is absent or its rank is unknown.
template <size_kind D>
struct named_shape {
  std::string_view name;
  shape_view<D> shape;
};

/// A name in patterns, and its size; or an attribute that is a list, and its length.
struct named_size {
  std::string_view name;
  std::int64_t size = 0;
};

/// Checks the shapes of inputs against `patterns`, which has one pattern for each formal input, separated by blanks; it
/// may have fewer than there are inputs. A pattern is one of
///
///   *                      any shape
///   1                      a tensor of one element
///   [batch,length,4]       a shape of this rank; a name stands for the same size in all patterns, `_` for any size
///   [batch,...]            more axes may follow; [...,width]: or come before
///   [heads*size,2*width]   products
///   [past+length]          sums
///   [batch?]               the size, or 1
///   [n,m]|[m]              either shape
///
/// After the patterns of inputs may stand lengths of the attributes in `lists`: "coefficients=targets*features|0".
///
/// The names in `known`, which are attributes, have their sizes from the start. Sizes that are unknown are not
/// compared. The error states the input, its shape and what it must be, with the sizes of all names that are known.
template <size_kind D>
constexpr status check_shapes(std::string_view patterns, std::span<const named_shape<D>> inputs,
                              std::span<const named_size> known, std::span<const named_size> lists = {});

namespace detail {
/// Takes the text before the next `separator` from `rest`. (std::string_view::substr() contains a throw.)
constexpr std::string_view take(std::string_view& rest, char separator) {
  std::size_t length = 0;
  while (length < rest.size() && rest[length] != separator) ++length;
  const std::string_view taken{rest.data(), length};
  rest.remove_prefix(length < rest.size() ? length + 1 : length);
  return taken;
}
/// Removes the brackets of a pattern.
constexpr std::string_view inside(std::string_view pattern) { return {pattern.data() + 1, pattern.size() - 2}; }
constexpr std::size_t elements_in(std::string_view list) {
  std::size_t count = 0;
  while (!list.empty()) take(list, ','), ++count;
  return count;
}

/// Whether a shape matches a pattern, as far as its sizes are known.
enum class matched : std::uint8_t { no, unknown, yes };

/// Compares shapes with patterns, one after the other, and collects the sizes of names on the way.
template <size_kind D>
class shape_matcher {
 public:
  constexpr explicit shape_matcher(std::span<const named_size> known) {
    for (const named_size& each : known) set(each.name, each.size);
  }

  /// True if a product or sum had more than one name without a size, so that another pass may find more.
  bool left_out = false;

  /// Compares one input with its pattern; the error states both.
  constexpr status check(const named_shape<D>& input, std::string_view pattern) {
    if (!input.shape) return {};
    const std::size_t before = count_;
    std::size_t fitting = 0, after = before;
    named_size first[most_names]{};
    for (std::string_view rest = pattern; !rest.empty(); count_ = before) {
      if (match(take(rest, '|'), input.shape) == matched::no) continue;
      if (fitting++ == 0) after = keep(first);
    }
    if (fitting == 0) return refused(input, pattern);
    if (fitting > 1 && !std::same_as<D, std::int64_t>) return {};  // it is open which sizes the names have
    for (std::size_t i = before; i < after; ++i) names_[i] = first[i];
    count_ = after;
    return {};
  }

  /// Compares the length of a list with its pattern; the error states both.
  constexpr status check(const named_size& list, std::string_view pattern) {
    for (std::string_view rest = pattern; !rest.empty();)
      if (match_size(take(rest, '|'), fixed<D>(list.size)) != matched::no) return {};
    if constexpr (!status::has_words) return wrong<D>();
    char words[100]{};
    char* end = words;
    while (!pattern.empty()) {
      end = write_size(take(pattern, '|'), end, words + sizeof words);
      if (!pattern.empty()) end = message_part{" or "}.write(end, words + sizeof words);
    }
    return wrong<D>("attribute ", list.name, " has ", list.size, " elements, must have ",
                    std::string_view{words, std::size_t(end - words)});
  }

 private:
  static constexpr std::size_t most_names = 20;

  constexpr std::size_t keep(named_size (&to)[most_names]) const {
    for (std::size_t i = 0; i < count_; ++i) to[i] = names_[i];
    return count_;
  }
  constexpr void set(std::string_view name, std::int64_t size) {
    if (count_ < most_names) names_[count_++] = {name, size};
  }
  /// The size of a name or number; null if it is unknown.
  constexpr const std::int64_t* find(std::string_view operand, std::int64_t& digits) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (names_[i].name == operand) return &names_[i].size;
    if (operand[0] < '0' || operand[0] > '9') return nullptr;
    digits = 0;
    for (const char c : operand) digits = digits * 10 + (c - '0');
    return &digits;
  }

  /// The value of a product or sum without its operands of unknown size; `open` is the last of those, `opens` their
  /// number. False if it overflows.
  constexpr bool evaluate(std::string_view element, std::int64_t& value, std::string_view& open,
                          std::size_t& opens) const {
    const bool adds = element.find('+') != std::string_view::npos;
    value = adds ? 0 : 1, opens = 0;
    while (!element.empty()) {
      std::int64_t digits = 0;
      const std::string_view operand = take(element, adds ? '+' : '*');
      const std::int64_t* const size = find(operand, digits);
      if (!size) open = operand, ++opens;
      else if (adds ? !checked_add(value, *size, value) : !checked_multiply(value, *size, value)) return false;
    }
    return true;
  }

  constexpr matched match_size(std::string_view element, D size) {
    if (element == "_") return matched::yes;
    if (!is_known(size)) return matched::unknown;
    const std::int64_t n = number_of(size);
    const bool may_be_one = element.back() == '?';
    if (may_be_one) element.remove_suffix(1);
    if (may_be_one && n == 1) return matched::yes;
    std::int64_t value = 0;
    std::string_view open;
    std::size_t opens = 0;
    if (!evaluate(element, value, open, opens)) return matched::no;
    if (opens == 0) return value == n ? matched::yes : matched::no;
    if (opens > 1) return left_out = true, matched::unknown;
    if (element.find('+') != std::string_view::npos) {
      if (n < value) return matched::no;
      return set(open, n - value), matched::yes;
    }
    if (value == 0) return n == 0 ? matched::unknown : matched::no;
    if (n % value != 0) return matched::no;
    return set(open, n / value), matched::yes;
  }

  constexpr matched match_one_element(shape_view<D> shape) const {
    matched all = matched::yes;
    for (const D size : shape.sizes) {
      if (!is_known(size)) all = matched::unknown;
      else if (number_of(size) != 1) return matched::no;
    }
    return all;
  }

  constexpr matched match(std::string_view pattern, shape_view<D> shape) {
    if (pattern == "*") return matched::yes;
    if (pattern == "1") return match_one_element(shape);
    std::string_view list = inside(pattern);
    const bool is_open = list.find("...") != std::string_view::npos;
    const std::size_t wanted = elements_in(list) - is_open;
    if (is_open ? shape.rank() < wanted : shape.rank() != wanted) return matched::no;
    matched all = matched::yes;
    for (std::size_t axis = 0; !list.empty();) {
      const std::string_view element = take(list, ',');
      if (element == "...") {
        axis += shape.rank() - wanted;
        continue;
      }
      const matched one = match_size(element, shape[axis++]);
      if (one == matched::no) return one;
      if (one == matched::unknown) all = one;
    }
    return all;
  }

  /// Writes a pattern with the sizes of the names that are known. Returns the end of what was written.
  constexpr char* write(std::string_view pattern, char* to, char* end) const {
    const auto put = [&](std::string_view part) { to = message_part{part}.write(to, end); };
    if (pattern == "1") return put("one element"), to;
    put("[");
    for (std::string_view list = inside(pattern); !list.empty();) {
      to = write_size(take(list, ','), to, end);
      if (!list.empty()) put(",");
    }
    put("]");
    return to;
  }
  /// Writes an element of a pattern, as a number if it is known.
  constexpr char* write_size(std::string_view element, char* to, char* end) const {
    const bool may_be_one = element.back() == '?';
    if (may_be_one) element.remove_suffix(1);
    std::int64_t value = 0;
    std::string_view open;
    std::size_t opens = 1;
    const bool is_number = element != "_" && element != "..." && evaluate(element, value, open, opens) && opens == 0;
    if (may_be_one) to = message_part{"1 or "}.write(to, end);
    if (is_number) return message_part{value}.write(to, end);
    return message_part{element == "_" ? std::string_view{"any"} : element}.write(to, end);
  }
  constexpr status refused(const named_shape<D>& input, std::string_view pattern) const {
    if constexpr (!status::has_words) return wrong<D>();
    char words[200]{};
    char* end = words;
    while (!pattern.empty()) {
      end = write(take(pattern, '|'), end, words + sizeof words);
      if (!pattern.empty()) end = message_part{" or "}.write(end, words + sizeof words);
    }
    return wrong<D>(input.name, " has shape ", input.shape.sizes, ", must be ",
                    std::string_view{words, std::size_t(end - words)});
  }

  using message_part = cameo::detail::message_part;
  named_size names_[most_names];
  std::size_t count_ = 0;
};
}  // namespace detail

template <size_kind D>
constexpr status check_shapes(std::string_view patterns, std::span<const named_shape<D>> inputs,
                              std::span<const named_size> known, std::span<const named_size> lists) {
  detail::shape_matcher<D> matcher{known};
  for (int pass = 0; pass < 2; ++pass) {
    matcher.left_out = false;
    std::string_view rest = patterns;
    for (std::size_t i = 0; !rest.empty(); ++i) {
      std::string_view pattern = detail::take(rest, ' ');
      status fits;
      if (pattern.find('=') == std::string_view::npos) {
        if (i < inputs.size()) fits = matcher.check(inputs[i], pattern);
      } else {
        const std::string_view name = detail::take(pattern, '=');
        for (const named_size& list : lists)
          if (list.name == name) fits = matcher.check(list, pattern);
      }
      if (!fits) return fits;
    }
    if (!matcher.left_out) break;
  }
  return {};
}

// Compiled in geometry/shape_pattern.cpp, once for loading and once for running.
extern template status check_shapes(std::string_view, std::span<const named_shape<dim>>, std::span<const named_size>,
                                    std::span<const named_size>);
extern template status check_shapes(std::string_view, std::span<const named_shape<std::int64_t>>,
                                    std::span<const named_size>, std::span<const named_size>);

}  // namespace CAMEO_NAMESPACE::geometry
