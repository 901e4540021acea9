// What the SDK's C interface lacks: whether a device takes all of a model. In a shared library of its own, because the
// SDK's C++ side is built for the old strings of libstdc++; only C goes in and out.
#include <openvino/runtime/core.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace {

void say(char* words, std::size_t room, const char* text) {
  if (words && room > 0) std::snprintf(words, room, "%s", text);
}

}  // namespace

/// 0: the device runs all of the ONNX model. 1: it does not, and `words` (of `room` bytes, ended by zero) say why.
/// Thread-safe.
extern "C" __attribute__((visibility("default"))) int cameo_openvino_can_run(const char* onnx, std::size_t bytes,
                                                                             const char* device, char* words,
                                                                             std::size_t room) noexcept {
  try {
    static ov::Core& core = *new ov::Core;  // its threads may outlive static objects
    const std::shared_ptr<ov::Model> model = core.read_model(std::string{onnx, bytes}, ov::Tensor{});
    const ov::SupportedOpsMap taken = core.query_model(model, device);
    for (const std::shared_ptr<ov::Node>& node : model->get_ordered_ops())
      if (taken.find(node->get_friendly_name()) == taken.end())
        return say(words, room, ("the device does not run " + std::string{node->get_type_name()}).c_str()), 1;
    return 0;
  } catch (const std::exception& thrown) {
    return say(words, room, thrown.what()), 1;
  } catch (...) {
    return say(words, room, "something was thrown"), 1;
  }
}
