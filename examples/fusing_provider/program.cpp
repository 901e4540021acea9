#include "program.hpp"

#include "fusing.hpp"

#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <map>

namespace acme {

using cameo::node_view;
using cameo::value_view;
namespace op = cameo::op;

std::optional<opcode> instruction_for(const node_view& node) {
  if (node.has_op<op::Add>()) return opcode::add;
  if (node.has_op<op::Sub>()) return opcode::subtract;
  if (node.has_op<op::Mul>()) return opcode::multiply;
  if (node.has_op<op::Relu>()) return opcode::relu;
  return {};
}

program program::make(const cameo::graph_view& body) {
  program made;
  std::map<cameo::value_id, std::uint32_t> place;
  std::map<cameo::value_id, std::size_t> readers;  // the number of readers that have not run
  const auto next = [&] { return std::uint32_t(place.size()); };
  for (value_view v : body.inputs()) place.emplace(v.id(), next());
  made.input_count_ = body.inputs().size();
  for (cameo::value_id v : body.raw().initializers()) {
    place.emplace(v, next());
    made.constants_.push_back(*body.raw()[v].constant);
  }
  for (value_view v : body.outputs()) place.emplace(v.id(), next());
  made.output_count_ = body.outputs().size();

  std::vector<std::uint32_t> idle;  // registers without a later reader
  const std::uint32_t first_register = next();
  for (node_view node : body.nodes()) {
    std::uint32_t from[2] = {};
    for (std::size_t i = 0; i < 2; ++i) from[i] = place.at(node.input(std::min(i, node.input_count() - 1)).id());
    for (value_view in : node.inputs()) {  // a node may read a value twice; the last use frees its register
      const auto left = readers.find(in.id());
      if (left != readers.end() && --left->second == 0) idle.push_back(place.at(in.id()));
    }
    const value_view out = node.output(0);
    if (!place.count(out.id())) {
      if (idle.empty()) idle.push_back(first_register + std::uint32_t(made.register_count_++));
      place.emplace(out.id(), idle.back());
      idle.pop_back();
      readers.emplace(out.id(), out.use_count());
    }
    made.code_.push_back({*instruction_for(node), from[0], from[1], place.at(out.id())});
  }
  return made;
}

namespace {

/// Applies an instruction to n elements. The opcode is selected once per block, so that compilers vectorize the loop.
void apply(opcode code, const float* a, const float* b, float* out, std::int64_t n) {
  const auto each = [&](auto f) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  };
  switch (code) {
    case opcode::add: return each([](float x, float y) { return x + y; });
    case opcode::subtract: return each([](float x, float y) { return x - y; });
    case opcode::multiply: return each([](float x, float y) { return x * y; });
    case opcode::relu: return each([](float x, float) { return x < 0 ? 0 : x; });  // NaN stays
  }
}

}  // namespace

cameo::status program::run(cameo::run_context& c) const {
  auto places = c.scratch<float*>(memory_places());
  auto registers = c.scratch<float>(register_count_ * std::size_t(block) * c.lanes());
  if (!places || !registers) return cameo::status_code::out_of_memory;
  const cameo::extents& shape = input_count_ ? c.input(0).shape : constants_[0].shape;
  for (const cameo::value& constant : constants_)
    if (constant.shape != shape) return {cameo::status_code::invalid_argument, "a constant of a loop differs in shape"};
  float** at = places->data();
  for (std::size_t i = 0; i < input_count_; ++i) {
    if (c.input(i).shape != shape) return {cameo::status_code::invalid_argument, "inputs of a loop differ in shape"};
    *at++ = static_cast<float*>(c.input(i).data);
  }
  for (const cameo::value& constant : constants_) *at++ = static_cast<float*>(constant.data);
  for (std::size_t i = 0; i < output_count_; ++i) {
    auto out = c.output<float>(i, shape);
    if (!out) return out.error();
    *at++ = out->data();
  }
  const std::int64_t count = shape.count();
  c.parallel_lanes(std::size_t((count + block - 1) / block), [&](std::size_t which, std::size_t lane) {
    const std::int64_t first = std::int64_t(which) * block, n = std::min(block, count - first);
    float* const own = registers->data() + lane * register_count_ * std::size_t(block);
    const auto memory = [&](std::uint32_t p) {
      return p < places->size() ? (*places)[p] + first : own + (p - places->size()) * std::size_t(block);
    };
    for (const instruction& i : code_) apply(i.code, memory(i.a), memory(i.b), memory(i.out), n);
  });
  return {};
}

cameo::result<std::vector<cameo::compiled_node>> fusing::compile(std::span<const cameo::fused_view> groups) const {
  std::vector<cameo::compiled_node> made;
  for (const cameo::fused_view& group : groups) made.push_back(cameo::compiled(program::make(group.body)));
  return made;
}

}  // namespace acme
