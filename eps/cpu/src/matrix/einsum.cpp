#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/einsum.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "machine/parallel_rows.hpp"
#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::size_t label_count = einsum::letters + max_rank;  // the labels of the ellipsis' axes come last

/// Parses one term of the equation: letters, and an ellipsis.
status parse_term(std::string_view text, einsum::term& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    std::uint8_t label = einsum::ellipsis;
    if (c >= 'A' && c <= 'Z') label = std::uint8_t(c - 'A');
    else if (c >= 'a' && c <= 'z') label = std::uint8_t(c - 'a' + 26);
    else if (text.substr(i, 3) == "...") i += 2;
    else
      return bad_attribute("equation has '", text.substr(i, 1), "', which is not a letter, ellipsis, comma or arrow");
    if (status s = check_fits("a term of equation", out.size < std::size(out.labels)); !s) return s;
    for (std::size_t k = 0; k < out.size; ++k)
      if (label == einsum::ellipsis && out.labels[k] == label)
        return bad_attribute("equation has two ellipses in one term");
    out.labels[out.size++] = label;
  }
  return {};
}

/// The output of an equation without an arrow: the axes of the ellipsis, then the letters that occur once, in
/// alphabetical order.
status implied_output(std::span<const einsum::term> inputs, einsum::term& out) {
  int uses[einsum::letters] = {};
  bool dots = false;
  for (const einsum::term& t : inputs)
    for (std::size_t i = 0; i < t.size; ++i) {
      if (t.labels[i] == einsum::ellipsis) dots = true;
      else ++uses[t.labels[i]];
    }
  if (dots) out.labels[out.size++] = einsum::ellipsis;
  for (std::size_t l = 0; l < einsum::letters; ++l) {
    if (uses[l] != 1) continue;
    if (status s = check_fits("the output of equation", out.size < std::size(out.labels)); !s) return s;
    out.labels[out.size++] = std::uint8_t(l);
  }
  return {};
}
status check_output(std::span<const einsum::term> inputs, const einsum::term& out) {
  for (std::size_t i = 0; i < out.size; ++i) {
    bool found = false;
    for (const einsum::term& t : inputs)
      for (std::size_t k = 0; k < t.size; ++k) found = found || t.labels[k] == out.labels[i];
    if (!found) return bad_attribute("equation has a label in its output that no input has");
    for (std::size_t k = 0; k < i; ++k)
      if (out.labels[k] == out.labels[i]) return bad_attribute("equation has a letter twice in its output");
  }
  return {};
}

/// The loops of one run: sizes by label, and strides by input and label. A label is a letter, or an axis of the
/// ellipsis.
struct einsum_loops {
  std::size_t inputs = 0, dots = 0;  // `dots`: the axes of the ellipsis
  std::int64_t sizes[label_count];   // -1: the label is not used
  std::int64_t steps[einsum::max_inputs][label_count];
  bool has[einsum::max_inputs][label_count], repeats = false, broadcasts = false;
  std::uint8_t out[max_rank], summed[label_count];
  std::size_t out_rank = 0, summed_count = 0;
  extents shape;
  std::int64_t terms = 1;  // the number of terms of each sum

  status make(const einsum& e, const run_context& c) {
    inputs = e.inputs.size();
    std::fill_n(sizes, label_count, -1);
    for (std::size_t i = 0; i < inputs; ++i) {
      if (status s = usable_sizes("an input", c.input(i).shape); !s) return s;
      const std::size_t rank = c.input(i).shape.rank();
      const std::size_t named = e.inputs[i].size - std::size_t(has_dots(e.inputs[i]));
      const std::size_t most = has_dots(e.inputs[i]) ? max_rank : named;
      if (status s = check_rank("an input", c.input(i).shape, named, most); !s) return s;
      dots = std::max(dots, rank - named);
    }
    for (std::size_t i = 0; i < inputs; ++i)
      if (status placed = place(e.inputs[i], c.input(i).shape, i); !placed) return placed;
    for (std::size_t i = 0; i < inputs; ++i)  // after place() has set all sizes
      each_axis(e.inputs[i], c.input(i).shape.rank(), [&](std::size_t label, std::size_t axis) {
        broadcasts = broadcasts || c.input(i).shape[axis] != sizes[label];
      });
    bool shown[label_count] = {};
    for (std::size_t k = 0; k < e.output.size; ++k) {
      const bool all = e.output.labels[k] == einsum::ellipsis;
      for (std::size_t d = 0; d < (all ? dots : 1); ++d) {
        if (status s = check_fits("the output", out_rank < max_rank); !s) return s;
        const std::size_t label = all ? einsum::letters + d : e.output.labels[k];
        out[out_rank++] = std::uint8_t(label), shown[label] = true;
        shape.push_back(sizes[label]);
      }
    }
    for (std::size_t l = 0; l < label_count; ++l)
      if (sizes[l] >= 0 && !shown[l]) summed[summed_count++] = std::uint8_t(l);
    return count_terms();
  }

  /// Calls f(label, axis) for each axis of an input.
  template <class F>
  void each_axis(const einsum::term& t, std::size_t rank, F&& f) const {
    std::size_t axis = 0;
    for (std::size_t k = 0; k < t.size; ++k) {
      if (t.labels[k] != einsum::ellipsis) {
        f(std::size_t{t.labels[k]}, axis++);
        continue;
      }
      const std::size_t covered = rank - (t.size - 1u);
      for (std::size_t d = 0; d < covered; ++d) f(einsum::letters + dots - covered + d, axis++);
    }
  }

 private:
  status count_terms() {
    bool zero = false;
    for (std::size_t s = 0; s < summed_count; ++s) zero = zero || sizes[summed[s]] == 0;
    for (std::size_t s = 0; s < summed_count && !zero; ++s)
      if (status fits = check_fits("a sum", checked_multiply(terms, sizes[summed[s]], terms)); !fits) return fits;
    if (zero) terms = 0;
    return {};
  }
  static bool has_dots(const einsum::term& t) {
    return std::find(t.labels, t.labels + t.size, einsum::ellipsis) != t.labels + t.size;
  }
  status place(const einsum::term& t, const extents& in, std::size_t i) {
    std::fill_n(steps[i], label_count, 0);
    std::fill_n(has[i], label_count, false);
    const extents strides = row_major_strides(in);
    status done;
    each_axis(t, in.rank(), [&](std::size_t label, std::size_t axis) {
      std::int64_t& size = sizes[label];
      if (size >= 0 && size != in[axis] && size != 1 && in[axis] != 1 && done)
        done = bad_input("input ", i, " ", in, " has ", in[axis], " where another axis of the same letter has ", size);
      if (size < 0 || size == 1) size = in[axis];
      repeats = repeats || has[i][label];
      has[i][label] = true;
      if (in[axis] != 1) steps[i][label] += strides[axis];
    });
    return done;
  }
};

/// Computes outputs one by one. C is the type of products: float, double, or std::uint64_t for integers.
template <class T, class C>
void sum_directly(run_context& c, const einsum_loops& loops, const T* const* in, T* y) {
  const std::int64_t terms = loops.terms;
  const std::int64_t work = std::clamp<std::int64_t>(terms, 1, 1 << 14);
  using sum_type = std::conditional_t<std::is_same_v<C, float>, double, C>;
  parallel_each_row(c, loops.shape.count(), (1 << 14) / work, [&](std::int64_t o, std::size_t) {
    std::int64_t at[einsum::max_inputs] = {}, rest = o, index[label_count] = {};
    for (std::size_t k = loops.out_rank; k-- > 0;) {
      const std::int64_t size = loops.sizes[loops.out[k]];
      for (std::size_t i = 0; i < loops.inputs; ++i) at[i] += rest % size * loops.steps[i][loops.out[k]];
      rest /= size;
    }
    sum_type sum = 0;
    for (std::int64_t t = 0; t < terms; ++t) {
      C product = C(widened(in[0][at[0]]));
      for (std::size_t i = 1; i < loops.inputs; ++i) product = C(product * C(widened(in[i][at[i]])));
      sum = sum_type(sum + sum_type(product));
      for (std::size_t s = loops.summed_count; s-- > 0;) {
        const std::uint8_t label = loops.summed[s];
        const bool wraps = ++index[s] == loops.sizes[label];
        const std::int64_t step = wraps ? 1 - loops.sizes[label] : 1;
        for (std::size_t i = 0; i < loops.inputs; ++i) at[i] += step * loops.steps[i][label];
        if (!wraps) break;
        index[s] = 0;
      }
    }
    if constexpr (is_narrow_float<T>) y[o] = T(float(sum));
    else y[o] = T(sum);
  });
}

/// The labels of an equation that is a batched matrix product, by role: batch, rows, columns, and the summed axis. Each
/// role may have several labels.
struct product_axes {
  std::uint8_t labels[4][label_count];
  std::size_t counts[4] = {};
  std::int64_t sizes[4] = {1, 1, 1, 1};

  /// Assigns labels to roles; false if the equation is not a matrix product.
  bool make(const einsum_loops& l) {
    if (l.inputs != 2 || l.repeats || l.broadcasts) return false;
    bool shown[label_count] = {};
    for (std::size_t k = 0; k < l.out_rank; ++k) shown[l.out[k]] = true;
    for (std::size_t label = 0; label < label_count; ++label) {
      if (l.sizes[label] < 0) continue;
      const bool a = l.has[0][label], b = l.has[1][label];
      if (!shown[label] && !(a && b)) return false;
      const std::size_t role = !shown[label] ? 3 : a && b ? 0 : a ? 1 : 2;
      labels[role][counts[role]++] = std::uint8_t(label);
      if (!checked_multiply(sizes[role], l.sizes[label], sizes[role])) return false;
    }
    return true;
  }
};

/// True if the elements of input i are in the order [batch..., first..., second...].
bool has_order(const einsum_loops& l, const product_axes& p, std::size_t i, std::int64_t count, std::size_t first,
               std::size_t second) {
  for (const std::size_t role : {std::size_t{0}, first, second})
    for (std::size_t k = 0; k < p.counts[role]; ++k) {
      const std::uint8_t label = p.labels[role][k];
      count /= l.sizes[label];
      if (l.sizes[label] != 1 && l.steps[i][label] != count) return false;
    }
  return true;
}

/// Input i in the order [batch..., first..., second...]: in place, or copied to scratch memory.
result<const void*> gather_operand(run_context& c, const einsum_loops& l, const product_axes& p, std::size_t i,
                                   std::size_t first, std::size_t second) {
  const value& from = c.input(i);
  if (has_order(l, p, i, from.shape.count(), first, second)) return static_cast<const void*>(from.data);
  const result<std::span<std::byte>> to = c.scratch<std::byte>(from.bytes());
  if (!to) return to.error();
  strided_copy copy{element_bytes(from.type)};
  std::int64_t step = from.shape.count();
  for (const std::size_t role : {std::size_t{0}, first, second})
    for (std::size_t k = 0; k < p.counts[role]; ++k) {
      const std::uint8_t label = p.labels[role][k];
      step /= l.sizes[label];
      copy.loop(l.sizes[label], l.steps[i][label], step);
    }
  copy.run(c, from.data, to->data());
  return static_cast<const void*>(to->data());
}

/// Multiplies A [batch, rows, summed] by B [batch, summed, columns], or by a transposed B [batch, columns, summed],
/// with elements of type T.
template <class T>
status multiply_operands(run_context& c, const product_axes& p, const void* a, const void* b, bool transposed,
                         gemm_number<T>* sums) {
  const std::int64_t batches = p.sizes[0], m = p.sizes[1], n = p.sizes[2], k = p.sizes[3];
  const auto offsets = c.scratch<std::int64_t>(2 * std::size_t(batches));
  if (!offsets) return offsets.error();
  for (std::int64_t i = 0; i < batches; ++i) offsets->data()[i] = i * m * k, offsets->data()[batches + i] = i * k * n;
  gemm_problem<gemm_number<T>, T> product{
      m, n, k, {}, {static_cast<const T*>(b), transposed ? 1 : n, transposed ? k : 1}, nullptr, sums};
  product.a = {number_source<gemm_number<T>, elements_like<T>>::make(static_cast<const T*>(a)), k, 1};
  product.a_offsets = offsets->first(std::size_t(batches)), product.b_offsets = offsets->last(std::size_t(batches));
  return multiply(c, product);
}

/// Computes a matrix product in C, and converts and permutes it to the output.
template <class C>
status multiply_as(run_context& c, const einsum_loops& l, const product_axes& p) {
  const result<value*> y = c.output(0, l.shape);
  if (!y) return y.error();
  const std::int64_t count = l.shape.count();
  if (count == 0) return {};
  const std::size_t bytes = element_bytes((*y)->type);
  if (p.sizes[3] == 0) return std::memset((*y)->data, 0, std::size_t(count) * bytes), status{};
  const bool transposed = has_order(l, p, 1, c.input(1).shape.count(), 2, 3);
  const result<const void*> a = gather_operand(c, l, p, 0, 1, 3),
                            b = gather_operand(c, l, p, 1, transposed ? 2 : 3, transposed ? 3 : 2);
  const auto sums = c.scratch<C>(std::size_t(count));
  if (!a || !b || !sums) return status_code::out_of_memory;
  status done;
  float_elements::call(c.input(0).type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<gemm_number<T>, C>)
      done = multiply_operands<T>(c, p, *a, *b, transposed, sums->data());
  });
  if (!done) return done;
  // The sums, [batch, rows, columns], are rounded to the output's type, and then permuted to its order of axes.
  const void* made = sums->data();
  if ((*y)->type != dtype_of<C>) {
    const auto rounded = c.scratch<std::byte>(std::size_t(count) * bytes);
    if (!rounded) return rounded.error();
    store_floats(c, sums->data(), (*y)->type, rounded->data(), count);
    made = rounded->data();
  }
  const extents to = row_major_strides(l.shape);
  strided_copy copy{bytes};
  std::int64_t step = count;
  for (std::size_t role = 0; role < 3; ++role)
    for (std::size_t i = 0; i < p.counts[role]; ++i) {
      const std::uint8_t label = p.labels[role][i];
      step /= l.sizes[label];
      const std::size_t axis = std::size_t(std::find(l.out, l.out + l.out_rank, label) - l.out);
      copy.loop(l.sizes[label], step, to[axis]);
    }
  return copy.run(c, made, (*y)->data), status{};
}

}  // namespace

result<einsum> einsum::bind(bind_context& c) {
  const std::string_view equation = attributes_of<op::Einsum>{c.attributes}.equation;
  constexpr std::string_view arrow_text = "->";
  const std::size_t arrow = equation.find(arrow_text);
  const std::string_view left = equation.substr(0, arrow);
  std::size_t count = 1 + std::size_t(std::count(left.begin(), left.end(), ','));
  if (count != c.inputs.size()) return bad_attribute("equation has ", count, " terms for ", c.inputs.size(), " inputs");
  if (count > max_inputs) return refuse(status_code::not_implemented, "more than ", max_inputs, " inputs");
  const result<std::span<term>> terms = c.keep<term>(count);
  if (!terms) return terms.error();
  std::size_t start = 0;
  for (term& t : *terms) {
    t = {};
    const std::size_t end = std::min(left.find(',', start), left.size());
    if (status parsed = parse_term(left.substr(start, end - start), t); !parsed) return parsed;
    start = end + 1;
  }
  einsum made;
  made.inputs = *terms;
  if (arrow == std::string_view::npos) {
    if (status implied = implied_output(made.inputs, made.output); !implied) return implied;
  } else {
    if (status parsed = parse_term(equation.substr(arrow + 2), made.output); !parsed) return parsed;
  }
  if (status fine = check_output(made.inputs, made.output); !fine) return fine;
  return made;
}

status einsum::run(run_context& c) const {
  einsum_loops loops;
  if (status made = loops.make(*this, c); !made) return made;
  const dtype type = c.input(0).type;
  const bool floats = type == dtype::f32 || type == dtype::f64 || type == dtype::f16 || type == dtype::bf16;
  product_axes axes;
  if (floats && axes.make(loops))
    return type == dtype::f64 ? multiply_as<double>(c, loops, axes) : multiply_as<float>(c, loops, axes);
  const result<value*> y = c.output(0, loops.shape);
  if (!y) return y.error();
  if (loops.shape.count() == 0) return {};
  elements::call(type, [&]<class T>(std::type_identity<T>) {
    using C = std::conditional_t<std::is_integral_v<T>, std::uint64_t, computed_in<T>>;
    const T* in[max_inputs] = {};
    for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = static_cast<const T*>(c.input(i).data);
    sum_directly<T, C>(c, loops, in, static_cast<T*>((*y)->data));
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
