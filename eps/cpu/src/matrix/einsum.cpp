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

namespace CAMEO_NAMESPACE::eps {
namespace {

using geometry::einsum_labels;

/// The loops of one run: sizes by label, and strides by input and label. A label is a letter, or an axis of the
/// ellipsis.
struct einsum_loops : geometry::einsum {
  std::size_t inputs = 0;
  std::int64_t steps[eps::einsum::max_inputs][einsum_labels];
  bool has[eps::einsum::max_inputs][einsum_labels], repeats = false, broadcasts = false;
  std::uint8_t out[max_rank], summed[einsum_labels];
  std::size_t summed_count = 0;
  extents shape;
  std::int64_t terms = 1;  // the number of terms of each sum

  status make(const eps::einsum& e, const run_context& c) {
    inputs = e.inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) {
      if (status s = usable_sizes("an input", c.input(i).shape); !s) return s;
      if (status s = add(e.inputs[i], c.input(i).shape, i); !s) return s;
    }
    for (std::size_t i = 0; i < inputs; ++i) place(e.inputs[i], c.input(i).shape, i);
    const auto y = output_of(e.output);
    if (!y) return y.error();
    shape = *y;
    bool shown[einsum_labels] = {};
    e.output.each_axis(shape.rank(), [&](std::size_t label, std::size_t axis) {
      out[axis] = std::uint8_t(label), shown[label] = true;
    });
    for (std::size_t l = 0; l < einsum_labels; ++l)
      if (is_used[l] && !shown[l]) summed[summed_count++] = std::uint8_t(l);
    return count_terms();
  }

 private:
  status count_terms() {
    bool fits = true, zero = false;
    for (std::size_t s = 0; s < summed_count; ++s) {
      zero = zero || sizes_of[summed[s]] == 0;
      fits = fits && checked_multiply(terms, sizes_of[summed[s]], terms);
    }
    if (zero) return terms = 0, status{};
    return check_fits("a sum", fits);
  }
  void place(const geometry::einsum_term& t, const extents& in, std::size_t i) {
    std::fill_n(steps[i], einsum_labels, 0);
    std::fill_n(has[i], einsum_labels, false);
    const extents strides = row_major_strides(in);
    t.each_axis(in.rank(), [&](std::size_t label, std::size_t axis) {
      repeats = repeats || has[i][label];
      broadcasts = broadcasts || in[axis] != sizes_of[label];
      has[i][label] = true;
      if (in[axis] != 1) steps[i][label] += strides[axis];
    });
  }
};

/// Computes outputs one by one. C is the type of products: float, double, or std::uint64_t for integers.
template <class T, class C>
void sum_directly(run_context& c, const einsum_loops& loops, const T* const* in, T* y) {
  const std::int64_t terms = loops.terms;
  const std::int64_t work = std::clamp<std::int64_t>(terms, 1, 1 << 14);
  using sum_type = std::conditional_t<std::is_same_v<C, float>, double, C>;
  parallel_each_row(c, loops.shape.count(), (1 << 14) / work, [&](std::int64_t o, std::size_t) {
    std::int64_t at[eps::einsum::max_inputs] = {}, rest = o, index[einsum_labels] = {};
    for (std::size_t k = loops.shape.rank(); k-- > 0;) {
      const std::int64_t size = loops.sizes_of[loops.out[k]];
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
        const bool wraps = ++index[s] == loops.sizes_of[label];
        const std::int64_t step = wraps ? 1 - loops.sizes_of[label] : 1;
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
  std::uint8_t labels[4][einsum_labels];
  std::size_t counts[4] = {};
  std::int64_t sizes[4] = {1, 1, 1, 1};

  /// Assigns labels to roles; false if the equation is not a matrix product.
  bool make(const einsum_loops& l) {
    if (l.inputs != 2 || l.repeats || l.broadcasts) return false;
    bool shown[einsum_labels] = {};
    for (std::size_t k = 0; k < l.shape.rank(); ++k) shown[l.out[k]] = true;
    for (std::size_t label = 0; label < einsum_labels; ++label) {
      if (!l.is_used[label]) continue;
      const bool a = l.has[0][label], b = l.has[1][label];
      if (!shown[label] && !(a && b)) return false;
      const std::size_t role = !shown[label] ? 3 : a && b ? 0 : a ? 1 : 2;
      labels[role][counts[role]++] = std::uint8_t(label);
      if (!checked_multiply(sizes[role], l.sizes_of[label], sizes[role])) return false;
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
      count /= l.sizes_of[label];
      if (l.sizes_of[label] != 1 && l.steps[i][label] != count) return false;
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
      step /= l.sizes_of[label];
      copy.loop(l.sizes_of[label], l.steps[i][label], step);
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
      step /= l.sizes_of[label];
      const std::size_t axis = std::size_t(std::find(l.out, l.out + l.shape.rank(), label) - l.out);
      copy.loop(l.sizes_of[label], step, to[axis]);
    }
  return copy.run(c, made, (*y)->data), status{};
}

}  // namespace

result<einsum> einsum::bind(bind_context& c) {
  geometry::einsum_equation equation{attributes_of<op::Einsum>{c.attributes}.equation};
  const std::size_t count = c.inputs.size();
  if (status s = equation.check_inputs(count); !s) return s;
  if (count > max_inputs) return refuse(status_code::not_implemented, "more than ", max_inputs, " inputs");
  const result<std::span<term>> terms = c.keep<term>(count);
  if (!terms) return terms.error();
  for (term& t : *terms)
    if (status s = equation.read_input(t); !s) return s;
  einsum made{*terms};
  if (status s = equation.read_output(made.output); !s) return s;
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
