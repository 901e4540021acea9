// Operators with subgraphs: If, Loop, Scan, SequenceMap, FlexAttention.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/attributes/preview.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {
namespace {

using type_list = std::vector<const value_type*>;

/// A subgraph of the node, and the attribute that names it.
struct named_graph {
  std::string_view name;
  subgraph_index index;
};

/// Infers a subgraph, which must have at least `needs` outputs.
result<type_list> body_types(infer_context& c, const named_graph& body, const type_list& inputs, std::size_t needs) {
  result<type_list> outputs = c.infer_subgraph(std::size_t(body.index), inputs);
  if (!outputs) return std::move(outputs).error().in(body.name);
  if (outputs->size() < needs)
    return invalid("graph ", body.name, " has ", outputs->size(), " outputs, must have ", needs);
  return outputs;
}

value_type tensor_type(const value_type& like, dims shape) {
  value_type made = value_type::tensor(like.type, std::move(shape));
  made.kind = like.kind;
  return made;
}

bool has_shape(const value_type* type) { return type && type->is_tensor() && type->shape; }

/// A type for every shape that the value may take later.
value_type without_shape(const value_type& type) {
  value_type bare = type;
  bare.shape.reset();
  return bare;
}

/// Inserts axis `axis`, of size `size`, into a tensor type.
result<value_type> stacked(const value_type* element, dim size, std::int64_t axis, std::string_view what) {
  if (!element || !element->is_tensor()) return value_type{};
  if (!element->shape) return *element;
  result<std::size_t> at = geometry::axis_of<dim>(axis, element->shape->size() + 1, what);
  if (!at) return at.error();
  dims shape = *element->shape;
  shape.insert(shape.begin() + std::ptrdiff_t(*at), size);
  return tensor_type(*element, std::move(shape));
}

}  // namespace

namespace {

/// Checks that a branch has as many outputs as the node, because any branch may run.
status require_outputs(const infer_context& c, std::string_view name, std::size_t has) {
  if (has == c.output_count()) return status_code::ok;
  return invalid("graph ", name, " has ", has, " outputs, must have ", c.output_count());
}

result<type_list> branch_types(infer_context& c, const named_graph& branch) {
  result<type_list> outputs = body_types(c, branch, {}, 0);
  if (!outputs) return outputs;
  if (status s = require_outputs(c, branch.name, outputs->size()); !s) return s;
  return outputs;
}

/// The condition, if it is the same in every run.
std::optional<bool> known_condition(const infer_context& c) {
  const value* const v = c.constant(0);
  if (!v || v->kind != value_kind::tensor || v->type != dtype::boolean || v->memory != 0 || v->shape.count() != 1)
    return {};
  return *static_cast<const std::uint8_t*>(v->data) != 0;
}

/// The outputs of an If with a constant condition are those of the branch that it takes. The other branch never runs,
/// so it may contradict itself and the branch that is taken.
status known_if(infer_context& c, const named_graph& taken, const named_graph& never) {
  if (const result<type_list> unused = body_types(c, never, {}, 0)) {
    if (status s = require_outputs(c, never.name, unused->size()); !s) return s;
  } else {
    if (unused.error().code() == status_code::out_of_memory) return unused.error();  // says nothing about the branch
    c.report_broken_branch(never.name, unused.error());
  }
  const result<type_list> types = branch_types(c, taken);
  if (!types) return types.error();
  for (std::size_t i = 0; i < c.output_count(); ++i) give(c, i, (*types)[i]);
  return status_code::ok;
}

}  // namespace

status if_(infer_context& c) {
  const attributes_of<op::If> a{c.attributes()};
  const named_graph yes{"then_branch", a.then_branch}, no{"else_branch", a.else_branch};
  if (const std::optional<bool> condition = known_condition(c))
    return *condition ? known_if(c, yes, no) : known_if(c, no, yes);
  const std::size_t count = c.output_count();
  result<type_list> then_types = branch_types(c, yes);
  if (!then_types) return then_types.error();
  std::vector<std::optional<value_type>> kept(count);  // the second inference may invalidate the types of the first
  for (std::size_t i = 0; i < count; ++i)
    if ((*then_types)[i]) kept[i] = *(*then_types)[i];
  result<type_list> else_types = branch_types(c, no);
  if (!else_types) return else_types.error();
  for (std::size_t i = 0; i < count; ++i) {
    if (!kept[i] || !(*else_types)[i]) continue;
    result<value_type> merged = merge(*kept[i], *(*else_types)[i]);
    if (!merged) return std::move(merged).error().in("output " + std::to_string(i) + " of the branches");
    give(c, i, &*merged);
  }
  return status_code::ok;
}

namespace {

/// Nested loops are inferred with the shapes of the first iteration only to this depth: each level may infer its body
/// twice.
constexpr int deepest_try = 3;
thread_local int loop_depth = 0;
struct deeper {
  deeper() { ++loop_depth; }
  ~deeper() { --loop_depth; }
  deeper(const deeper&) = delete;
  deeper& operator=(const deeper&) = delete;
};

struct loop_types {
  value_type iteration = value_type::tensor(dtype::i64, {}), condition = value_type::tensor(dtype::boolean, {});
  std::vector<std::optional<value_type>> carried;

  type_list inputs() const {
    type_list all{&iteration, &condition};
    for (const std::optional<value_type>& type : carried) all.push_back(type ? &*type : nullptr);
    return all;
  }
};

bool same_shape(const value_type& a, const value_type& b) {
  if (a.kind != b.kind || a.type != b.type || bool(a.element) != bool(b.element) || bool(a.shape) != bool(b.shape))
    return false;
  return (!a.shape || std::ranges::equal(*a.shape, *b.shape, [](dim x, dim y) { return x.same(y); })) &&
         (!a.element || same_shape(*a.element, *b.element));
}

/// True if an iteration does not change the types of the carried values.
bool is_stable(const loop_types& in, const type_list& out) {
  for (std::size_t i = 0; i < in.carried.size(); ++i)
    if (in.carried[i] && (!out[i + 1] || !same_shape(*in.carried[i], *out[i + 1]))) return false;
  return true;
}

/// A carried value has its initial type if no iteration runs; an iteration may replace an optional by its element.
result<value_type> carried_output(const std::optional<value_type>& before, const value_type* after) {
  if (!after) return value_type{};
  if (!before || (before->kind == type_kind::optional && after->kind != type_kind::optional))
    return without_shape(*after);
  return merge(*before, *after);
}

status give_loop_outputs(infer_context& c, const loop_types& in, const type_list& out, dim rounds) {
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    result<value_type> type = i < in.carried.size() ? carried_output(in.carried[i], out[i + 1])
                                                    : stacked(out[i + 1], rounds, 0, "the axis of iterations");
    if (!type) return std::move(type).error().in("output " + std::to_string(i));
    give(c, i, &*type);
  }
  return status_code::ok;
}

}  // namespace

status loop(infer_context& c) {
  const deeper guard;
  loop_types in;
  for (std::size_t i = 2; i < c.input_count(); ++i)
    in.carried.push_back(c.has_input(i) ? std::optional{*c.input(i)} : std::nullopt);
  if (c.output_count() < in.carried.size())
    return invalid("node has ", in.carried.size(), " carried values but ", c.output_count(),
                   " outputs, must have one for each");
  const named_graph body{"body", attributes_of<op::Loop>{c.attributes()}.body};
  const std::size_t needs = c.output_count() + 1;
  if (loop_depth <= deepest_try) {
    result<type_list> out = body_types(c, body, in.inputs(), needs);
    if (out && is_stable(in, *out)) return give_loop_outputs(c, in, *out, dim{});
  }
  for (std::optional<value_type>& type : in.carried)
    if (type) type = without_shape(*type);
  for (std::optional<value_type>& type : in.carried)
    if (type && type->element) type->element = std::make_shared<const value_type>(without_shape(*type->element));
  result<type_list> out = body_types(c, body, in.inputs(), needs);
  if (!out) return out.error();
  return give_loop_outputs(c, in, *out, dim{});
}

namespace {

/// The parts of a Scan node. Versions before 9 have a batch axis, and lengths as their first input.
struct scan_plan {
  attributes_of<op::Scan> a;
  std::size_t first = 0, states = 0, scanned = 0;
  bool batched = false;
  dim batch, length;
  std::vector<value_type> types;  // of the body's inputs; unknown where the node's are
};

result<scan_plan> plan_scan(const infer_context& c) {
  scan_plan plan;
  plan.a = attributes_of<op::Scan>{c.attributes()};
  plan.batched = c.version().since < 9;
  plan.first = plan.batched ? 1 : 0;
  const std::int64_t scanned = plan.a.num_scan_inputs;
  const std::size_t count = c.input_count() > plan.first ? c.input_count() - plan.first : 0;
  if (scanned < 1 || std::uint64_t(scanned) > count)
    return invalid("attribute num_scan_inputs is ", scanned, ", must be from 1 to ", count, ", the number of inputs");
  plan.scanned = std::size_t(scanned);
  plan.states = count - plan.scanned;
  if (c.output_count() < plan.states)
    return invalid("node has ", plan.states, " states but ", c.output_count(), " outputs, must have one for each");
  return plan;
}

/// Checks that a list has `count` elements, or none.
status check_list(std::string_view name, std::span<const std::int64_t> list, std::size_t count) {
  if (list.empty() || count == 0 || list.size() == count) return status_code::ok;
  return invalid("attribute ", name, " has ", list.size(), " elements, must have ", count);
}
status check_lists(const scan_plan& plan, std::size_t stacked) {
  const auto& a = plan.a;
  if (plan.batched) return check_list("directions", a.directions, plan.scanned);
  status s = check_list("scan_input_directions", a.scan_input_directions, plan.scanned);
  if (s) s = check_list("scan_output_directions", a.scan_output_directions, stacked);
  if (s) s = check_list("scan_input_axes", a.scan_input_axes, plan.scanned);
  if (s) s = check_list("scan_output_axes", a.scan_output_axes, stacked);
  return s;
}

/// The axis that a list has at `i`; 0 if there is no list. Batches are always scanned along axis 0.
std::int64_t axis_at(const scan_plan& plan, std::span<const std::int64_t> axes, std::size_t i) {
  return plan.batched || axes.empty() ? 0 : axes[i];
}

status take_batch(scan_plan& plan, dims& shape, std::size_t input) {
  if (!plan.batched) return status_code::ok;
  if (shape.empty()) return invalid("input ", input, " is a scalar, must begin with the batch axis");
  result<dim> batch = unify(plan.batch, shape[0], "batch sizes");
  if (!batch) return batch.error();
  plan.batch = *batch;
  shape.erase(shape.begin());
  return status_code::ok;
}

status add_scan_input(const infer_context& c, scan_plan& plan, std::size_t i) {
  const std::size_t input = plan.first + i;
  if (!c.has_input(input)) return plan.types.emplace_back(), status_code::ok;
  if (!has_shape(c.input(input))) return plan.types.push_back(*c.input(input)), status_code::ok;
  dims shape = *c.input(input)->shape;
  if (status s = take_batch(plan, shape, input); !s) return s;
  if (i >= plan.states) {
    const std::int64_t asked = axis_at(plan, plan.a.scan_input_axes, i - plan.states);
    result<std::size_t> axis = geometry::axis_of<dim>(asked, shape.size(), "attribute scan_input_axes");
    if (!axis) return axis.error();
    result<dim> length = unify(plan.length, shape[*axis], "lengths of scanned inputs");
    if (!length) return length.error();
    plan.length = *length;
    shape.erase(shape.begin() + std::ptrdiff_t(*axis));
  }
  plan.types.push_back(tensor_type(*c.input(input), std::move(shape)));
  return status_code::ok;
}

result<value_type> scan_output(const scan_plan& plan, const value_type* from, std::size_t i) {
  if (!from) return value_type{};
  result<value_type> type = *from;
  if (i >= plan.states)
    type = stacked(from, plan.length, axis_at(plan, plan.a.scan_output_axes, i - plan.states),
                   "attribute scan_output_axes");
  if (type && plan.batched) type = stacked(&*type, plan.batch, 0, "the batch axis");
  return type;
}

}  // namespace

status scan(infer_context& c) {
  result<scan_plan> plan = plan_scan(c);
  if (!plan) return plan.error();
  if (status s = check_lists(*plan, c.output_count() - plan->states); !s) return s;
  for (std::size_t i = 0; i < plan->states + plan->scanned; ++i)
    if (status s = add_scan_input(c, *plan, i); !s) return s;
  type_list inputs;
  for (const value_type& type : plan->types) inputs.push_back(type.kind == type_kind::unknown ? nullptr : &type);
  result<type_list> outputs = body_types(c, {"body", plan->a.body}, inputs, c.output_count());
  if (!outputs) return outputs.error();
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    result<value_type> type = scan_output(*plan, (*outputs)[i], i);
    if (!type) return std::move(type).error().in("output " + std::to_string(i));
    give(c, i, &*type);
  }
  return status_code::ok;
}

namespace {

/// The type of all elements of a sequence. Each run of the body finds its own sizes, so symbols, which would state that
/// they are equal, become unknown.
value_type type_of_elements(value_type one) {
  if (one.shape)
    for (dim& d : *one.shape) d.symbol = 0;
  if (one.element) one.element = std::make_shared<const value_type>(type_of_elements(*one.element));
  return one;
}

}  // namespace

status sequence_map(infer_context& c) {
  type_list inputs;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const value_type* type = c.has_input(i) ? c.input(i) : nullptr;
    if (i == 0 && type && type->kind != type_kind::sequence)
      return invalid("input_sequence is ", type->to_string(), ", must be a sequence");
    inputs.push_back(type && type->kind == type_kind::sequence ? type->element.get() : type);
  }
  const attributes_of<op::SequenceMap> a{c.attributes()};
  result<type_list> outputs = body_types(c, {"body", a.body}, inputs, c.output_count());
  if (!outputs) return outputs.error();
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    if (!(*outputs)[i]) continue;
    const value_type type = value_type::sequence(type_of_elements(*(*outputs)[i]));
    give(c, i, &type);
  }
  return status_code::ok;
}

/// The input and the output of both graphs are the scores [batch, heads, length, keys], in the type of
/// softmax_precision.
status flex_attention(infer_context& c) {
  const dims *q = c.shape(0), *k = c.shape(1), *v = c.shape(2);
  const attributes_of<op::preview::FlexAttention> a{c.attributes()};
  const dtype usual = c.element(0) == dtype::f64 ? dtype::f64 : dtype::f32;
  value_type scores = value_type::tensor(dtype(a.softmax_precision.value_or(std::int64_t(usual))));
  scores.shape = q ? dims{(*q)[0], (*q)[1], (*q)[2], k ? (*k)[2] : dim{}} : dims{dim{}, dim{}, dim{}, dim{}};
  for (const named_graph& graph : {named_graph{"score_mod", a.score_mod}, {"prob_mod", a.prob_mod}}) {
    if (graph.index == subgraph_index::none) continue;
    const result<type_list> outputs = body_types(c, graph, {&scores}, 1);
    if (!outputs) return outputs.error();
    if (outputs->size() != 1) return invalid("graph ", graph.name, " has ", outputs->size(), " outputs, must have 1");
  }
  return give(c, 0, c.element(0),
              q ? std::optional{dims{(*q)[0], (*q)[1], (*q)[2], v ? (*v)[3] : dim{}}} : std::nullopt);
}

}  // namespace CAMEO_NAMESPACE::infer
