#include <cameo/eps/cpu/control_flow.hpp>
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
  if (status s = check_all({check_list("scan_input_axes", a.scan_input_axes, *scans),
                            check_list("scan_output_axes", a.scan_output_axes, outs),
                            check_list("scan_input_directions", a.scan_input_directions, *scans),
                            check_list("scan_output_directions", a.scan_output_directions, outs)});
      !s)
    return s;
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
  for (std::size_t k = 0; k < scans; ++k) {
    const extents& shape = c.input(states + k).shape;
    if (status found = find_axis(number_or(input_axes, k, 0), shape.rank(), (*axes)[k]); !found) return found;
    const std::int64_t size = shape[(*axes)[k]];
    if (status s = check_count("a scan input", size, length < 0 ? size : length); !s) return s;
    length = size;
  }
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const result<std::span<value>> in = value_list(c, states + scans), out = value_list(c, states + outs);
  const result<std::span<value>> made = value_list(c, scans);  // slices that were copied and have to be released
  if (!in || !out || !made) return status_code::out_of_memory;
  for (std::size_t k = 0; k < states; ++k) (*in)[k] = c.input(k);

  const result<std::span<value>> targets = value_list(c, outs);
  if (!targets) return targets.error();
  for (std::int64_t t = 0; t < length; ++t) {
    if (c.stopped()) return status_code::canceled;
    for (std::size_t k = 0; k < scans; ++k) {
      const std::int64_t at = number_or(input_directions, k, 0) ? length - 1 - t : t;
      const result<tensor_slice> slice = slice_of(c, c.input(states + k), (*axes)[k], at);
      if (!slice) return slice.error();
      (*in)[states + k] = slice->v;
      (*made)[k] = slice->kept ? slice->v : value{};
    }
    if (status done = c.call(**frame, *in, *out); !done) return done;
    for (value& slice : *made) c.release(slice);
    for (std::size_t k = 0; k < states; ++k) {
      if (t > 0) c.release((*in)[k]);
      (*in)[k] = (*out)[k];
    }
    for (std::size_t k = 0; k < outs; ++k) {
      value& element = (*out)[states + k];
      if (c.has_output(states + k)) {
        const std::int64_t at = number_or(output_directions, k, 0) ? length - 1 - t : t;
        std::int64_t axis = number_or(output_axes, k, 0);
        extents shape = element.shape;
        if (shape.rank() == max_rank || !normalize_axis(axis, shape.rank() + 1))
          return no_such_axis(number_or(output_axes, k, 0), shape.rank() + 1);
        shape.insert(std::size_t(axis), length);
        if (t == 0) {
          const result<value*> y = c.output(states + k, shape);
          if (!y) return y.error();
          (*targets)[k] = **y;
        }
        if (status s = check_shape("a scan output", shape, (*targets)[k].shape); !s) return s;
        if (status put = put_slice(c, (*targets)[k], std::size_t(axis), at, element); !put) return put;
      }
      c.release(element);
    }
  }
  return finish(c, *in, length);
}

/// Sets the outputs of states and, if there were no iterations, empty scan outputs.
status scan::finish(run_context& c, std::span<value> last, std::int64_t length) const {
  const std::size_t states = c.input_count() - scans;
  if (length > 0) return give_all(c, 0, last.first(states));
  for (std::size_t k = 0; k < states; ++k)
    if (c.has_output(k))
      if (status forwarded = c.forward(k, c.input(k)); !forwarded) return forwarded;
  for (std::size_t k = 0; k < element_shapes.size(); ++k) {
    if (!c.has_output(states + k)) continue;
    extents shape = element_shapes[k];
    std::int64_t axis = number_or(output_axes, k, 0);
    if (status s = check_fits("the rank of a scan output", shape.rank() < max_rank); !s) return s;
    if (!normalize_axis(axis, shape.rank() + 1)) axis = 0;  // the rank of the elements is unknown
    shape.insert(std::size_t(axis), 0);
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
status batched_scan::run(run_context& c) const {
  const std::size_t states = c.input_count() - 1 - scans, outputs = c.output_count();
  const value& first = c.input(1 + states);
  if (status s = check_at_least("the rank of a scan input", std::int64_t(first.shape.rank()), 2); !s) return s;
  const std::int64_t batch = first.shape[0], steps = first.shape[1];
  for (std::size_t k = 1; k < c.input_count(); ++k) {
    const std::size_t leading = k > states ? 2 : 1;  // the axes of the batch, and of a scan input's sequence
    extents must = c.input(k).shape;
    if (must.rank() < leading) must.resize(leading);
    must[0] = batch;
    if (leading == 2) must[1] = steps;
    if (status s = check_shape("an input", c.input(k).shape, must); !s) return s;
  }
  if (status s = check_input("sequence_lens", c.input(0), {batch}); !s) return s;
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const result<std::span<value>> in = value_list(c, states + scans), out = value_list(c, outputs);
  const result<std::span<value>> targets = value_list(c, outputs), made = value_list(c, scans);
  if (!in || !out || !targets || !made) return status_code::out_of_memory;

  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = c.has_input(0) ? c.input<std::int64_t>(0)[b] : steps;
    if (status s = check_element("sequence_lens", length, 0, steps); !s) return s;
    for (std::size_t k = 0; k < states; ++k) {
      const result<tensor_slice> state = slice_of(c, c.input(1 + k), 0, b);
      if (!state) return state.error();
      (*in)[k] = state->v;  // a slice of the first axis is never a copy
    }
    for (std::int64_t t = 0; t < length; ++t) {
      if (c.stopped()) return status_code::canceled;
      for (std::size_t k = 0; k < scans; ++k) {
        const result<tensor_slice> sequence = slice_of(c, c.input(1 + states + k), 0, b);
        if (!sequence) return sequence.error();
        const std::int64_t at = number_or(directions, k, 0) ? length - 1 - t : t;
        const result<tensor_slice> slice = slice_of(c, sequence->v, 0, at);
        if (!slice) return slice.error();
        (*in)[states + k] = slice->v;
      }
      if (status done = c.call(**frame, *in, *out); !done) return done;
      for (std::size_t k = 0; k < states; ++k) {
        if (t > 0) c.release((*in)[k]);
        (*in)[k] = (*out)[k];
      }
      for (std::size_t k = states; k < outputs; ++k) {
        value& element = (*out)[k];
        if (c.has_output(k)) {
          if (status s = make_batched(c, k, {batch, steps}, element.shape, (*targets)[k]); !s) return s;
          const result<tensor_slice> sequence = slice_of(c, (*targets)[k], 0, b);
          if (!sequence) return sequence.error();
          if (status put = put_slice(c, sequence->v, 0, t, element); !put) return put;
        }
        c.release(element);
      }
    }
    for (std::size_t k = 0; k < states; ++k) {
      if (c.has_output(k)) {
        if (status s = make_batched(c, k, {batch}, (*in)[k].shape, (*targets)[k]); !s) return s;
        if (status put = put_slice(c, (*targets)[k], 0, b, (*in)[k]); !put) return put;
      }
      if (length > 0) c.release((*in)[k]);
    }
  }
  for (std::size_t k = 0; k < outputs; ++k)  // outputs of a body that never ran
    if (c.has_output(k) && !(*targets)[k])
      if (status s = make_batched(c, k, k < states ? extents{batch} : extents{batch, steps}, {}, (*targets)[k]); !s)
        return s;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
