#include "transform/rules/float32_nodes.hpp"

#include <cameo/core/elements.hpp>
#include <cameo/op/onnx.hpp>

#include <vector>

namespace CAMEO_NAMESPACE {

namespace {

/// Adds a Cast to float32 or back. Before opset 6, Cast has the names of types.
value_id add_cast(edit& e, const node_view& origin, value_id v, dtype to) {
  const std::int64_t opset = origin.domain().empty() ? origin.raw().opset : origin.in().owner().opset("");
  if (opset >= 6) return e.add<op::Cast>({v}, {attribute_of("to", std::int64_t(to))});
  return e.add<op::Cast>({v}, {attribute_of("to", std::string_view{to == dtype::f16 ? "FLOAT16" : "FLOAT"})});
}

}  // namespace

/// A float32 value that equals a float16 value.
value_id float32_nodes::widened(edit& e, const node_view& reader, const value_view& v) {
  const value* const constant = rewriter_.constant(v);
  if (!constant || constant->type != dtype::f16 || constant->memory != 0 || constant->shape.count() > most_copied_)
    return add_cast(e, reader, v.id(), dtype::f32);
  std::vector<float> elements(std::size_t(constant->shape.count()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = float(detail::element_at<float16>(*constant, i));
  return e.constant(v.name(), value::tensor<float>(constant->shape, std::span<const float>{elements}));
}

bool float32_nodes::replace(const node_view& n) {
  const detail::graph_node old = n.raw();
  edit e{rewriter_, n};
  std::map<value_id, value_id> found;
  std::vector<value_id> inputs;
  for (value_view v : n.inputs()) {
    inputs.push_back(v ? v.id() : value_id::none);
    if (!is_float16(v)) continue;
    if (const auto known = wide_.find(v.id()); known != wide_.end()) {
      inputs.back() = known->second;
      continue;
    }
    const auto [at, is_new] = found.try_emplace(v.id(), value_id::none);
    if (is_new) at->second = widened(e, n, v);
    inputs.back() = at->second;
  }
  std::vector<attribute> attributes{old.attributes.begin(), old.attributes.end()};
  for (attribute& a : attributes)
    if (a.name == "dtype" && a.kind == attribute_kind::i && a.i == std::int64_t(dtype::f16))
      a.i = std::int64_t(dtype::f32);
  e.add(old.domain, old.op_type, inputs, attributes, old.outputs.size());
  std::vector<value_id> made;
  for (std::size_t i = 0; i < old.outputs.size(); ++i) made.push_back(e.output(i));
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!n.output(i)) continue;
    if (is_float16(n.output(i))) {
      found[n.output(i).id()] = made[i];
      made[i] = add_cast(e, n, made[i], dtype::f16);
    }
    e.replace(n.output(i), made[i]);
  }
  if (!e.commit()) return false;
  wide_.insert(found.begin(), found.end());
  return true;
}

}  // namespace CAMEO_NAMESPACE
