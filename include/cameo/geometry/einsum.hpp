#pragma once
#include <cameo/geometry/broadcast.hpp>
#include <cameo/geometry/shape_pattern.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// The labels of an Einsum equation: its letters, A-Z and a-z, and the axes of the ellipsis, of which the innermost is
/// the last label.
inline constexpr std::size_t einsum_letters = 52;
/// The number of labels.
inline constexpr std::size_t einsum_labels = einsum_letters + max_rank;

/// One term of an equation: the labels of an operand's axes in order; `ellipsis` occurs at most once.
struct einsum_term {
  static constexpr std::uint8_t ellipsis = 255;
  std::uint8_t size = 0, labels[max_rank + 1]{};

  constexpr bool has(std::uint8_t label) const { return count_of(label) > 0; }
  /// Returns how often a label occurs.
  constexpr std::size_t count_of(std::uint8_t label) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) count += labels[i] == label;
    return count;
  }
  /// The number of letters.
  constexpr std::size_t letters() const { return size - std::size_t(has(ellipsis)); }
  /// Calls f(label, axis) for each axis of an operand of this rank, which is letters() or more.
  template <class F>
  constexpr void each_axis(std::size_t rank, F&& f) const {
    const std::size_t dots = rank - letters();
    std::size_t axis = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (labels[i] != ellipsis) f(std::size_t{labels[i]}, axis++);
      else
        for (std::size_t d = 0; d < dots; ++d) f(einsum_labels - dots + d, axis++);
    }
  }
};

/// Reads an equation: the terms of inputs, one after the other, and then that of the output. Blanks are left out. The
/// errors are those of the attribute equation. It refers to the text.
class einsum_equation {
 public:
  constexpr explicit einsum_equation(std::string_view text) : terms_{text} {
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
      if (text[i] == '-' && text[i + 1] == '>') {
        terms_ = {text.data(), i}, output_ = {text.data() + i + 2, text.size() - i - 2}, has_output_ = true;
        break;
      }
    rest_ = terms_;
  }
  /// The number of inputs' terms.
  constexpr std::size_t inputs() const {
    std::size_t count = 1;
    for (const char c : terms_) count += c == ',';
    return count;
  }
  /// Checks the number of inputs.
  constexpr status check_inputs(std::size_t count) const {
    if (inputs() == count) return {};
    return wrong_attribute("attribute equation has terms for ", inputs(), " inputs, must have ", count);
  }
  /// Reads the term of the next input.
  constexpr status read_input(einsum_term& term) {
    if (status s = parse(detail::take(rest_, ','), term); !s) return s;
    for (std::size_t i = 0; i < term.size; ++i) {
      if (term.labels[i] == einsum_term::ellipsis) has_dots_ = true;
      else if (uses_[term.labels[i]] < 2) ++uses_[term.labels[i]];
    }
    return {};
  }
  /// Reads the term of the output, after those of all inputs. Without an arrow it is the ellipsis, and the letters that
  /// occur once.
  constexpr status read_output(einsum_term& term) const {
    if (!has_output_) return imply(term);
    if (status s = parse(output_, term); !s) return s;
    for (std::size_t i = 0; i < term.size; ++i) {
      const std::uint8_t label = term.labels[i];
      if (label == einsum_term::ellipsis ? !has_dots_ : uses_[label] == 0)
        return wrong_attribute("attribute equation has ", name_of(label),
                               " in its output, must have it in an input, too");
      if (term.count_of(label) > 1)
        return wrong_attribute("attribute equation has ", name_of(label), " twice in its output, must have it once");
    }
    return {};
  }
  /// The letter of a label, or "...".
  static constexpr std::string_view name_of(std::size_t label) {
    constexpr std::string_view all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return label < einsum_letters ? std::string_view{all.data() + label, 1} : std::string_view{"..."};
  }

 private:
  static constexpr status parse(std::string_view text, einsum_term& term) {
    term = {};
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      std::uint8_t label = einsum_term::ellipsis;
      if (c == ' ') continue;
      if (c >= 'A' && c <= 'Z') label = std::uint8_t(c - 'A');
      else if (c >= 'a' && c <= 'z') label = std::uint8_t(c - 'a' + 26);
      else if (c == '.' && i + 2 < text.size() && text[i + 1] == '.' && text[i + 2] == '.') i += 2;
      else
        return wrong_attribute("attribute equation has '", std::string_view{text.data() + i, 1},
                               "', must have letters, ellipses, commas and an arrow only");
      if (term.size == max_rank + 1 || (label != einsum_term::ellipsis && term.letters() == max_rank))
        return wrong_rank<dim>("attribute equation has a term of more than ", max_rank, " letters");
      if (label == einsum_term::ellipsis && term.has(label))
        return wrong_attribute("attribute equation has two ellipses in a term, must have one at most");
      term.labels[term.size++] = label;
    }
    return {};
  }
  constexpr status imply(einsum_term& term) const {
    term = {};
    if (has_dots_) term.labels[term.size++] = einsum_term::ellipsis;
    for (std::size_t label = 0; label < einsum_letters; ++label) {
      if (uses_[label] != 1) continue;
      if (term.size == max_rank + 1)
        return wrong_rank<dim>("attribute equation implies an output of more than ", max_rank, " axes");
      term.labels[term.size++] = std::uint8_t(label);
    }
    return {};
  }

  std::string_view terms_, output_{}, rest_{};
  bool has_output_ = false, has_dots_ = false;
  std::uint8_t uses_[einsum_letters]{};
};

/// The sizes of an equation's labels, which operands determine. A size of 1 broadcasts, as in numpy, also that of a
/// letter.
template <size_kind D>
struct basic_einsum {
  D sizes_of[einsum_labels]{};
  bool is_used[einsum_labels]{};
  std::size_t dots = 0;     // the axes of the ellipsis
  bool is_complete = true;  // no operand has an unknown rank

  /// Adds an operand, whose shape may be unknown. The error is one of wrong(), with the operand's name.
  constexpr status add(const einsum_term& term, shape_view<D> shape, operand_name name);
  /// The shape of the output; unknown if that of an operand is. The error is one of wrong().
  constexpr result<output_shape<D>> output_of(const einsum_term& term) const;
};
/// The labels of an equation whose sizes are known.
using einsum = basic_einsum<std::int64_t>;

template <size_kind D>
constexpr status basic_einsum<D>::add(const einsum_term& term, shape_view<D> shape, operand_name name) {
  if (!shape) return is_complete = false, status{};
  const std::size_t letters = term.letters();
  const bool has_dots = term.has(einsum_term::ellipsis);
  if (has_dots ? shape.rank() < letters : shape.rank() != letters)
    return wrong<D>(name.text, name.number(), " has shape ", shape.sizes, " of rank ", shape.rank(),
                    ", must have rank ", letters, has_dots ? " or more" : "", ", as its term in the equation");
  if (shape.rank() - letters > max_rank)
    return wrong_rank<D>(name.text, name.number(), " has rank ", shape.rank(), ", must have rank ", max_rank,
                         " or less");
  if (dots < shape.rank() - letters) dots = shape.rank() - letters;
  std::size_t bad = shape.rank(), bad_label = 0;
  term.each_axis(shape.rank(), [&](std::size_t label, std::size_t axis) {
    if (bad < shape.rank()) return;
    D& size = sizes_of[label];
    D both = shape[axis];
    if (is_used[label] && !detail::broadcast_size(size, shape[axis], both)) bad = axis, bad_label = label;
    else size = both, is_used[label] = true;
  });
  if (bad == shape.rank()) return {};
  return wrong<D>(name.text, name.number(), " has ", shape[bad], " elements along axis ", bad, ", must have ",
                  sizes_of[bad_label], " or 1, as another axis of ", einsum_equation::name_of(bad_label));
}

template <size_kind D>
constexpr result<output_shape<D>> basic_einsum<D>::output_of(const einsum_term& term) const {
  if (!is_complete) return output_shape<D>{};
  const std::size_t rank = term.letters() + (term.has(einsum_term::ellipsis) ? dots : 0);
  if (status s = check_rank<D>(rank); !s) return s;
  output_shape<D> made{sizes<D>{}};
  term.each_axis(rank, [&](std::size_t label, std::size_t) { made.push_back(sizes_of[label]); });
  return made;
}

// Compiled in geometry/einsum.cpp, once for loading and once for running.
extern template struct basic_einsum<dim>;
extern template struct basic_einsum<std::int64_t>;

}  // namespace CAMEO_NAMESPACE::geometry
