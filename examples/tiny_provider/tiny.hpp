#pragma once
#include <cameo/cameo.hpp>
#include <cameo/op/infer.hpp>
#include <cameo/op/onnx.hpp>

namespace acme {

/// An operator of the custom domain "acme": Z[..., i] is the mean of X[..., 2 i] and X[..., 2 i + 1].
struct Halve {
  static constexpr std::string_view domain = "acme", name = "Halve";
  static constexpr cameo::parameter inputs[] = {{"X", "T"}}, outputs[] = {{"Z", "T"}};
  static constexpr cameo::type_rule types[] = {{"T", cameo::mask_of<float, double>}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, types, {}, 1, 1, false, "[...,2*half]"}};
  static cameo::status infer(cameo::infer_context& c) {
    if (!c.shape(0)) return {};  // the output's shape is then unknown, too
    auto shape = *c.shape(0);
    shape.back() = shape.back().known() ? cameo::dim::fixed(shape.back().size / 2) : c.fresh_symbol();
    c.set_output(0, cameo::value_type::tensor(c.element(0), shape));
    return {};
  }
};

template <class T>
struct halve {
  static cameo::result<halve> bind(cameo::bind_context&) { return halve{}; }
  cameo::status run(cameo::run_context& c) const {
    const auto x = c.input<T>(0);
    cameo::extents shape = x.shape();
    shape[shape.rank() - 1] /= 2;
    auto z = c.output<T>(0, shape);
    if (!z) return z.error();
    for (std::int64_t i = 0; i < z->count(); ++i) (*z)[i] = (x[2 * i] + x[2 * i + 1]) / 2;
    return {};
  }
};

template <class T>
struct negate {
  static cameo::result<negate> bind(cameo::bind_context&) { return negate{}; }
  cameo::status run(cameo::run_context& c) const {
    const auto x = c.input<T>(0);
    auto y = c.output<T>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = -x[i];
    return {};
  }
};

struct tiny {
  static constexpr std::string_view name = "tiny", long_name = "TinyExecutionProvider";
  static constexpr auto reals = cameo::constrain<"T", float, double>;
  using kernels = cameo::kernel_list<cameo::kernel_entry<Halve, cameo::since<1>, reals, halve>,
                                     cameo::kernel_entry<cameo::op::Neg, cameo::since<6>, reals, negate>>;
};

}  // namespace acme
