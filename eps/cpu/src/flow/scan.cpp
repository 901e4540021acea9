#include <cameo/eps/cpu/control_flow.hpp>

#include "subgraph_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Returns num_scan_inputs, checked against the numbers of inputs (from `first` on) and outputs.
result<std::size_t> scan_inputs(const bind_context& c, std::size_t first) {
  const std::int64_t scans = c.int_or("num_scan_inputs", 0);
  const auto inputs = std::int64_t(c.inputs.size()) - std::int64_t(first), outputs = std::int64_t(c.outputs.size());
  if (scans < 1 || scans > inputs || inputs - scans > outputs)
    return bad_attribute("`num_scan_inputs` is ", scans, " with ", inputs, " inputs and ", outputs, " outputs");
  return std::size_t(scans);
}
result<std::span<const std::int64_t>> list_of(const bind_context& c, std::string_view name, std::size_t length) {
  const std::span<const std::int64_t> list = c.ints_or(name);
  if (!list.empty() && list.size() != length)
    return bad_attribute("`", name, "` has ", list.size(), " elements, not ", length);
  return list;
}

/// Makes output o, [batch] + shape or [batch, steps] + shape, when the shape of its first element is known.
status make_batched(run_context& c, std::size_t o, const extents& leading, const extents& shape, value& target) {
  extents whole = leading;
  if (leading.rank() + shape.rank() > max_rank) return bad_input("output ", o, " has a rank above ", max_rank);
  for (std::int64_t d : shape) whole.push_back(d);
  if (target) return target.shape == whole ? status{} : bad_input("output ", o, " is ", target.shape, " and ", whole);
  const result<value*> y = c.output(o, whole);
  if (!y) return y.error();
  target = **y;
  if (target.bytes()) std::memset(target.data, 0, target.bytes());  // zeros after the end of shorter sequences
  return {};
}

}  // namespace

result<scan> scan::bind(bind_context& c) {
  const result<int> body = body_of(c, "body");
  if (!body) return body.error();
  const result<std::size_t> scans = scan_inputs(c, 0);
  if (!scans) return scans.error();
  const std::size_t states = c.inputs.size() - *scans, outs = c.outputs.size() - states;
  const auto in_axes = list_of(c, "scan_input_axes", *scans), out_axes = list_of(c, "scan_output_axes", outs),
             in_ways = list_of(c, "scan_input_directions", *scans),
             out_ways = list_of(c, "scan_output_directions", outs);
  for (const auto* list : {&in_axes, &out_axes, &in_ways, &out_ways})
    if (!*list) return status{list->error()};
  const auto shapes = stacked_shapes(c, *body, states, outs);
  if (!shapes) return shapes.error();
  return scan{*body, *scans, *in_axes, *out_axes, *in_ways, *out_ways, *shapes};
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
    if (length >= 0 && size != length) return bad_input("scan inputs of length ", length, " and ", size);
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
        if (shape != (*targets)[k].shape)
          return bad_input("scan output ", k, " stacks to ", shape, ", before to ", (*targets)[k].shape);
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
    if (shape.rank() == max_rank) return bad_input("output ", states + k, " has a rank above ", max_rank);
    if (!normalize_axis(axis, shape.rank() + 1)) axis = 0;  // the rank of the elements is unknown
    shape.insert(std::size_t(axis), 0);
    if (const result<value*> y = c.output(states + k, shape); !y) return status{y.error()};
  }
  return {};
}

result<batched_scan> batched_scan::bind(bind_context& c) {
  const result<int> body = body_of(c, "body");
  if (!body) return body.error();
  const result<std::size_t> scans = scan_inputs(c, 1);
  if (!scans) return scans.error();
  const auto directions = list_of(c, "directions", *scans);
  if (!directions) return status{directions.error()};
  return batched_scan{*body, *scans, *directions};
}
status batched_scan::run(run_context& c) const {
  const std::size_t states = c.input_count() - 1 - scans, outputs = c.output_count();
  const value& first = c.input(1 + states);
  if (first.shape.rank() < 2) return bad_input("scan inputs need axes for batch and sequence, not ", first.shape);
  const std::int64_t batch = first.shape[0], steps = first.shape[1];
  for (std::size_t k = 1; k < c.input_count(); ++k) {
    const extents& shape = c.input(k).shape;
    const bool is_scan = k > states;
    if (shape.rank() < (is_scan ? 2u : 1u) || shape[0] != batch || (is_scan && shape[1] != steps))
      return bad_input("input ", k, " is ", shape, ", the batch ", batch, " and its sequences ", steps, " long");
  }
  if (c.has_input(0) && c.input(0).shape != extents{batch})
    return bad_input("sequence_lens ", c.input(0).shape, " must be [", batch, "]");
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const result<std::span<value>> in = value_list(c, states + scans), out = value_list(c, outputs);
  const result<std::span<value>> targets = value_list(c, outputs), made = value_list(c, scans);
  if (!in || !out || !targets || !made) return status_code::out_of_memory;

  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = c.has_input(0) ? c.input<std::int64_t>(0)[b] : steps;
    if (length < 0 || length > steps) return bad_input("sequence length ", length, " is not in [0,", steps, "]");
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
