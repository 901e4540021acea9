// Checks whether a device supports a whole model, which the SDK's C interface can't. It is a separate shared library
// with a C interface, because the SDK's C++ interface uses the old ABI of libstdc++'s strings.
#include <openvino/core/version.hpp>
#include <openvino/runtime/core.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace {

void set_words(char* words, std::size_t capacity, const char* text) {
  if (words && capacity > 0) std::snprintf(words, capacity, "%s", text);
}

/// True if the shapes of the SDK's outputs are compatible with `shapes`, in the encoding of cameo_openvino_can_run().
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

/// An address in the SDK's C++ library, by which its file can be found.
extern "C" __attribute__((visibility("default"))) const void* cameo_openvino_code() noexcept {
  return reinterpret_cast<const void*>(&ov::get_openvino_version);
}

/// Returns 0 if the device runs the whole ONNX model, and the shapes of its outputs are compatible with `shapes`:
/// `count` numbers, for each output its rank and its dims, -1 for an unknown one. Otherwise returns 1 and writes the
/// reason to `words`, a buffer of `capacity` bytes, as a zero-terminated text. Thread-safe.
extern "C" __attribute__((visibility("default"))) int cameo_openvino_can_run(const char* onnx, std::size_t bytes,
                                                                             const char* device,
                                                                             const std::int64_t* shapes,
                                                                             std::size_t count, char* words,
                                                                             std::size_t capacity) noexcept {
  try {
    static ov::Core& core = *new ov::Core;  // its threads may outlive static objects
    const std::shared_ptr<ov::Model> model = core.read_model(std::string{onnx, bytes}, ov::Tensor{});
    if (!agree(*model, shapes, count)) return set_words(words, capacity, "outputs have other shapes"), 1;
    const ov::SupportedOpsMap taken = core.query_model(model, device);
    for (const std::shared_ptr<ov::Node>& node : model->get_ordered_ops())
      if (taken.find(node->get_friendly_name()) == taken.end())
        return set_words(words, capacity, ("the device does not run " + std::string{node->get_type_name()}).c_str()), 1;
    return 0;
  } catch (const std::exception& thrown) {
    return set_words(words, capacity, thrown.what()), 1;
  } catch (...) {
    return set_words(words, capacity, "something was thrown"), 1;
  }
}
