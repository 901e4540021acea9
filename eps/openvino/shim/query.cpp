// What the SDK's C interface lacks: whether a device takes all of a model. In a shared library of its own, because the
// SDK's C++ side is built for the old strings of libstdc++; only C goes in and out.
#include <openvino/core/version.hpp>
#include <openvino/runtime/core.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

void say(char* words, std::size_t room, const char* text) {
  if (words && room > 0) std::snprintf(words, room, "%s", text);
}

/// The SDK's shapes against those that are known otherwise, in the encoding below.
bool agree(const ov::Model& model, const std::int64_t* shapes, std::size_t count) {
  const std::int64_t* const end = shapes + count;
  for (const std::shared_ptr<ov::op::v0::Result>& result : model.get_results()) {
    if (shapes == end) return false;
    const std::int64_t rank = *shapes++;
    ov::PartialShape known = ov::PartialShape::dynamic();
    if (rank >= 0) {
      if (end - shapes < rank) return false;
      known = ov::PartialShape{std::vector<ov::Dimension>(shapes, shapes + rank)};
      shapes += rank;
    }
    if (!result->get_output_partial_shape(0).compatible(known)) return false;
  }
  return shapes == end;
}

}  // namespace

/// An address in the SDK's C++ library, which shows where that lies.
extern "C" __attribute__((visibility("default"))) const void* cameo_openvino_code() noexcept {
  return reinterpret_cast<const void*>(&ov::get_openvino_version);
}

/// 0: the device runs all of the ONNX model, and the shapes of its outputs agree with `shapes`: for each its rank, then
/// its dims, -1 for what is not known, `count` numbers in all. 1: not so, and `words` (of `room` bytes, ended by zero)
/// say why. Thread-safe.
extern "C" __attribute__((visibility("default"))) int cameo_openvino_can_run(const char* onnx, std::size_t bytes,
                                                                             const char* device,
                                                                             const std::int64_t* shapes,
                                                                             std::size_t count, char* words,
                                                                             std::size_t room) noexcept {
  try {
    static ov::Core& core = *new ov::Core;  // its threads may outlive static objects
    const std::shared_ptr<ov::Model> model = core.read_model(std::string{onnx, bytes}, ov::Tensor{});
    if (!agree(*model, shapes, count)) return say(words, room, "outputs have other shapes"), 1;
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
