#pragma once
#include <cameo/core/refuse.hpp>
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE::detail {

/// The legal values of an attribute: see attribute_rule::values. The text that it is read from outlives it.
class legal_values {
 public:
  constexpr explicit legal_values(const char* text) : text_{text ? text : ""} {
    if (!text_.empty() && text_.back() == '|') may_be_empty_ = true, text_.remove_suffix(1);
    const std::size_t colon = text_.find(':');
    if (colon == std::string_view::npos) return;
    length_ = whole(first(colon));
    text_.remove_prefix(colon + 1);
  }

  constexpr bool has_length(std::size_t length) const { return length_ < 0 || std::uint64_t(length_) == length; }
  /// The number of elements that a list must have; negative for any.
  constexpr std::int64_t length() const { return length_; }

  /// Returns whether one number is legal. NaN never is.
  template <class N>
  constexpr bool has(N number) const {
    const std::size_t dots = text_.find("..");
    if (text_.empty()) return true;
    if (dots == std::string_view::npos) {
      for (std::string_view rest = text_; !rest.empty();) {
        const N legal = N(whole(next(rest)));
        if (legal <= number && number <= legal) return true;  // compilers warn of == between floats
      }
      return false;
    }
    const bool is_above = text_[dots - 1] == '<';
    const N least = N(whole(first(dots - is_above)));
    if (!(is_above ? number > least : number >= least)) return false;
    return dots + 2 == text_.size() || number <= N(whole(last(dots + 2)));
  }
  /// Returns whether one string is legal.
  constexpr bool has(std::string_view string) const {
    for (std::string_view rest = text_; !rest.empty();)
      if (next(rest) == string) return true;
    return text_.empty() || (may_be_empty_ && string.empty());
  }

  /// The number of a string among the legal ones, from 0 on; `otherwise` if it is not among them.
  constexpr std::uint8_t number_of(std::string_view string, std::uint8_t otherwise) const {
    std::uint8_t number = 0;
    for (std::string_view rest = text_; !rest.empty(); ++number)
      if (next(rest) == string) return number;
    return otherwise;
  }

  /// Writes what a value must be: "1 or more", "2, 4 or 8". Returns the end of what was written.
  constexpr char* write(char* to, char* end) const {
    const auto put = [&](auto... parts) { ((to = message_part{parts}.write(to, end)), ...); };
    const std::size_t dots = text_.find("..");
    if (dots == std::string_view::npos) {
      for (std::string_view rest = text_; !rest.empty();) {
        put(next(rest));
        if (!rest.empty()) put(rest.find('|') == std::string_view::npos ? " or " : ", ");
      }
    } else if (text_[dots - 1] == '<') {
      put("above ", first(dots - 1));
    } else if (dots + 2 == text_.size()) {
      put(first(dots), " or more");
    } else {
      put("from ", first(dots), " to ", last(dots + 2));
    }
    return to;
  }

 private:
  // std::string_view::substr() contains a throw.
  constexpr std::string_view first(std::size_t count) const { return {text_.data(), count}; }
  constexpr std::string_view last(std::size_t from) const { return {text_.data() + from, text_.size() - from}; }
  /// Takes the text before the next '|' from `rest`.
  static constexpr std::string_view next(std::string_view& rest) {
    const std::size_t bar = rest.find('|');
    const std::string_view found{rest.data(), bar == std::string_view::npos ? rest.size() : bar};
    rest.remove_prefix(found.size() == rest.size() ? rest.size() : found.size() + 1);
    return found;
  }
  static constexpr std::int64_t whole(std::string_view digits) {
    std::int64_t number = 0;
    for (const char c : digits)
      if (c != '-') number = number * 10 + (c - '0');
    return !digits.empty() && digits[0] == '-' ? -number : number;
  }

  std::string_view text_;
  std::int64_t length_ = -1;
  bool may_be_empty_ = false;
};

/// Checks the elements of a list, or a value as a list of one, against the legal values of `rule`.
template <class T>
constexpr status check_elements(const attribute_rule& rule, std::span<const T> values, std::string_view verb) {
  const legal_values legal{rule.values};
  const auto refused = [&](const auto&... parts) {
    return refuse(status_code::invalid_graph, "attribute ", rule.name, verb, parts...);
  };
  if (verb == " has " && !legal.has_length(values.size()))
    return refused(values.size(), " elements, must have ", legal.length());
  for (const T& element : values) {
    if (legal.has(element)) continue;
    if constexpr (!status::has_words) return status_code::invalid_graph;
    char list[200]{};
    const std::string_view must{list, std::size_t(legal.write(list, list + sizeof list) - list)};
    if constexpr (std::integral<T>) return refused(element, ", must be ", must);
    else if constexpr (std::floating_point<T>) return refused("a number that is not legal, must be ", must);
    else
      return refused("'", std::string_view{element.data(), element.size() < 64 ? element.size() : 64}, "', must be ",
                     must);
  }
  return {};
}

/// Checks an attribute of a node against the rule of its operator: the kind, and the values. INVALID_GRAPH, in words.
constexpr status check_attribute(const attribute_rule& rule, const attribute& a) {
  if (rule.kind != a.kind)
    return refuse(status_code::invalid_graph, "attribute ", rule.name, " is of type ",
                  attribute_kind_rows[std::size_t(a.kind)].name, ", must be ",
                  attribute_kind_rows[std::size_t(rule.kind)].name);
  if (!rule.values) return {};
  if (a.kind == attribute_kind::i) return check_elements<std::int64_t>(rule, {&a.i, 1}, " is ");
  if (a.kind == attribute_kind::f) return check_elements<float>(rule, {&a.f, 1}, " is ");
  if (a.kind == attribute_kind::s) return check_elements<std::string_view>(rule, {&a.s, 1}, " is ");
  if (a.kind == attribute_kind::ints) return check_elements<std::int64_t>(rule, a.ints, " has ");
  if (a.kind == attribute_kind::floats) return check_elements<float>(rule, a.floats, " has ");
  if (a.kind == attribute_kind::strings) return check_elements<std::string_view>(rule, a.strings, " has ");
  return {};
}

}  // namespace CAMEO_NAMESPACE::detail
