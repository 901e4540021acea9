#pragma once
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace cameo::test {

/// Builds small models in memory, for sessions.
class model_builder {
 public:
  explicit model_builder(std::int64_t opset = 17) : model_{std::make_unique<model>()} {
    model_->ir_version = 8;
    model_->imports.push_back({"", opset});
    opset_ = opset;
  }
  graph& main() { return model_->main(); }
  model& whole() { return *model_; }

  value_id input(std::string_view name, dtype type, std::vector<dim> shape) {
    const value_id v = main().add_value(name, model_->keep(value_type::tensor(type, std::move(shape))));
    main().add_input(v);
    return v;
  }
  dim symbol(std::string_view name) { return dim::named(model_->symbol(name)); }
  template <class T>
  value_id constant(std::string_view name, const extents& shape, std::vector<T> elements) {
    T* const kept = static_cast<T*>(model_->memory.allocate(elements.size() * sizeof(T) + 1, 64));
    for (std::size_t i = 0; i < elements.size(); ++i) kept[i] = elements[i];
    const value_id v = main().add_value(name);
    main().add_initializer(v, model_->memory.keep(value::tensor(dtype_of<T>, shape, kept)));
    return v;
  }
  value_id node(std::string_view op, std::vector<value_id> inputs, std::vector<attribute> attributes = {},
                std::string_view domain = "", std::int64_t opset = 0) {
    const value_id out = main().add_value(std::string{op} + "_" + std::to_string(count_) + "_out");
    const std::string name = std::string{op} + "_" + std::to_string(count_++);
    for (attribute& a : attributes) {  // the caller's lists may be destroyed before the model
      a.ints = *model_->memory.copy(a.ints);
      a.floats = *model_->memory.copy(a.floats);
      a.s = *model_->memory.copy(a.s);
    }
    main().add_node({name, domain, op, {}, {}, opset ? opset : opset_, inputs, std::vector<value_id>{out}, attributes});
    return out;
  }
  static attribute integer(std::string_view name, std::int64_t i) {
    attribute a;
    a.name = name, a.kind = attribute_kind::i, a.i = i;
    return a;
  }
  void output(value_id v) { main().add_output(v); }
  std::unique_ptr<model> take() { return std::move(model_); }

 private:
  std::unique_ptr<model> model_;
  std::int64_t opset_ = 0;
  int count_ = 0;
};

inline std::vector<float> ramp(std::size_t count, float scale = 0.01f) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = scale * float(std::int64_t(i * 7919 % 2003) - 1001);
  return all;
}

/// A model of several branches of products and elementwise operations that are joined: work for threads and levels.
inline std::unique_ptr<model> four_branches() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(64)});
  std::vector<value_id> ends;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    const value_id w = b.constant("w" + n, {64, 128}, ramp(64 * 128, 0.001f * float(i + 1)));
    const value_id v = b.constant("v" + n, {128, 64}, ramp(128 * 64, 0.0007f * float(i + 2)));
    const value_id h = b.node("Tanh", {b.node("MatMul", {x, w})});
    ends.push_back(b.node("Softmax", {b.node("MatMul", {h, v})}, {model_builder::integer("axis", -1)}));
  }
  value_id sum = ends[0];
  for (std::size_t i = 1; i < ends.size(); ++i) sum = b.node("Add", {sum, ends[i]});
  b.output(b.node("Mul", {sum, x}));
  return b.take();
}

using cpu_runtime = cameo::runtime<eps::cpu>;

/// A session of the model on cpu. The test fails if loading does.
inline session loaded(std::unique_ptr<model> m, const session_options& options = {}) {
  result<session> s = cpu_runtime{}.load(std::move(m), options);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  return std::move(*s);
}

inline std::vector<float> floats_of(const value& v) {
  const tensor_view<const float> all = v.as_unchecked<float>();
  return {all.begin(), all.end()};
}

}  // namespace cameo::test
