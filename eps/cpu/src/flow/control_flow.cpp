#include <cameo/eps/cpu/control_flow.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "subgraph_values.hpp"

#include <algorithm>
#include <cstring>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads the one bool of a tensor.
status read_condition(const value& v, bool& holds) {
  if (status s = check_tensor("a condition", v, dtype::boolean); !s) return s;
  if (status s = check_count("a condition", v.shape.count(), 1); !s) return s;
  std::uint8_t byte = 0;  // a file may contain any byte, and reading one other than 0 and 1 as bool is undefined
  std::memcpy(&byte, v.data, 1);
  holds = byte != 0;
  return {};
}

/// Reads the trip count of a Loop and its first condition, if they are given.
status read_limits(const run_context& c, std::int64_t& trips, bool& goes_on) {
  if (const value& given = c.input(0)) {
    if (status s = check_count("the trip count", given.shape.count(), 1); !s) return s;
    trips = given.as_unchecked<std::int64_t>()[0];
  }
  return c.input(1) ? read_condition(c.input(1), goes_on) : status{};
}

template <class T>
result<value> make_scalar(run_context& c, T element) {
  result<value> made = c.make(dtype_of<T>, {});
  if (made) made->as_mutable_unchecked<T>()[0] = element;
  return made;
}

/// The values that iterations returned, in memory that grows as needed.
class value_stack {
 public:
  status push(run_context& c, std::span<const value> values) {
    if (size_ + values.size() > memory_.size()) {
      result<std::span<value>> more = c.scratch<value>(std::max(2 * memory_.size(), 16 * values.size()));
      if (!more) return more.error();
      std::copy_n(memory_.begin(), size_, more->begin());
      memory_ = *more;
    }
    std::copy(values.begin(), values.end(), memory_.begin() + std::ptrdiff_t(size_));
    size_ += values.size();
    return {};
  }
  value& operator[](std::size_t i) { return memory_[i]; }

 private:
  std::span<value> memory_;
  std::size_t size_ = 0;
};

/// Stacks value k of each iteration along a new first axis, into output o.
status stack(run_context& c, std::size_t o, value_stack& values, std::size_t k, std::size_t each, std::int64_t count,
             extents shape) {
  if (count > 0) shape = values[k].shape;
  if (status s = check_fits("the rank of a scan output", shape.rank() < max_rank); !s) return s;
  shape.insert(0, count);
  result<value*> y = status_code::ok;
  if (c.has_output(o)) {
    y = c.output(o, shape);
    if (!y) return y.error();
  }
  for (std::int64_t i = 0; i < count; ++i) {
    value& element = values[std::size_t(i) * each + k];
    if (y)
      if (status put = put_slice(c, **y, 0, i, element); !put) return put;
    c.release(element);
  }
  return {};
}

}  // namespace

result<if_else> if_else::bind(bind_context& c) {
  const attributes_of<op::If> a{c.attributes};
  return if_else{int(a.then_branch), int(a.else_branch)};
}
status if_else::run(run_context& c) const {
  bool holds = false;
  if (status read = read_condition(c.input(0), holds); !read) return read;
  const result<detail::subplan_frame*> branch = c.open(std::size_t(holds ? then_branch : else_branch));
  if (!branch) return branch.error();
  const result<std::span<value>> outputs = value_list(c, c.output_count());
  if (!outputs) return outputs.error();
  if (status done = c.call(**branch, {}, *outputs); !done) return done;
  return give_all(c, 0, *outputs);
}

result<loop> loop::bind(bind_context& c) {
  const int body = int(attributes_of<op::Loop>{c.attributes}.body);
  const std::size_t carried = std::max<std::size_t>(c.inputs.size(), 2) - 2, outputs = c.outputs.size();
  const status has = of_model(check_at_least("the number of outputs", std::int64_t(outputs), std::int64_t(carried)));
  if (!has) return has;
  const auto shapes = stacked_shapes(c, body, 1 + carried, outputs - carried);
  if (!shapes) return shapes.error();
  return loop{body, carried, *shapes};
}
status loop::run(run_context& c) const {
  std::int64_t limit = INT64_MAX;
  bool goes_on = true;
  if (status read = read_limits(c, limit, goes_on); !read) return read;
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const std::size_t scans = element_shapes.size();
  const result<std::span<value>> in = value_list(c, 2 + carried), out = value_list(c, 1 + carried + scans);
  if (!in || !out) return status_code::out_of_memory;
  for (std::size_t i = 0; i < carried; ++i)
    (*in)[2 + i] = c.input(2 + i);  // borrowed until the end of the first iteration
  value_stack scanned;
  std::int64_t i = 0;
  for (; goes_on && i < limit; ++i) {
    if (c.stopped()) return status_code::canceled;
    result<value> number = make_scalar(c, i), before = make_scalar(c, true);
    if (!number || !before) return status_code::out_of_memory;
    (*in)[0] = *number, (*in)[1] = *before;
    if (status done = c.call(**frame, *in, *out); !done) return done;
    if (status read = read_condition((*out)[0], goes_on); !read) return read;
    for (std::size_t k = 0; k < 2 + carried; ++k)
      if (k < 2 || i > 0) c.release((*in)[k]);
    c.release((*out)[0]);
    std::copy_n(out->begin() + 1, carried, in->begin() + 2);
    if (status pushed = scanned.push(c, out->subspan(1 + carried)); !pushed) return pushed;
  }
  if (status given = give_states(c, i > 0, 2, in->subspan(2)); !given) return given;
  for (std::size_t k = 0; k < scans; ++k)
    if (status done = stack(c, carried + k, scanned, k, scans, i, element_shapes[k]); !done) return done;
  return {};
}

result<sequence_map> sequence_map::bind(bind_context& c) {
  return sequence_map{int(attributes_of<op::SequenceMap>{c.attributes}.body)};
}
status sequence_map::run(run_context& c) const {
  const std::size_t count = c.input(0).parts.size(), inputs = c.input_count(), outputs = c.output_count();
  for (std::size_t k = 0; k < inputs; ++k)
    if (const value& v = c.input(k); v.kind == value_kind::sequence)
      if (status s = check_count("a sequence", std::int64_t(v.parts.size()), std::int64_t(count)); !s) return s;
  const result<detail::subplan_frame*> frame = c.open(std::size_t(body));
  if (!frame) return frame.error();
  const result<std::span<value>> in = value_list(c, inputs), out = value_list(c, outputs);
  const result<std::span<value*>> parts = c.scratch<value*>(outputs);
  if (!in || !out || !parts) return status_code::out_of_memory;
  for (std::size_t k = 0; k < outputs; ++k) {
    (*parts)[k] = nullptr;
    if (!c.has_output(k)) continue;
    const result<std::span<value>> made = c.output_sequence(k, count);
    if (!made) return made.error();
    (*parts)[k] = made->data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (c.stopped()) return status_code::canceled;
    for (std::size_t k = 0; k < inputs; ++k)
      (*in)[k] = c.input(k).kind == value_kind::sequence ? c.input(k).parts[i] : c.input(k);
    if (status done = c.call(**frame, *in, *out); !done) return done;
    for (std::size_t k = 0; k < outputs; ++k)
      if ((*parts)[k]) (*parts)[k][i] = (*out)[k];
      else c.release((*out)[k]);
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
