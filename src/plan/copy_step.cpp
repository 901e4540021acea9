#include "plan/copy_step.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

struct copier {
  const memory_source* device;
  bool to_host;
};

status run_copy(const void* state, run_context& c) {
  const copier& self = *static_cast<const copier*>(state);
  const value& from = c.input(0);
  if (from.kind != value_kind::tensor) return c.forward(0, from);
  const result<value*> to = c.output(0, from.shape);
  if (!to) return to.error();
  const auto copy = self.to_host ? self.device->copy_to_host : self.device->copy_from_host;
  return copy(self.device->self, (*to)->data, from.data, from.bytes());
}

/// Device memory that is released with the plan.
class device_memory {
 public:
  device_memory(const memory_source& device, void* memory, std::size_t bytes)
      : device_{&device}, memory_{memory}, bytes_{bytes} {}
  device_memory(device_memory&& from) noexcept
      : device_{from.device_}, memory_{std::exchange(from.memory_, nullptr)}, bytes_{from.bytes_} {}
  ~device_memory() {
    if (memory_) device_->release(device_->self, memory_, bytes_);
  }

 private:
  const memory_source* device_;
  void* memory_;
  std::size_t bytes_;
};

}  // namespace

result<plan_step> copy_step(const memory_source& device, bool to_host, slot from, slot to, arena& memory) {
  const copier* const state = memory.keep(copier{&device, to_host});
  const result<std::span<slot>> slots = memory.take<slot>(2);
  if (!state || !slots) return status_code::out_of_memory;
  (*slots)[0] = from, (*slots)[1] = to;
  plan_step step;
  step.kernel = {state, run_copy};
  step.inputs = slots->first(1), step.outputs = slots->last(1);
  step.op_type = to_host ? "copy to host" : "copy from host";
  return step;
}

result<value> copy_constant(const value& constant, const memory_source& device, std::uint8_t kind, arena& memory) {
  const std::size_t bytes = std::max<std::size_t>(constant.bytes(), 1);
  void* const there = device.allocate(device.self, bytes, 64);
  if (!there) return status{status_code::out_of_memory, device.name};
  if (!memory.keep(device_memory{device, there, bytes})) return status_code::out_of_memory;
  if (status s = device.copy_from_host(device.self, there, constant.data, constant.bytes()); !s) return s;
  value moved = constant;
  moved.data = there;
  moved.memory = kind;
  return moved;
}

}  // namespace CAMEO_NAMESPACE
