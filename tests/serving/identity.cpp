// A minimal backend of Triton: it copies the input "x" of a request to the output "y". tests/serving/triton.py compares
// the memory of a server that runs cameo's backend with that of a server that runs this one.
#include "triton/server.hpp"

#include <chrono>
#include <cstring>

namespace {

std::uint64_t now() { return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); }

TRITONSERVER_Error* copy(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  TRITONBACKEND_Input* input = nullptr;
  TRITONBACKEND_Output* output = nullptr;
  const char* name = nullptr;
  TRITONSERVER_DataType type = 0;
  const std::int64_t* shape = nullptr;
  std::uint32_t rank = 0, buffers = 0;
  std::uint64_t size = 0;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  std::int64_t id = 0;
  void* to = nullptr;
  if (auto* const error = TRITONBACKEND_RequestInputByIndex(request, 0, &input)) return error;
  if (auto* const error = TRITONBACKEND_InputProperties(input, &name, &type, &shape, &rank, &size, &buffers))
    return error;
  if (auto* const error = TRITONBACKEND_ResponseOutput(response, &output, "y", type, shape, rank)) return error;
  if (auto* const error = TRITONBACKEND_OutputBuffer(output, &to, size, &memory, &id)) return error;
  for (std::uint32_t i = 0; i < buffers; ++i) {
    const void* from = nullptr;
    std::uint64_t bytes = 0;
    if (auto* const error = TRITONBACKEND_InputBuffer(input, i, &from, &bytes, &memory, &id)) return error;
    std::memcpy(to, from, bytes);
    to = static_cast<char*>(to) + bytes;
  }
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, std::uint32_t count) {
  const std::uint64_t begin = now();
  for (std::uint32_t i = 0; i < count; ++i) {
    TRITONBACKEND_Response* response = nullptr;
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseNew(&response, requests[i]));
    TRITONSERVER_Error* const error = copy(requests[i], response);
    TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], !error, begin, begin, now(), now()));
    TRITONSERVER_ErrorDelete(error);
    TRITONSERVER_ErrorDelete(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
  }
  return nullptr;
}
