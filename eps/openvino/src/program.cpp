#include "program.hpp"

#include "claims.hpp"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cameo::inline CAMEO_ABI::eps::openvino_detail {
namespace {

constexpr std::int64_t wait_milliseconds = 20;  // between looks at whether the run is to end

/// The address for tensors without elements, which the SDK wants to have one.
alignas(64) std::byte nothing[64];

/// Which of the node's values each of the SDK's is: by name where every name is known, else by position.
result<std::vector<std::size_t>> places(std::span<const std::string> names, std::span<const boundary> wanted,
                                        std::string_view what) {
  std::vector<std::size_t> found;
  for (const std::string& name : names)
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!name.empty() && wanted[i].name == name) {
        found.push_back(i);
        break;
      }
  if (found.size() == names.size()) return found;
  if (names.size() != wanted.size())
    return status{status_code::ep_fail,
                  fmt::format("OpenVINO's program has {} {}, and the node has {}", names.size(), what, wanted.size())};
  found.clear();
  for (std::size_t i = 0; i < names.size(); ++i) found.push_back(i);
  return found;
}

}  // namespace

result<program::port> program::read_port(ov_output_const_port_t* raw, std::string& name) const {
  port made{{raw, sdk_->output_const_port_free}};
  char* text = nullptr;
  name = sdk_->port_get_any_name(raw, &text) == ov_status_e::OK ? sdk_->take(text) : std::string{};
  ov_element_type_e type = ov_element_type_e::DYNAMIC;
  if (status s = sdk_->check(sdk_->port_get_element_type(raw, &type), "telling an element type"); !s) return s;
  for (const dtype_row& row : elements::rows)
    if (type != ov_element_type_e::DYNAMIC && element_type_of(row.id) == type) made.type = row.id;
  ov_partial_shape_t shape{};
  if (status s = sdk_->check(sdk_->port_get_partial_shape(raw, &shape), "telling a shape"); !s) return s;
  made.is_fixed =
      !sdk_->partial_shape_is_dynamic(shape) && shape.rank.max >= 0 && std::size_t(shape.rank.max) <= max_rank;
  for (std::int64_t i = 0; made.is_fixed && i < shape.rank.max; ++i) made.shape.push_back(shape.dims[i].max);
  sdk_->partial_shape_free(&shape);
  return made;
}

result<std::vector<program::port>> program::read_ports(bool inputs, std::span<const boundary> wanted) const {
  const char* const what = inputs ? "inputs" : "outputs";
  std::size_t count = 0;
  auto* const size = inputs ? sdk_->compiled_model_inputs_size : sdk_->compiled_model_outputs_size;
  if (status s = sdk_->check(size(compiled_.get(), &count), "telling what it compiled"); !s) return s;
  std::vector<port> ports;
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) {
    ov_output_const_port_t* raw = nullptr;
    auto* const get = inputs ? sdk_->compiled_model_input_by_index : sdk_->compiled_model_output_by_index;
    if (status s = sdk_->check(get(compiled_.get(), i, &raw), "telling what it compiled"); !s) return s;
    result<port> made = read_port(raw, names[i]);
    if (!made) return std::move(made.error());
    ports.push_back(std::move(*made));
  }
  const result<std::vector<std::size_t>> at = places(names, wanted, what);
  if (!at) return at.error();
  std::vector<bool> seen(wanted.size());
  for (std::size_t i = 0; i < count; ++i) {
    const boundary& value = wanted[ports[i].at = (*at)[i]];
    if (seen[ports[i].at])
      return status{status_code::ep_fail, fmt::format("OpenVINO's program has two {} '{}'", what, value.name)};
    seen[ports[i].at] = true;
    if (ports[i].type != value.type)
      return status{status_code::ep_fail, fmt::format("OpenVINO's program has '{}' of type {}, and the node {}",
                                                      value.name, row_of(ports[i].type).name, row_of(value.type).name)};
  }
  return ports;
}

result<program> program::make(const sdk& api, handle<ov_compiled_model_t> compiled, std::span<const boundary> inputs,
                              std::span<const boundary> outputs) {
  program made{api, std::move(compiled)};
  for (const bool is_input : {true, false}) {
    result<std::vector<port>> ports = made.read_ports(is_input, is_input ? inputs : outputs);
    if (!ports) return std::move(ports.error());
    (is_input ? made.inputs_ : made.outputs_) = std::move(*ports);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_made =
        std::any_of(made.outputs_.begin(), made.outputs_.end(), [&](const port& p) { return p.at == i; });
    if (!is_made && !outputs[i].name.empty())
      return status{status_code::ep_fail, fmt::format("OpenVINO's program has no output '{}'", outputs[i].name)};
  }
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
          "taking a tensor");
      !s)
    return s;
  const handle<ov_tensor_t> tensor{raw, sdk_->tensor_free};
  return sdk_->check(sdk_->infer_request_set_tensor_by_const_port(&to, p.of.get(), tensor.get()), "taking a tensor");
}

/// What the SDK made where only the run tells its extents.
status program::fetch(ov_infer_request_t& from, const port& p, run_context& c) const {
  ov_tensor_t* raw = nullptr;
  if (status s = sdk_->check(sdk_->infer_request_get_tensor_by_const_port(&from, p.of.get(), &raw), "giving a tensor");
      !s)
    return s;
  const handle<ov_tensor_t> tensor{raw, sdk_->tensor_free};
  ov_shape_t dims{};
  if (status s = sdk_->check(sdk_->tensor_get_shape(raw, &dims), "giving a tensor"); !s) return s;
  const bool fits = dims.rank >= 0 && std::size_t(dims.rank) <= max_rank;
  const extents shape = fits ? extents{std::span<const std::int64_t>{dims.dims, std::size_t(dims.rank)}} : extents{};
  sdk_->shape_free(&dims);
  if (!fits) return {status_code::ep_fail, "OpenVINO gives a tensor of too many dims"};
  const result<value*> out = c.output(p.at, shape);
  if (!out) return out.error();
  std::size_t bytes = 0;
  void* data = nullptr;
  if (status s = sdk_->check(sdk_->tensor_get_byte_size(raw, &bytes), "giving a tensor"); !s) return s;
  if (bytes != (*out)->bytes()) return {status_code::ep_fail, "OpenVINO gives a tensor of another element type"};
  if (bytes == 0) return {};
  if (status s = sdk_->check(sdk_->tensor_data(raw, &data), "giving a tensor"); !s) return s;
  std::memcpy((*out)->data, data, bytes);
  return {};
}

status program::infer(ov_infer_request_t& request, run_context& c) const {
  for (const port& p : inputs_) {
    const value& in = c.input(p.at);
    if (status s = attach(request, p, in.shape, in.data); !s) return s;
  }
  for (const port& p : outputs_) {
    if (!p.is_fixed || !c.has_output(p.at)) continue;
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
    static_cast<void>(sdk_->infer_request_wait(&request));  // until nothing is written any more
    return status_code::canceled;
  }
  for (const port& p : outputs_)
    if (!p.is_fixed && c.has_output(p.at))
      if (status s = fetch(request, p, c); !s) return s;
  return {};
}

status program::run(run_context& c) const {
  result<request> taken = take_request();
  if (!taken) return std::move(taken.error());
  status done = infer(**taken, c);
  if (!done) return done;  // nobody knows what state the request is in
  const std::lock_guard lock{idle_->guard};
  idle_->waiting.push_back(std::move(*taken));
  return done;
}

result<std::vector<std::byte>> program::exported() const {
  // The interface writes to paths alone; this one is memory.
  const int file = memfd_create("openvino blob", MFD_CLOEXEC);
  if (file < 0) return status{status_code::fail, fmt::format("memory for a blob: {}", std::strerror(errno))};
  const auto read = [&]() -> result<std::vector<std::byte>> {
    const std::string path = fmt::format("/proc/self/fd/{}", file);
    if (status s = sdk_->check(sdk_->compiled_model_export_model(compiled_.get(), path.c_str()), "exporting"); !s)
      return s;
    struct stat facts {};
    if (fstat(file, &facts) != 0 || facts.st_size <= 0)
      return status{status_code::ep_fail, "OpenVINO, exporting: nothing was written"};
    std::vector<std::byte> blob(std::size_t(facts.st_size));
    for (std::size_t at = 0; at < blob.size();) {
      const ssize_t got = pread(file, blob.data() + at, blob.size() - at, off_t(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return status{status_code::fail, fmt::format("memory for a blob: {}", std::strerror(errno))};
      at += std::size_t(got);
    }
    return blob;
  };
  result<std::vector<std::byte>> blob = read();
  close(file);
  return blob;
}

}  // namespace cameo::inline CAMEO_ABI::eps::openvino_detail
