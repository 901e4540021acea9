#pragma once
#include <cameo/op/check_attribute.hpp>
#include <cameo/op/infer.hpp>

#include <deque>
#include <functional>

namespace cameo_test {

using namespace cameo;

/// One node without a graph: give it inputs and attributes, then infer() it as an operator of standard_ops() at an
/// opset.
class mock_infer_context : public infer_context {
 public:
  struct slot {
    std::optional<value_type> type;
    std::optional<value> constant;
    std::optional<std::vector<dim>> elements;
  };
  using subgraph = std::function<result<std::vector<const value_type*>>(std::span<const value_type* const>)>;

  mock_infer_context& in(value_type type) { return inputs_.push_back({std::move(type), {}, {}}), *this; }
  mock_infer_context& absent() { return inputs_.emplace_back(), *this; }
  mock_infer_context& in(dtype type, std::vector<dim> shape) { return in(value_type::tensor(type, std::move(shape))); }
  /// Adds an int64 list whose elements are known in part.
  mock_infer_context& in_elements(std::vector<dim> elements) {
    in(dtype::i64, {dim::fixed(std::int64_t(elements.size()))});
    inputs_.back().elements = std::move(elements);
    return *this;
  }
  /// Adds a constant int64 list.
  mock_infer_context& in_ints(std::vector<std::int64_t> numbers) {
    const std::vector<std::int64_t>& kept = numbers_.emplace_back(std::move(numbers));
    std::vector<dim> elements;
    for (std::int64_t n : kept) elements.push_back(n >= 0 ? dim::fixed(n) : dim{});
    in_elements(std::move(elements));
    inputs_.back().constant = value::tensor<std::int64_t>({std::int64_t(kept.size())}, kept);
    return *this;
  }
  mock_infer_context& in_int(std::int64_t number) {
    in_ints({number});
    inputs_.back().type = value_type::tensor(dtype::i64, {});
    inputs_.back().constant->shape = {};
    return *this;
  }
  mock_infer_context& in_floats(std::vector<float> numbers) {
    const std::vector<float>& kept = floats_.emplace_back(std::move(numbers));
    in(dtype::f32, {dim::fixed(std::int64_t(kept.size()))});
    inputs_.back().constant = value::tensor<float>({std::int64_t(kept.size())}, kept);
    return *this;
  }

  mock_infer_context& set(std::string_view name, std::int64_t number) {
    return attributes_.push_back({.name = name, .kind = attribute_kind::i, .i = number}), *this;
  }
  mock_infer_context& set(std::string_view name, std::vector<std::int64_t> list) {
    const std::vector<std::int64_t>& kept = numbers_.emplace_back(std::move(list));
    return attributes_.push_back({.name = name, .kind = attribute_kind::ints, .ints = kept}), *this;
  }
  mock_infer_context& set(std::string_view name, std::string_view text) {
    return attributes_.push_back({.name = name, .kind = attribute_kind::s, .s = text}), *this;
  }
  mock_infer_context& with_graph(std::string_view name, subgraph body) {
    attributes_.push_back({.name = name, .kind = attribute_kind::g, .i = std::int64_t(bodies_.size())});
    return bodies_.push_back(std::move(body)), *this;
  }

  status infer(std::string_view name, int opset, std::size_t outputs = 1, std::string_view domain = "") {
    outputs_.assign(outputs, {});
    const op_row* row = detail::find_op(detail::standard_ops(), domain, name);
    version_ = row ? row->at(opset) : nullptr;
    if (!version_) return {status_code::not_found, name};
    for (const attribute_rule& rule : version_->attributes)
      if (const attribute* const a = detail::find_attribute(attributes_, rule.name))
        if (status s = detail::check_attribute(rule, *a); !s) return s;
    status fits = check_input_shapes(*this);
    return fits ? row->infer(*this) : fits;
  }
  /// The inferred type of an output: "tensor(float)[2,?]", or "unknown".
  std::string out(std::size_t i = 0) const { return outputs_[i].type ? outputs_[i].type->to_string() : "unknown"; }
  const std::optional<value_type>& out_type(std::size_t i = 0) const { return outputs_[i].type; }
  const std::optional<std::vector<dim>>& out_elements(std::size_t i = 0) const { return outputs_[i].elements; }

  const op_version& version() const override { return *version_; }
  std::span<const attribute> attributes() const override { return attributes_; }
  std::size_t input_count() const override { return inputs_.size(); }
  std::size_t output_count() const override { return outputs_.size(); }
  const value_type* input(std::size_t i) const override { return inputs_[i].type ? &*inputs_[i].type : nullptr; }
  const value* constant(std::size_t i) const override { return inputs_[i].constant ? &*inputs_[i].constant : nullptr; }
  const std::vector<dim>* elements(std::size_t i) const override {
    return inputs_.at(i).elements ? &*inputs_[i].elements : nullptr;
  }
  dim fresh_symbol() override { return dim::named(++symbols_); }
  result<std::vector<const value_type*>> infer_subgraph(std::size_t i,
                                                        std::span<const value_type* const> types) override {
    return bodies_.at(i)(types);
  }
  void set_output(std::size_t i, value_type type) override { outputs_.at(i).type = std::move(type); }
  void set_elements(std::size_t i, std::vector<dim> elements) override {
    outputs_.at(i).elements = std::move(elements);
  }

 private:
  const op_version* version_ = nullptr;
  std::vector<slot> inputs_, outputs_;
  std::vector<attribute> attributes_;
  std::vector<subgraph> bodies_;
  std::deque<std::vector<std::int64_t>> numbers_;  // a deque, so that references to its elements stay valid
  std::deque<std::vector<float>> floats_;
  std::uint32_t symbols_ = 100;
};

}  // namespace cameo_test
