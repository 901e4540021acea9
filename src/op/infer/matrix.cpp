#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <array>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The shape of numpy's matmul: a vector gets an axis of size 1, which is removed again; leading axes broadcast.
result<std::optional<dims>> matmul_shape(const dims* left, const dims* right, bool transpose_left = false,
                                         bool transpose_right = false) {
  if (!left || !right) return std::optional<dims>{};
  if (left->empty() || right->empty())
    return invalid("an input of a matrix product is a scalar, must have rank 1 or more");
  dims a = *left, b = *right;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), dim::fixed(1));
  if (column) b.push_back(dim::fixed(1));
  if (transpose_left && !row) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (transpose_right && !column) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const dim inner_a = a.back(), inner_b = b[b.size() - 2];
  if (inner_a.known() && inner_b.known() && inner_a.size != inner_b.size)
    return invalid("inputs ", *left, " and ", *right, " do not multiply: inner sizes are ", inner_a, " and ", inner_b,
                   ", must be equal");
  const dims batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  const dims* both[] = {&batch_a, &batch_b};
  result<dims> out = infer_broadcast(both);
  if (!out) return out.error();
  if (!row) out->push_back(a[a.size() - 2]);
  if (!column) out->push_back(b.back());
  return std::optional<dims>{std::move(*out)};
}

status give_matmul(infer_context& c, dtype type, std::size_t right) {
  result<std::optional<dims>> out = matmul_shape(c.shape(0), c.shape(right));
  if (!out) return out.error();
  return give(c, 0, type, std::move(*out));
}

}  // namespace

status matmul(infer_context& c) { return give_matmul(c, c.element(0), 1); }
status matmul_integer(infer_context& c) { return give_matmul(c, dtype::i32, 1); }
status matmul_integer_to_float(infer_context& c) { return give_matmul(c, c.element(2), 1); }
status qlinear_matmul(infer_context& c) { return give_matmul(c, c.element(7), 3); }

status fused_matmul(infer_context& c) {
  const attributes_of<op::microsoft::FusedMatMul> a{c.attributes()};
  if (a.transBatchA != 0 || a.transBatchB != 0) return give(c, 0, c.element(0));
  result<std::optional<dims>> out = matmul_shape(c.shape(0), c.shape(1), a.transA != 0, a.transB != 0);
  if (!out) return out.error();
  return give(c, 0, c.element(0), std::move(*out));
}

/// A sparse matrix times a dense matrix.
status sparse_matmul(infer_context& c) {
  const attributes_of<op::microsoft::SparseToDenseMatMul> a{c.attributes()};
  const value_type* const left = c.has_input(0) ? c.input(0) : nullptr;
  const dims* const sparse = left && left->shape ? &*left->shape : nullptr;
  if (status s = check_rank(sparse, 2, "A"); !s) return s;
  result<std::optional<dims>> out = matmul_shape(sparse, c.shape(1), a.transA != 0, a.transB != 0);
  if (!out) return out.error();
  return give(c, 0, c.element(1), std::move(*out));
}

/// B is [K, N], whatever shape its quantized values have.
status matmul_nbits(infer_context& c) {
  const dims* a = c.shape(0);
  if (!a) return give(c, 0, c.element(0));
  dims out = *a;
  out.back() = dim::fixed(attributes_of<op::microsoft::MatMulNBits>{c.attributes()}.N);
  return give(c, 0, c.element(0), std::move(out));
}

namespace {
/// Checks that Gemm's C broadcasts to the output. Versions before 7 have other rules for broadcasting, which are not
/// checked.
status check_gemm_bias(const infer_context& c, dim rows, dim columns) {
  const dims* bias = c.shape(2);
  if (!bias || c.version().since < 7) return status_code::ok;
  const dims out{rows, columns};
  if (bias->size() > 2) return invalid("C has shape ", *bias, ", must broadcast to ", out);
  for (std::size_t i = 1; i <= bias->size(); ++i) {
    const dim from = (*bias)[bias->size() - i], to = out[2 - i];
    if (from.known() && from.size != 1 && to.known() && from.size != to.size)
      return invalid("C has shape ", *bias, ", must broadcast to ", out);
  }
  return status_code::ok;
}
}  // namespace

status gemm(infer_context& c) {
  const attributes_of<op::Gemm> given{c.attributes()};
  const dims *a = c.shape(0), *b = c.shape(1);
  dim rows, columns, inner_a, inner_b;
  if (status s = check_rank(a, 2, "A"); !s) return s;
  if (status s = check_rank(b, 2, "B"); !s) return s;
  if (a) {
    const std::size_t transposed = given.transA != 0;
    rows = (*a)[transposed], inner_a = (*a)[1 - transposed];
  }
  if (b) {
    const std::size_t transposed = given.transB != 0;
    columns = (*b)[1 - transposed], inner_b = (*b)[transposed];
  }
  if (inner_a.known() && inner_b.known() && inner_a.size != inner_b.size)
    return invalid("A ", *a, " and B ", *b, " do not multiply: inner sizes are ", inner_a, " and ", inner_b,
                   ", must be equal");
  if (status s = check_gemm_bias(c, rows, columns); !s) return s;
  return give(c, 0, c.element(0), dims{rows, columns});
}

/// Codes where Y has a scale, floats where it has none.
status qgemm(infer_context& c) {
  const attributes_of<op::microsoft::QGemm> given{c.attributes()};
  const dims *a = c.shape(0), *b = c.shape(3);
  const dim rows = a ? (*a)[given.transA != 0] : dim{}, columns = b ? (*b)[given.transB == 0] : dim{};
  const dtype coded = c.has_input(8) ? c.element(8) : c.element(0);
  return give(c, 0, c.has_input(7) ? coded : dtype::f32, dims{rows, columns});
}

namespace {

/// An Einsum equation, read against the shapes it is for. A letter has one size throughout; "..." stands for axes that
/// broadcast. Letters are distinguished by their byte.
struct equation {
  std::array<dim, 256> sizes{};
  std::array<std::size_t, 256> uses{};
  std::vector<dims> ellipses;

  status read_operand(std::string_view term, const dims& shape, std::size_t input);
  status read_operands(const infer_context&, std::string_view terms, bool& known);
  result<dims> output(std::string_view term) const;
  std::string implied_output() const;
};

constexpr std::string_view dots = "...";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

status equation::read_operand(std::string_view term, const dims& shape, std::size_t input) {
  const bool elided = term.find(dots) != std::string_view::npos;
  const std::size_t letters = std::size_t(std::ranges::count_if(term, is_letter));
  if (elided ? shape.size() < letters : shape.size() != letters)
    return invalid("equation has ", letters, " axes for input ", input, " of shape ", shape, ", must have ",
                   shape.size());
  std::size_t axis = 0;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      dim& size = sizes[std::uint8_t(term[i])];
      const dim other = shape[axis++];
      // A size of 1 broadcasts, as in numpy.
      if (size.size == 1 || (!size.known() && other.known() && other.size != 1) || !uses[std::uint8_t(term[i])])
        size = other;
      else if (size.known() && other.known() && other.size != 1 && size.size != other.size)
        return invalid("equation gives axis ", term.substr(i, 1), " sizes ", size, " and ", other, ", must be equal");
      else if (!size.known() && !size.same(other)) size = dim{};
      ++uses[std::uint8_t(term[i])];
    } else if (term.substr(i, 3) == dots) {
      const std::size_t count = shape.size() - letters;
      ellipses.emplace_back(shape.begin() + std::ptrdiff_t(axis), shape.begin() + std::ptrdiff_t(axis + count));
      axis += count;
      i += 2;
    } else {
      return invalid("equation has '", term.substr(i, 1), "', must have letters and ... only");
    }
  }
  return status_code::ok;
}

status equation::read_operands(const infer_context& c, std::string_view terms, bool& known) {
  for (std::size_t input = 0;; ++input) {
    const std::size_t comma = terms.find(',');
    if (input >= c.input_count()) return invalid("equation has terms for more than the ", c.input_count(), " inputs");
    const dims* shape = c.shape(input);
    if (!shape) return known = false, status_code::ok;
    if (status s = read_operand(terms.substr(0, comma), *shape, input); !s) return s;
    if (comma == std::string_view::npos) {
      if (input + 1 == c.input_count()) return status_code::ok;
      return invalid("equation has terms for ", input + 1, " inputs, must have ", c.input_count());
    }
    terms.remove_prefix(comma + 1);
  }
}

std::string equation::implied_output() const {
  std::string term;
  if (!ellipses.empty()) term = dots;
  for (int letter = 0; letter < 128; ++letter)
    if (uses[std::size_t(letter)] == 1) term += char(letter);
  return term;
}

result<dims> equation::output(std::string_view term) const {
  dims out;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      if (!uses[std::uint8_t(term[i])])
        return invalid("equation has axis ", term.substr(i, 1), " in its output, must have it in an input too");
      out.push_back(sizes[std::uint8_t(term[i])]);
    } else if (term.substr(i, 3) == dots) {
      std::vector<const dims*> shapes;
      for (const dims& shape : ellipses) shapes.push_back(&shape);
      result<dims> joined = infer_broadcast(shapes);
      if (!joined) return joined.error();
      out.insert(out.end(), joined->begin(), joined->end());
      i += 2;
    } else {
      return invalid("equation has '", term.substr(i, 1), "', must have letters and ... only");
    }
  }
  return out;
}

}  // namespace

status einsum(infer_context& c) {
  std::string text{attributes_of<op::Einsum>{c.attributes()}.equation};
  std::erase(text, ' ');
  const std::string_view whole = text;
  const std::size_t arrow = whole.find("->");
  equation read;
  bool known = true;
  if (status s = read.read_operands(c, whole.substr(0, arrow), known); !s) return s;
  std::optional<dims> out;
  if (known) {
    result<dims> shape =
        read.output(arrow == std::string_view::npos ? read.implied_output() : std::string{whole.substr(arrow + 2)});
    if (!shape) return shape.error();
    out = std::move(*shape);
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
