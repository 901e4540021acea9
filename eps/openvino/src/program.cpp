#include "program.hpp"

#include "claims.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "os/files.hpp"

#include <algorithm>
#include <cstring>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

constexpr std::int64_t wait_milliseconds = 20;  // between checks of whether the run is stopped

/// The address for tensors without elements: the SDK rejects a null address.
alignas(64) std::byte nothing[64];

/// True if a tensor of this shape fits the declared shape.
bool is_one_of(const extents& shape, const extents& declared) {
  return std::equal(shape.begin(), shape.end(), declared.begin(), declared.end(),
                    [](std::int64_t size, std::int64_t wanted) { return wanted < 0 || size == wanted; });
}

}  // namespace

std::string program::any_name(const ov_output_const_port_t* port) const {
  char* text = nullptr;
  return sdk_->port_get_any_name(port, &text) == ov_status_e::OK ? sdk_->take_text(text) : std::string{};
}

/// The name that read_port() finds for the tensor with this name; empty if there is no such tensor. A tensor may have
/// several names.
std::string program::name_behind(bool is_input, std::string_view name) const {
  if (name.empty()) return {};
  ov_output_const_port_t* raw = nullptr;
  auto* const get = is_input ? sdk_->compiled_model_input_by_name : sdk_->compiled_model_output_by_name;
  if (get(compiled_.get(), std::string{name}.c_str(), &raw) != ov_status_e::OK) return {};
  const handle<ov_output_const_port_t> port{raw, sdk_->output_const_port_free};
  return any_name(raw);
}

result<program::port> program::read_port(ov_output_const_port_t* raw) const {
  port made{{raw, sdk_->output_const_port_free}, any_name(raw)};
  ov_element_type_e type = ov_element_type_e::DYNAMIC;
  if (status s = sdk_->check(sdk_->port_get_element_type(raw, &type), "reading an element type"); !s) return s;
  for (const detail::dtype_row& row : detail::elements::rows)
    if (type != ov_element_type_e::DYNAMIC && element_type_of(row.id) == type) made.type = row.id;
  ov_partial_shape_t shape{};
  if (status s = sdk_->check(sdk_->port_get_partial_shape(raw, &shape), "reading a shape"); !s) return s;
  // The SDK's C interface reports the shape of a scalar as dynamic, but it is fixed.
  made.is_fixed = (shape.rank.min == 0 && shape.rank.max == 0) ||
                  (!sdk_->partial_shape_is_dynamic(shape) && std::size_t(shape.rank.max) <= max_rank);
  for (std::int64_t i = 0; made.is_fixed && i < shape.rank.max; ++i) made.shape.push_back(shape.dims[i].max);
  sdk_->partial_shape_free(&shape);
  return made;
}

result<std::vector<program::port>> program::list_ports(bool inputs) const {
  std::size_t count = 0;
  auto* const size = inputs ? sdk_->compiled_model_inputs_size : sdk_->compiled_model_outputs_size;
  if (status s = sdk_->check(size(compiled_.get(), &count), "listing inputs and outputs"); !s) return s;
  std::vector<port> ports;
  for (std::size_t i = 0; i < count; ++i) {
    ov_output_const_port_t* raw = nullptr;
    auto* const get = inputs ? sdk_->compiled_model_input_by_index : sdk_->compiled_model_output_by_index;
    if (status s = sdk_->check(get(compiled_.get(), i, &raw), "listing inputs and outputs"); !s) return s;
    result<port> made = read_port(raw);
    if (!made) return std::move(made).error();
    ports.push_back(std::move(*made));
  }
  return ports;
}

/// Finds the node's input or output for each port: by the name, or else the next one with the port's element type. The
/// SDK may have removed inputs that it does not need.
status program::place_ports(bool inputs, std::span<const boundary> wanted, std::vector<port>& ports) const {
  std::vector<bool> is_found(wanted.size());
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const std::string name = name_behind(inputs, wanted[w].name);
    for (std::size_t i = 0; i < ports.size() && !is_found[w] && !name.empty(); ++i)
      if (ports[i].at == unplaced && ports[i].name == name) ports[i].at = w, is_found[w] = true;
  }
  for (port& p : ports)
    for (std::size_t w = 0; w < wanted.size() && p.at == unplaced; ++w)
      if (!is_found[w] && wanted[w].type == p.type) p.at = w, is_found[w] = true;
  return check_ports(inputs, wanted, ports);
}

/// Checks that each port is one of the node's inputs or outputs, with its type and shape, and that no output is
/// missing, else EP_FAIL.
status program::check_ports(bool inputs, std::span<const boundary> wanted, std::span<const port> ports) {
  const char* const what = inputs ? "input" : "output";
  for (const port& p : ports)
    if (p.at == unplaced || p.type != wanted[p.at].type)
      return {status_code::ep_fail,
              fmt::format("OpenVINO's program has {} '{}' of type {}, which the node does not have", what, p.name,
                          detail::row_of(p.type).name)};
  for (const port& p : ports)
    if (p.is_fixed && wanted[p.at].shape && !is_one_of(p.shape, *wanted[p.at].shape))
      return {status_code::ep_fail,
              fmt::format("OpenVINO's program has {} '{}' of shape [{}], and the node [{}]", what, p.name,
                          fmt::join(p.shape.dims(), ","), fmt::join(wanted[p.at].shape->dims(), ","))};
  for (std::size_t w = 0; w < wanted.size(); ++w)
    if (!inputs && std::none_of(ports.begin(), ports.end(), [&](const port& p) { return p.at == w; }))
      return {status_code::ep_fail, fmt::format("OpenVINO's program has no output '{}' of type {}", wanted[w].name,
                                                detail::row_of(wanted[w].type).name)};
  return {};
}

/// Finds the outputs that are equal to an input or to another output.
void program::find_origins() {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    for (std::size_t j = 0; j < i && outputs_[i].source == origin::own; ++j)
      if (!outputs_[i].name.empty() && outputs_[j].name == outputs_[i].name)
        outputs_[i].source = origin::output, outputs_[i].origin_at = outputs_[j].at;
  for (const port& in : inputs_)
    for (port& out : outputs_)
      if (!in.name.empty() && out.name == in.name) out.source = origin::input, out.origin_at = in.at;
}

result<program> program::make(const sdk& api, std::shared_ptr<const ov_core_t> core,
                              handle<ov_compiled_model_t> compiled, std::span<const boundary> inputs,
                              std::span<const boundary> outputs) {
  program made{api, std::move(core), std::move(compiled)};
  for (const bool is_input : {true, false}) {
    result<std::vector<port>> ports = made.list_ports(is_input);
    if (!ports) return std::move(ports).error();
    const std::span<const boundary> wanted = is_input ? inputs : outputs;
    if (status s = made.place_ports(is_input, wanted, *ports); !s) return s;
    (is_input ? made.inputs_ : made.outputs_) = std::move(*ports);
  }
  made.find_origins();
  return made;
}

result<program::request> program::take_request() const {
  {
    const std::lock_guard lock{idle_->guard};
    if (!idle_->waiting.empty()) {
      request taken = std::move(idle_->waiting.back());
      idle_->waiting.pop_back();
      return taken;
    }
  }
  ov_infer_request_t* made = nullptr;
  if (status s = sdk_->check(sdk_->compiled_model_create_infer_request(compiled_.get(), &made), "preparing a run"); !s)
    return s;
  return request{made, sdk_->infer_request_free};
}

status program::attach(ov_infer_request_t& to, const port& p, const extents& shape, void* data) const {
  extents dims = shape;
  ov_tensor_t* raw = nullptr;
  if (status s = sdk_->check(
          sdk_->tensor_create_from_host_ptr(element_type_of(p.type), {std::int64_t(dims.rank()), dims.begin()},
                                            data ? data : nothing, &raw),
          "setting a tensor");
      !s)
    return s;
  const handle<ov_tensor_t> tensor{raw, sdk_->tensor_free};
  return sdk_->check(sdk_->infer_request_set_tensor_by_const_port(&to, p.sdk_port.get(), tensor.get()),
                     "setting a tensor");
}

/// Reads a tensor's shape. The SDK's C interface returns an error for the shape of a scalar.
status program::read_shape(const ov_tensor_t& tensor, bool may_be_scalar, extents& to) const {
  ov_shape_t dims{};
  const ov_status_e got = sdk_->tensor_get_shape(&tensor, &dims);
  if (got != ov_status_e::OK && may_be_scalar) return to = {}, status{};
  if (status s = sdk_->check(got, "reading a tensor"); !s) return s;
  const bool fits = dims.rank >= 0 && std::size_t(dims.rank) <= max_rank;
  if (fits) to = extents{std::span<const std::int64_t>{dims.dims, std::size_t(dims.rank)}};
  sdk_->shape_free(&dims);
  return fits ? status{} : status{status_code::ep_fail, "OpenVINO returned a tensor of too many dims"};
}

/// Copies an output whose shape is only known after the run.
status program::fetch(ov_infer_request_t& from, const port& p, run_context& c) const {
  ov_tensor_t* raw = nullptr;
  if (status s =
          sdk_->check(sdk_->infer_request_get_tensor_by_const_port(&from, p.sdk_port.get(), &raw), "reading a tensor");
      !s)
    return s;
  const handle<ov_tensor_t> tensor{raw, sdk_->tensor_free};
  std::size_t bytes = 0;
  if (status s = sdk_->check(sdk_->tensor_get_byte_size(raw, &bytes), "reading a tensor"); !s) return s;
  extents shape;
  if (status s = read_shape(*raw, bytes * 8 == detail::row_of(p.type).bits, shape); !s) return s;
  const result<value*> out = c.output(p.at, shape);
  if (!out) return out.error();
  if (bytes != (*out)->bytes()) return {status_code::ep_fail, "OpenVINO returned a tensor of another element type"};
  if (bytes == 0) return {};
  void* data = nullptr;
  if (status s = sdk_->check(sdk_->tensor_data(raw, &data), "reading a tensor"); !s) return s;
  std::memcpy((*out)->data, data, bytes);
  return {};
}

status program::forward(const port& p, run_context& c) {
  const value& from = p.source == origin::input ? c.input(p.origin_at) : c.output_value(p.origin_at);
  const result<value*> out = c.output(p.at, from.shape);
  if (!out) return out.error();
  if (from.bytes() > 0) std::memcpy((*out)->data, from.data, from.bytes());
  return {};
}

status program::infer(ov_infer_request_t& request, run_context& c) const {
  for (const port& p : inputs_) {
    const value& in = c.input(p.at);
    if (status s = attach(request, p, in.shape, in.data); !s) return s;
  }
  for (const port& p : outputs_) {
    if (!p.is_fixed || p.source != origin::own || !c.has_output(p.at)) continue;
    const result<value*> out = c.output(p.at, p.shape);
    if (!out) return out.error();
    if (status s = attach(request, p, p.shape, (*out)->data); !s) return s;
  }
  if (status s = sdk_->check(sdk_->infer_request_start_async(&request), "starting a run"); !s) return s;
  for (;;) {
    const ov_status_e now = sdk_->infer_request_wait_for(&request, wait_milliseconds);
    if (now == ov_status_e::OK) break;
    if (now != ov_status_e::RESULT_NOT_READY) return sdk_->check(now, "running");
    if (!c.stopped()) continue;
    static_cast<void>(sdk_->infer_request_cancel(&request));
    static_cast<void>(sdk_->infer_request_wait(&request));  // until the SDK no longer writes to the outputs
    return status_code::canceled;
  }
  for (const port& p : outputs_) {
    if (!c.has_output(p.at)) continue;
    if (p.source == origin::own && p.is_fixed) continue;  // written in place
    if (status s = p.source == origin::own ? fetch(request, p, c) : forward(p, c); !s) return s;
  }
  return {};
}

status program::run(run_context& c) const {
  result<request> taken = take_request();
  if (!taken) return std::move(taken).error();
  status done = infer(**taken, c);
  if (!done) return done;  // the state of the request is unknown
  const std::lock_guard lock{idle_->guard};
  idle_->waiting.push_back(std::move(*taken));
  return done;
}

result<std::vector<std::byte>> program::exported() const {
  // The SDK's C interface exports a blob only to a file with a path.
  const auto of_memory = [](const status& error) { return error.in("memory for a blob"); };
  const result<os::scratch_file> to = os::make_scratch_file();
  if (!to) return of_memory(to.error());
  if (status s = sdk_->check(sdk_->compiled_model_export_model(compiled_.get(), to->path.c_str()), "exporting"); !s)
    return s;
  const result<os::file_facts> facts = os::facts_of(to->file);
  if (!facts || facts->bytes == 0) return status{status_code::ep_fail, "OpenVINO, exporting: nothing was written"};
  std::vector<std::byte> blob(std::size_t(facts->bytes));
  for (std::size_t at = 0; at < blob.size();) {
    const result<std::size_t> got = os::read_at(to->file, at, std::span{blob}.subspan(at));
    if (!got || *got == 0) return of_memory(got ? status{status_code::fail, "it became shorter"} : got.error());
    at += *got;
  }
  return blob;
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
