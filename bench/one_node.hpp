#pragma once
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>

#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace bench {

using numbers = std::vector<float>;

/// Pseudorandom numbers in [-1, 1), which depend only on the seed and the count.
inline numbers random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<float> spread{-1, 1};
  numbers made(count);
  for (float& v : made) v = spread(random);
  return made;
}

/// True if the results differ by no more than float32 sums of `terms` products in different orders can.
inline bool agrees(const numbers& got, const numbers& want, std::size_t terms) {
  const float allowed = 2e-6f * std::sqrt(float(terms)) + 1e-6f;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= allowed * (1 + std::abs(want[i])))) return false;
  return got.size() == want.size();
}

/// An operator as the only node of a model, which runs on one thread of the cpu provider. Its time is what a user pays:
/// it includes the overhead of a run (about 0.3 microseconds) and conversions to the layout that the provider chooses.
/// Input 0 is an input of the model, the others are constants.
class one_node {
 public:
  one_node(std::string_view op, std::int64_t opset, const cameo::extents& x,
           const std::vector<std::pair<cameo::extents, const numbers*>>& weights,
           const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& attributes = {}) {
    auto model = std::make_unique<cameo::model>();
    model->imports.push_back({"", opset}), model->ir_version = 10;
    cameo::graph& g = model->main();
    const auto typed = [&](std::string_view name, const cameo::extents& shape) {
      std::vector<cameo::dim> dims;
      for (std::int64_t d : shape) dims.push_back(cameo::dim{d});
      return g.add_value(name, model->keep(cameo::value_type::tensor(cameo::dtype::f32, std::move(dims))));
    };
    std::vector<cameo::value_id> inputs{typed("x", x)};
    g.add_input(inputs[0]);
    for (const auto& [shape, elements] : weights) {
      inputs.push_back(typed("w" + std::to_string(inputs.size()), shape));
      constants_.push_back(std::make_unique<cameo::value>(cameo::value::tensor<float>(shape, *elements)));
      g.add_initializer(inputs.back(), constants_.back().get());
    }
    std::vector<cameo::attribute> given;
    for (const auto& [name, ints] : attributes) {
      // The operators measured here have INT attributes for single numbers and INTS for several.
      cameo::attribute a{*model->memory.copy(name),
                         ints.size() == 1 ? cameo::attribute_kind::i : cameo::attribute_kind::ints};
      if (ints.size() == 1) a.i = ints[0];
      else a.ints = *model->memory.copy(std::span<const std::int64_t>{ints});
      given.push_back(a);
    }
    const std::vector<cameo::value_id> outputs{g.add_value("y")};
    g.add_node({op, "", op, {}, {}, opset, inputs, outputs, given, {}, {}});
    g.add_output(outputs[0]);
    cameo::session_options options;
    options.threads = 1;
    cameo::result<cameo::session> loaded = cameo::runtime<cameo::eps::cpu>{}.load(std::move(model), options);
    if (!loaded) {
      cameo::report(loaded.error());
      return;
    }
    session_.emplace(std::move(*loaded));
    if (cameo::result<cameo::io_binding> made = session_->bind()) binding_.emplace(std::move(*made));
  }

  /// Computes y = op(x); returns false if the model could not be loaded or run. x_shape must be the constructor's
  /// shape.
  bool run(const cameo::extents& x_shape, const numbers& x, const cameo::extents& y_shape, numbers& y) {
    if (!binding_) return false;
    if (bound_ != y.data()) {
      if (!binding_->bind_input("x", cameo::value::tensor<float>(x_shape, x)) ||
          !binding_->bind_output("y", cameo::value::tensor<float>(y_shape, y)))
        return false;
      bound_ = y.data();
    }
    const cameo::status done = session_->run(*binding_);
    if (!done) cameo::report(done);
    return bool(done);
  }

 private:
  std::vector<std::unique_ptr<cameo::value>> constants_;
  std::optional<cameo::session> session_;
  std::optional<cameo::io_binding> binding_;
  const float* bound_ = nullptr;
};

}  // namespace bench
