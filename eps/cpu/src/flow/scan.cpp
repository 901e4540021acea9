#include <cameo/eps/cpu/control_flow.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "subgraph_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Returns num_scan_inputs, checked against the numbers of inputs (from `first` on) and outputs.
result<std::size_t> scan_inputs(const bind_context& c, const op::scan_attributes& a, std::size_t first) {
  const auto inputs = std::int64_t(c.inputs.size()) - std::int64_t(first), outputs = std::int64_t(c.outputs.size());
  const std::int64_t least = std::max<std::int64_t>(1, inputs - outputs);  // the other inputs are states
  if (status s = of_model(check_number("num_scan_inputs", a.num_scan_inputs, least, inputs)); !s) return s;
  return std::size_t(a.num_scan_inputs);
}
status check_list(std::string_view name, std::span<const std::int64_t> list, std::size_t length) {
  return list.empty() ? status{} : of_model(check_count(name, std::int64_t(list.size()), std::int64_t(length)));
}

/// Makes output o, [batch] + shape or [batch, steps] + shape, when the shape of its first element is known.
status make_batched(run_context& c, std::size_t o, const extents& leading, const extents& shape, value& target) {
  extents whole = leading;
  if (status s = check_fits("the rank of an output", leading.rank() + shape.rank() <= max_rank); !s) return s;
  for (std::int64_t d : shape) whole.push_back(d);
  if (target) return check_shape("an output", whole, target.shape);
  const result<value*> y = c.output(o, whole);
  if (!y) return y.error();
  target = **y;
  if (target.bytes()) std::memset(target.data, 0, target.bytes());  // zeros after the end of shorter sequences
  return {};
}

}  // namespace

result<scan> scan::bind(bind_context& c) {
  const attributes_of<op::Scan> a{c.attributes};
  const result<std::size_t> scans = scan_inputs(c, a, 0);
  if (!scans) return scans.error();
  const std::size_t states = c.inputs.size() - *scans, outs = c.outputs.size() - states;
  const status checked = check_all({check_list("scan_input_axes", a.scan_input_axes, *scans),
                                    check_list("scan_output_axes", a.scan_output_axes, outs),
                                    check_list("scan_input_directions", a.scan_input_directions, *scans),
                                    check_list("scan_output_directions", a.scan_output_directions, outs)});
  if (!checked) return checked;
  const auto shapes = stacked_shapes(c, int(a.body), states, outs);
  if (!shapes) return shapes.error();
  return scan{
      int(a.body), *scans, a.scan_input_axes, a.scan_output_axes, a.scan_input_directions, a.scan_output_directions,
      *shapes};
}
status scan::run(run_context& c) const {
  const std::size_t states = c.input_count() - scans, outs = element_shapes.size();
  std::int64_t length = -1;
  const result<std::span<std::size_t>> axes = c.scratch<std::size_t>(scans);
  if (!axes) return status_code::out_of_memory;
  if (status found = find_axes(c, *axes, length); !found) return found;
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const result<std::span<value>> in = value_list(c, states + scans), out = value_list(c, states + outs);
  const result<std::span<value>> made = value_list(c, scans), targets = value_list(c, outs);
  if (!in || !out || !made || !targets) return status_code::out_of_memory;
  for (std::size_t k = 0; k < states; ++k) (*in)[k] = c.input(k);
  for (std::int64_t t = 0; t < length; ++t) {
    if (c.stopped()) return status_code::canceled;
    if (status taken = take(c, *axes, length, t, in->subspan(states), *made); !taken) return taken;
    if (status done = c.call(**frame, *in, *out); !done) return done;
    for (value& slice : *made) c.release(slice);
    for (std::size_t k = 0; k < states; ++k) {
      if (t > 0) c.release((*in)[k]);
      (*in)[k] = (*out)[k];
    }
    for (std::size_t k = 0; k < outs; ++k) {
      value& element = (*out)[states + k];
      if (status done = put(c, k, length, t, element, (*targets)[k]); !done) return done;
      c.release(element);
    }
  }
  return finish(c, *in, length);
}

/// Sets the axis of each scan input, and the length of all of them along it.
status scan::find_axes(const run_context& c, std::span<std::size_t> axes, std::int64_t& length) const {
  for (std::size_t k = 0; k < scans; ++k) {
    const extents& shape = c.input(c.input_count() - scans + k).shape;
    const auto axis = geometry::axis_of<std::int64_t>(number_or(input_axes, k, 0), shape.rank(), "scan_input_axes");
    if (!axis) return axis.error();
    axes[k] = *axis;
    const std::int64_t size = shape[*axis];
    if (status s = check_count("a scan input", size, k == 0 ? size : length); !s) return s;
    length = size;
  }
  return {};
}

/// Sets `in` to the slices of the scan inputs for iteration t. Those that are copies, and have to be released, are also
/// in `made`.
status scan::take(run_context& c, std::span<const std::size_t> axes, std::int64_t length, std::int64_t t,
                  std::span<value> in, std::span<value> made) const {
  for (std::size_t k = 0; k < scans; ++k) {
    const std::int64_t at = number_or(input_directions, k, 0) ? length - 1 - t : t;
    const result<tensor_slice> slice = slice_of(c, c.input(c.input_count() - scans + k), axes[k], at);
    if (!slice) return slice.error();
    in[k] = slice->v;
    made[k] = slice->kept ? slice->v : value{};
  }
  return {};
}

/// Writes the element of scan output k that iteration t gave to `target`, which the first iteration makes.
status scan::put(run_context& c, std::size_t k, std::int64_t length, std::int64_t t, const value& element,
                 value& target) const {
  const std::size_t o = c.input_count() - scans + k;
  if (!c.has_output(o)) return {};
  extents shape = element.shape;
  const std::size_t rank = shape.rank() + 1;
  if (status s = geometry::check_rank<std::int64_t>(rank); !s) return s;
  const auto axis = geometry::axis_of<std::int64_t>(number_or(output_axes, k, 0), rank, "scan_output_axes");
  if (!axis) return axis.error();
  shape.insert(*axis, length);
  if (t == 0) {
    const result<value*> y = c.output(o, shape);
    if (!y) return y.error();
    target = **y;
  }
  if (status s = check_shape("a scan output", shape, target.shape); !s) return s;
  return put_slice(c, target, *axis, number_or(output_directions, k, 0) ? length - 1 - t : t, element);
}

/// Sets the outputs of states and, if there were no iterations, empty scan outputs.
status scan::finish(run_context& c, std::span<value> last, std::int64_t length) const {
  const std::size_t states = c.input_count() - scans;
  if (status given = give_states(c, length > 0, 0, last.first(states)); !given || length > 0) return given;
  for (std::size_t k = 0; k < element_shapes.size(); ++k) {
    if (!c.has_output(states + k)) continue;
    extents shape = element_shapes[k];
    const std::size_t rank = shape.rank() + 1;
    if (status s = geometry::check_rank<std::int64_t>(rank); !s) return s;
    const auto axis = geometry::axis_of<std::int64_t>(number_or(output_axes, k, 0), rank);
    shape.insert(axis ? *axis : 0, 0);  // the rank of the elements may be unknown
    if (const result<value*> y = c.output(states + k, shape); !y) return status{y.error()};
  }
  return {};
}

result<batched_scan> batched_scan::bind(bind_context& c) {
  const attributes_of<op::Scan> a{c.attributes};
  const result<std::size_t> scans = scan_inputs(c, a, 1);
  if (!scans) return scans.error();
  if (status s = check_list("directions", a.directions, *scans); !s) return s;
  return batched_scan{int(a.body), *scans, a.directions};
}
namespace {

/// One run of a Scan of version 8.
struct batched_run {
  run_context& c;
  const batched_scan& how;
  std::size_t states, outputs;
  std::int64_t batch = 0, steps = 0;
  detail::subplan_frame* frame = nullptr;
  std::span<value> in = {}, out = {}, targets = {};

  /// Reads the numbers of sequences and of their steps, on which all inputs agree.
  status read_sizes() {
    const value& first = c.input(1 + states);
    if (status s = check_at_least("the rank of a scan input", std::int64_t(first.shape.rank()), 2); !s) return s;
    batch = first.shape[0], steps = first.shape[1];
    for (std::size_t k = 1; k < c.input_count(); ++k) {
      const std::size_t leading = k > states ? 2 : 1;  // the axes of the batch, and of a scan input's sequence
      extents must = c.input(k).shape;
      if (must.rank() < leading) must.resize(leading);
      must[0] = batch;
      if (leading == 2) must[1] = steps;
      if (status s = check_shape("an input", c.input(k).shape, must); !s) return s;
    }
    return check_input("sequence_lens", c.input(0), {batch});
  }

  /// Runs the body for step t of sequence b, which has this length.
  status step(std::int64_t b, std::int64_t t, std::int64_t length) const {
    if (c.stopped()) return status_code::canceled;
    for (std::size_t k = 0; k < how.scans; ++k) {
      const result<tensor_slice> sequence = slice_of(c, c.input(1 + states + k), 0, b);
      if (!sequence) return sequence.error();
      const std::int64_t at = number_or(how.directions, k, 0) ? length - 1 - t : t;
      const result<tensor_slice> slice = slice_of(c, sequence->v, 0, at);
      if (!slice) return slice.error();
      in[states + k] = slice->v;
    }
    if (status done = c.call(*frame, in, out); !done) return done;
    for (std::size_t k = 0; k < states; ++k) {
      if (t > 0) c.release(in[k]);
      in[k] = out[k];
    }
    for (std::size_t k = states; k < outputs; ++k) {
      if (status done = put(k, b, t, out[k]); !done) return done;
      c.release(out[k]);
    }
    return {};
  }
  /// Writes an element of scan output k.
  status put(std::size_t k, std::int64_t b, std::int64_t t, const value& element) const {
    if (!c.has_output(k)) return {};
    if (status s = make_batched(c, k, {batch, steps}, element.shape, targets[k]); !s) return s;
    const result<tensor_slice> sequence = slice_of(c, targets[k], 0, b);
    return sequence ? put_slice(c, sequence->v, 0, t, element) : sequence.error();
  }

  /// Runs all steps of sequence b, and writes its last states.
  status run(std::int64_t b) const {
    const std::int64_t length = c.has_input(0) ? c.input<std::int64_t>(0)[b] : steps;
    if (status s = check_element("sequence_lens", length, 0, steps); !s) return s;
    for (std::size_t k = 0; k < states; ++k) {
      const result<tensor_slice> state = slice_of(c, c.input(1 + k), 0, b);
      if (!state) return state.error();
      in[k] = state->v;  // a slice of the first axis is never a copy
    }
    for (std::int64_t t = 0; t < length; ++t)
      if (status done = step(b, t, length); !done) return done;
    for (std::size_t k = 0; k < states; ++k) {
      if (c.has_output(k)) {
        if (status s = make_batched(c, k, {batch}, in[k].shape, targets[k]); !s) return s;
        if (status put = put_slice(c, targets[k], 0, b, in[k]); !put) return put;
      }
      if (length > 0) c.release(in[k]);
    }
    return {};
  }
};

}  // namespace

status batched_scan::run(run_context& c) const {
  const std::size_t states = c.input_count() - 1 - scans, outputs = c.output_count();
  batched_run all{c, *this, states, outputs};
  if (status read = all.read_sizes(); !read) return read;
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const result<std::span<value>> in = value_list(c, states + scans), out = value_list(c, outputs);
  const result<std::span<value>> targets = value_list(c, outputs);
  if (!in || !out || !targets) return status_code::out_of_memory;
  all.frame = *frame, all.in = *in, all.out = *out, all.targets = *targets;
  for (std::int64_t b = 0; b < all.batch; ++b)
    if (status done = all.run(b); !done) return done;
  for (std::size_t k = 0; k < outputs; ++k)  // outputs of a body that never ran
    if (c.has_output(k) && !(*targets)[k]) {
      const extents leading = k < states ? extents{all.batch} : extents{all.batch, all.steps};
      if (status s = make_batched(c, k, leading, {}, (*targets)[k]); !s) return s;
    }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
