// A custom operator, acme.MovingAverage, with an attribute and shape inference. The program writes a model that uses
// it, loads the file, and compares the output with the definition. Then it prints the error of a model with an invalid
// attribute. Usage: example_operator [FILE]
//
//     level: tensor(float)[2,10]
//     level = float[2,10] 2 1 0 1 2 0.666667 0.666667 2 ...
//     a window of 13: INVALID_GRAPH: ... 'average' ... X has shape [2,12], must be [...,window+rest]
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/op/attributes/read_attribute.hpp>
#include <cameo/op/infer.hpp>

#include <cmath>
#include <cstdio>

namespace acme {

/// Y[..., i] is the mean of X[..., i] to X[..., i + window - 1]; the last axis of Y is shorter by window - 1.
struct MovingAverage {
  static constexpr std::string_view domain = "acme", name = "MovingAverage";
  static constexpr cameo::parameter inputs[] = {{"X", "T"}}, outputs[] = {{"Y", "T"}};
  static constexpr cameo::type_rule types[] = {{"T", cameo::mask_of<float, double>}};
  // The window has 1 element or more, and the last axis has as many or more. Both are checked before infer() and run().
  static constexpr cameo::attribute_rule rules[] = {{"window", cameo::attribute_kind::i, true, false, 0, 0, {}, "1.."}};
  static constexpr cameo::op_version versions[] = {
      {1, inputs, outputs, types, rules, 1, 1, false, "[...,window+rest]"}};

  struct attributes {
    std::int64_t window = 1;
    explicit attributes(std::span<const cameo::attribute> node) { read_attribute(node, "window", window); }
  };

  static cameo::status infer(cameo::infer_context& c) {
    if (!c.shape(0)) return {};  // the output's shape is then unknown, too
    std::vector<cameo::dim> shape = *c.shape(0);
    const std::int64_t window = attributes{c.attributes()}.window;
    shape.back() = shape.back().known() ? cameo::dim::fixed(shape.back().size - window + 1) : c.fresh_symbol();
    c.set_output(0, cameo::value_type::tensor(c.element(0), shape));
    return {};
  }
};

template <class T>
struct moving_average {
  std::int64_t window;

  static cameo::result<moving_average> bind(cameo::bind_context& c) {
    return moving_average{cameo::attributes_of<MovingAverage>{c.attributes}.window};
  }
  cameo::status run(cameo::run_context& c) const {
    const auto x = c.input<T>(0);
    cameo::extents shape = x.shape();  // in this run; it may be unknown while loading
    const std::int64_t from = shape.back(), to = shape[shape.rank() - 1] = from - window + 1;
    const auto y = c.output<T>(0, shape);
    if (!y) return y.error();
    for (std::int64_t i = 0; i < y->count(); ++i) {
      const T* const first = x.data() + i / to * from + i % to;
      T sum{};
      for (std::int64_t j = 0; j < window; ++j) sum += first[j];
      (*y)[i] = sum / T(window);
    }
    return {};
  }
};

struct provider {
  static constexpr std::string_view name = "acme", long_name = "AcmeExecutionProvider";
  using kernels = cameo::kernel_list<
      cameo::kernel_entry<MovingAverage, cameo::since<1>, cameo::constrain<"T", float, double>, moving_average>>;
};

}  // namespace acme

namespace {

using runtime = cameo::runtime<acme::provider, cameo::eps::cpu>;

constexpr std::int64_t channels = 2, samples = 12;

/// level = |MovingAverage(signal)|
std::unique_ptr<cameo::model> make_model(std::int64_t window) {
  cameo::attribute size;
  size.name = "window", size.kind = cameo::attribute_kind::i, size.i = window;
  examples::model_builder net;
  net.input("signal", cameo::dtype::f32, {channels, samples});
  net.node("MovingAverage", {"signal"}, "average", {size}, "acme").node("Abs", {"average"}, "level").output("level");
  return net.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "operator.onnx";
  if (const cameo::status written = cameo::write_onnx(*make_model(3), path); !written) return cameo::report(written);
  auto session = runtime{}.load(path);
  if (!session) return cameo::report(session.error());
  std::printf("level: %s\n", session->outputs()[0].type_text.c_str());

  std::vector<float> signal(channels * samples);
  for (std::size_t i = 0; i < signal.size(); ++i) signal[i] = float(i % 7) - 3;
  auto outputs = session->run({{"signal", signal}});
  if (!outputs) return cameo::report(outputs.error());
  cameo::print(*outputs);
  const auto level = outputs->get<float>("level");
  if (!level || level->shape() != cameo::extents{channels, samples - 2}) return 1;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < samples - 2; ++i) {
      const float* const x = signal.data() + c * samples + i;
      if (std::abs((*level)[c * (samples - 2) + i] - std::abs(x[0] + x[1] + x[2]) / 3) > 1e-6f) return 1;
    }

  const auto refused = runtime{}.load(make_model(samples + 1));
  if (refused) return 1;
  const std::string_view words = refused.error().words();
  std::printf("a window of 13: %s: %.*s\n", refused.error().name(), int(words.size()), words.data());
  return refused.error().code() == cameo::status_code::invalid_graph ? 0 : 1;
}
