// Execution of requests. Triton's dynamic batcher passes several requests in one call; those that fit together become
// one run.
#include "triton/model.hpp"

#include "core/guarded.hpp"
#include "file/messages.hpp"

#include <chrono>
#include <cstring>

namespace cameo::triton {
namespace {

std::uint64_t now() { return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); }

/// An input of a request. The elements are borrowed from the request, or gathered from several buffers.
struct given_tensor {
  std::string name;
  dtype type = dtype::undefined;
  extents shape;
  const std::byte* bytes = nullptr;
  std::size_t size = 0;                  // bytes
  std::vector<std::byte> gathered = {};  // the owner of the bytes, if there are several buffers
  any_value texts = {};                  // the elements of type string

  value view() const { return texts ? texts.view() : value::tensor(type, shape, bytes); }
};

/// Reads the elements of a tensor of strings. Triton serializes each as its length in four bytes, then its bytes.
result<any_value> texts_in(const given_tensor& from) {
  std::vector<std::string_view> all;
  std::size_t at = 0;
  while (at < from.size) {
    std::uint32_t length = 0;
    if (from.size - at < sizeof length) break;
    std::memcpy(&length, from.bytes + at, sizeof length);
    at += sizeof length;
    if (from.size - at < length) break;
    all.emplace_back(reinterpret_cast<const char*>(from.bytes + at), length);
    at += length;
  }
  if (at != from.size || all.size() != std::size_t(from.shape.count()))
    return failed(status_code::invalid_argument, "input '{}' has {} texts in {} bytes, and needs {}", from.name,
                  all.size(), from.size, from.shape.count());
  any_value made = any_value::tensor(from.shape, all);
  if (!made) return status_code::out_of_memory;
  return made;
}

status gather(TRITONBACKEND_Input* input, std::uint32_t buffers, std::uint64_t size, given_tensor& to) {
  for (std::uint32_t i = 0; i < buffers; ++i) {
    const void* buffer = nullptr;
    std::uint64_t bytes = 0;
    TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
    std::int64_t id = 0;
    if (status s = to_status(TRITONBACKEND_InputBuffer(input, i, &buffer, &bytes, &memory, &id)); !s) return s;
    if (memory == TRITONSERVER_MEMORY_GPU)
      return failed(status_code::invalid_argument, "input '{}' is in the memory of a GPU", to.name);
    const auto* const from = static_cast<const std::byte*>(buffer);
    if (buffers == 1) return to.bytes = from, to.size = bytes, status{};
    to.gathered.reserve(size);
    to.gathered.insert(to.gathered.end(), from, from + bytes);
  }
  to.bytes = to.gathered.data(), to.size = to.gathered.size();
  return {};
}

result<given_tensor> read_input(TRITONBACKEND_Request* request, std::uint32_t number) {
  TRITONBACKEND_Input* input = nullptr;
  const char* name = nullptr;
  TRITONSERVER_DataType type = 0;
  const std::int64_t* shape = nullptr;
  std::uint32_t rank = 0, buffers = 0;
  std::uint64_t size = 0;
  if (status s = to_status(TRITONBACKEND_RequestInputByIndex(request, number, &input)); !s) return s;
  if (status s = to_status(TRITONBACKEND_InputProperties(input, &name, &type, &shape, &rank, &size, &buffers)); !s)
    return s;
  if (rank > max_rank) return failed(status_code::invalid_argument, "input '{}' has rank {}", name, rank);
  given_tensor made{name, dtype_of_number(type), extents{std::span<const std::int64_t>{shape, rank}}};
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  if (!made.shape.checked_count(count))
    return failed(status_code::invalid_argument, "input '{}' has an invalid shape", name);
  if (status s = gather(input, buffers, size, made); !s) return s;
  if (made.type == dtype::string) {
    result<any_value> texts = texts_in(made);
    if (!texts) return std::move(texts).error();
    made.texts = std::move(*texts);
    return made;
  }
  if (!detail::checked_bytes(made.type, std::uint64_t(count), bytes) || bytes != made.size)
    return failed(status_code::invalid_argument, "input '{}' has {} bytes, and its shape takes {}", name, made.size,
                  bytes);
  return made;
}

/// A request with its inputs and the status of its execution.
struct served_request {
  TRITONBACKEND_Request* request;
  std::vector<given_tensor> inputs = {};
  status outcome = {};

  std::int64_t rows() const { return inputs.empty() || inputs[0].shape.rank() == 0 ? 1 : inputs[0].shape[0]; }
  bool is_canceled() const {
    bool canceled = false;
    TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestIsCancelled(request, &canceled));
    return canceled;
  }
};

status read(served_request& to) {
  std::uint32_t count = 0;
  if (status s = to_status(TRITONBACKEND_RequestInputCount(to.request, &count)); !s) return s;
  for (std::uint32_t i = 0; i < count; ++i) {
    result<given_tensor> input = read_input(to.request, i);
    if (!input) return std::move(input).error();
    to.inputs.push_back(std::move(*input));
  }
  return {};
}

/// True if two requests can be joined along the batch axis.
bool fit_together(const served_request& a, const served_request& b) {
  if (a.inputs.size() != b.inputs.size()) return false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    const given_tensor &x = a.inputs[i], &y = b.inputs[i];
    if (x.name != y.name || x.type != y.type || x.texts || y.texts || x.shape.rank() != y.shape.rank() ||
        x.shape.rank() == 0 || x.shape[0] != a.rows() || y.shape[0] != b.rows())
      return false;
    for (std::size_t axis = 1; axis < x.shape.rank(); ++axis)
      if (x.shape[axis] != y.shape[axis]) return false;
  }
  return true;
}

/// A stop token that ends a run once all of its requests were canceled.
struct all_canceled {
  std::span<served_request> requests;
  bool stop_requested() const {
    for (const served_request& each : requests)
      if (!each.is_canceled()) return false;
    return true;
  }
};

run_settings settings_of(const served_model& model, std::span<served_request> group) {
  run_settings made;
  made.timeout = model.timeout();
  made.stop = all_canceled{group};
  return made;
}

/// Runs a group of requests as one batch. The inputs of several requests are copied to join them.
result<named_values> run_together(const served_model& model, std::span<served_request> group) {
  std::vector<named_input> given;
  std::vector<std::vector<std::byte>> joined;
  for (std::size_t i = 0; i < group[0].inputs.size(); ++i) {
    value whole = group[0].inputs[i].view();
    if (group.size() > 1) {
      std::vector<std::byte>& bytes = joined.emplace_back();
      whole.shape[0] = 0;
      for (const served_request& each : group) {
        bytes.insert(bytes.end(), each.inputs[i].bytes, each.inputs[i].bytes + each.inputs[i].size);
        whole.shape[0] += each.rows();
      }
      whole.data = bytes.data();
    }
    given.emplace_back(std::string_view{group[0].inputs[i].name}, whole);
  }
  return model.run(given, settings_of(model, group));
}

std::string texts_as_bytes(const value& v, std::size_t first, std::size_t count) {
  std::string made;
  for (std::size_t i = first; i < first + count; ++i) {
    const std::string_view text = v.as_unchecked<std::string_view>()[i];
    const auto length = std::uint32_t(text.size());
    made.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
  }
  return made;
}

/// Adds an output to a response: if the run is shared by several requests, rows [first, first + rows), else all of it.
status write_output(TRITONBACKEND_Response* response, const named_value& output, bool is_shared, std::int64_t first,
                    std::int64_t rows) {
  const value& v = output.value.view();
  const type_row& type = type_of(v.type);
  if (v.kind != value_kind::tensor || type.number == 0)
    return failed(status_code::not_implemented, "output '{}' is {}, which Triton has no type for", output.name,
                  to_string(v, 0));
  extents shape = v.shape;
  std::size_t begin = 0;
  if (is_shared) {
    begin = std::size_t(first) * std::size_t(v.shape.count(1, v.shape.rank())), shape[0] = rows;
  }
  const auto count = std::size_t(shape.count());
  const std::string texts = v.type == dtype::string ? texts_as_bytes(v, begin, count) : std::string{};
  const std::size_t element = bits_of(v.type) / 8;
  const std::uint64_t bytes = v.type == dtype::string ? texts.size() : count * element;
  TRITONBACKEND_Output* made = nullptr;
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  std::int64_t id = 0;
  if (status s = to_status(TRITONBACKEND_ResponseOutput(response, &made, output.name.c_str(), type.number,
                                                        shape.begin(), std::uint32_t(shape.rank())));
      !s)
    return s;
  if (status s = to_status(TRITONBACKEND_OutputBuffer(made, &buffer, bytes, &memory, &id)); !s) return s;
  if (memory == TRITONSERVER_MEMORY_GPU)
    return failed(status_code::not_implemented, "output '{}' is requested in the memory of a GPU", output.name);
  const void* const from = v.type == dtype::string
                               ? texts.data()
                               : static_cast<const void*>(static_cast<std::byte*>(v.data) + begin * element);
  if (bytes) std::memcpy(buffer, from, bytes);
  return {};
}

status answer(TRITONBACKEND_Response* response, TRITONBACKEND_Request* request, const named_values& outputs,
              bool is_shared, std::int64_t first, std::int64_t rows) {
  std::uint32_t count = 0;
  if (status s = to_status(TRITONBACKEND_RequestOutputCount(request, &count)); !s) return s;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (status s = to_status(TRITONBACKEND_RequestOutputName(request, i, &name)); !s) return s;
    for (const named_value& output : outputs)
      if (output.name == name)
        if (status s = write_output(response, output, is_shared, first, rows); !s) return s;
  }
  return {};
}

/// Sends the final response, with the outputs of a run or with the error.
void respond(served_request& to, const named_values* outputs, bool is_shared, std::int64_t first) {
  TRITONBACKEND_Response* response = nullptr;
  if (!to_status(TRITONBACKEND_ResponseNew(&response, to.request))) return;
  if (to.outcome && outputs)
    to.outcome = guarded([&] { return answer(response, to.request, *outputs, is_shared, first, to.rows()); });
  TRITONSERVER_Error* const error = to_error(to.outcome);
  TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  if (error) TRITONSERVER_ErrorDelete(error);
}

/// True if the first axis of every output has `rows` elements.
bool has_rows(const named_values& outputs, std::int64_t rows) {
  for (const named_value& each : outputs)
    if (each.value.shape().rank() == 0 || each.value.shape()[0] != rows) return false;
  return true;
}

void serve_group(TRITONBACKEND_ModelInstance* instance, const served_model& model, std::span<served_request> group,
                 std::uint64_t begin) {
  std::int64_t rows = 0;
  for (const served_request& each : group) rows += each.rows();
  const std::uint64_t start = now();
  const result<named_values> made = guarded([&] { return run_together(model, group); });
  const std::uint64_t end = now();
  // If a shared run fails or the model changes the number of rows, each request is run separately: one request may have
  // caused the failure of all.
  if (group.size() > 1 && (!made || !has_rows(*made, rows))) {
    for (std::size_t i = 0; i < group.size(); ++i) serve_group(instance, model, group.subspan(i, 1), begin);
    return;
  }
  std::int64_t first = 0;
  for (served_request& each : group) {
    if (!made) each.outcome = made.error();
    respond(each, made ? &*made : nullptr, group.size() > 1, first);
    first += each.rows();
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelInstanceReportStatistics(instance, each.request, bool(each.outcome),
                                                                         begin, start, end, now()));
  }
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, std::uint64_t(rows), begin, start, end, now()));
}

}  // namespace

void serve(TRITONBACKEND_ModelInstance* instance, const served_model& model,
           std::span<TRITONBACKEND_Request*> requests) {
  const std::uint64_t begin = now();
  std::vector<served_request> all;
  for (TRITONBACKEND_Request* request : requests) {
    served_request one{request};
    one.outcome =
        one.is_canceled() ? status{status_code::canceled, "before it ran"} : guarded([&] { return read(one); });
    if (one.outcome) {
      all.push_back(std::move(one));
      continue;
    }
    respond(one, nullptr, false, 0);
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ModelInstanceReportStatistics(instance, request, false, 0, 0, 0, 0));
  }
  for (std::size_t at = 0; at < all.size();) {
    std::size_t end = at + 1;
    while (end < all.size() && model.batches() && fit_together(all[at], all[end])) ++end;
    serve_group(instance, model, std::span{all}.subspan(at, end - at), begin);
    at = end;
  }
  for (TRITONBACKEND_Request* request : requests)
    TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
}

}  // namespace cameo::triton
