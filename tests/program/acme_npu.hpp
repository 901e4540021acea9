#pragma once
#include <cameo/cameo.hpp>
#include <cameo/op/infer.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

/// A provider with its own operators and memory, for tests/scripts/ort_plugin.py.
namespace acme {

inline constexpr cameo::type_rule numbers[] = {{"T", cameo::mask_of<float, double>},
                                               {"U", cameo::mask_of<float, std::int64_t>},
                                               {"tensor(int64)", cameo::mask_of<std::int64_t>},
                                               {"tensor(float)", cameo::mask_of<float>}};

/// y = x * x, elementwise, in both versions.
struct Square {
  static constexpr std::string_view domain = "acme", name = "Square";
  static constexpr cameo::parameter inputs[] = {{"x", "T"}}, outputs[] = {{"y", "T"}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, numbers, {}, 1, 1},
                                                   {2, inputs, outputs, numbers, {}, 1, 1}};
  static cameo::status infer(cameo::infer_context& c) {
    if (const cameo::value_type* x = c.input(0)) c.set_output(0, *x);
    return {};
  }
};
/// y has the elements of x in the type of `like`, and n the number of further inputs.
struct As {
  static constexpr std::string_view domain = "acme.more", name = "As";
  static constexpr cameo::parameter inputs[] = {
      {"x", "T"}, {"like", "U"}, {"others", "V", cameo::parameter_option::variadic, false, 0}};
  static constexpr cameo::parameter outputs[] = {{"y", "U"}, {"n", "tensor(int64)"}};
  static constexpr cameo::op_version versions[] = {{2, inputs, outputs, numbers, {}, 2, 2}};
  static cameo::status infer(cameo::infer_context& c) {
    const std::vector<cameo::dim>* const shape = c.shape(0);
    if (shape) c.set_output(0, cameo::value_type::tensor(c.element(1), *shape));
    c.set_output(1, cameo::value_type::tensor(cameo::dtype::i64, {}));
    return {};
  }
};
/// y = x * x, elementwise. From version 4 on it has other types, a second input, and a second output: the number of
/// further inputs.
struct Grown {
  static constexpr std::string_view domain = "acme.grown", name = "Grown";
  static constexpr cameo::parameter inputs[] = {{"x", "T"}}, outputs[] = {{"y", "T"}};
  static constexpr cameo::parameter more_inputs[] = {{"x", "U"}, {"z", "T"}};
  static constexpr cameo::parameter more_outputs[] = {{"y", "U"}, {"n", "tensor(int64)"}};
  static constexpr cameo::op_version versions[] = {{2, inputs, outputs, numbers, {}, 1, 1},
                                                   {4, more_inputs, more_outputs, numbers, {}, 2, 1}};
  static cameo::status infer(cameo::infer_context& c) {
    if (const cameo::value_type* x = c.input(0)) c.set_output(0, *x);
    if (c.output_count() > 1) c.set_output(1, cameo::value_type::tensor(cameo::dtype::i64, {}));
    return {};
  }
};
/// y = x * x, elementwise. The output is an integer up to version 2, and a float from version 3 on.
struct Turned {
  static constexpr std::string_view domain = "acme.grown", name = "Turned";
  static constexpr cameo::parameter inputs[] = {{"x", "U"}}, outputs[] = {{"y", "tensor(int64)"}},
                                    later[] = {{"y", "tensor(float)"}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, numbers, {}, 1, 1},
                                                   {3, inputs, later, numbers, {}, 1, 1}};
};
/// An operator that the provider does not claim.
struct Later {
  static constexpr std::string_view domain = "acme", name = "Later";
  static constexpr cameo::parameter inputs[] = {{"x", "T"}}, outputs[] = {{"y", "T"}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, numbers, {}, 1, 1}};
};
/// Before version 3, no input has the type of the output. A custom operator of ONNX Runtime cannot express such a type.
struct Guess {
  static constexpr std::string_view domain = "acme", name = "Guess";
  static constexpr cameo::parameter inputs[] = {{"x", "T"}}, outputs[] = {{"y", "U"}}, later[] = {{"y", "T"}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, numbers, {}, 1, 1},
                                                   {3, inputs, later, numbers, {}, 1, 1}};
};

/// The provider's memory. Aborts if something is still allocated at its end.

class memory {
 public:
  ~memory() {
    if (!taken_.empty()) std::abort();
  }
  void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::lock_guard hold{guard_};
    void* const made = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (made) taken_[made] = bytes;
    return made;
  }
  void release(void* made) {
    const std::lock_guard hold{guard_};
    taken_.erase(made), std::free(made);
  }
  bool has(const void* place, std::size_t bytes) {
    const std::lock_guard hold{guard_};
    const char* const from = static_cast<const char*>(place);
    const auto next = taken_.upper_bound(const_cast<char*>(from));
    if (bytes == 0 || next == taken_.begin()) return bytes == 0;
    const auto& [begin, size] = *std::prev(next);
    return from + bytes <= static_cast<const char*>(begin) + size;
  }

 private:
  std::mutex guard_;
  std::map<void*, std::size_t> taken_;
};

struct npu {
  static constexpr std::string_view name = "acme_npu", long_name = "AcmeNpuExecutionProvider";
  static constexpr cameo::provider_vendor vendor{"Acme", 0xACE0};
  using operators = cameo::op_list<Square, As, Grown, Turned, Later, Guess>;
  std::shared_ptr<memory> own = std::make_shared<memory>();

  bool claims(const cameo::node_view& n) const {
    if (n.op_type() == "Softsign") return n.input(0).element() == cameo::dtype::f32;  // an operator of ONNX
    return n.domain().starts_with("acme") && n.op_type() != "Later";
  }
  cameo::status execute(const cameo::step_view& step, cameo::run_context& c) const {
    const cameo::value& x = c.input(0);
    const cameo::result<cameo::value*> y = c.output(0, x.shape);
    if (!y) return y.error();
    if (!own->has(x.data, x.bytes()) || !own->has((*y)->data, (*y)->bytes()))
      return {cameo::status_code::ep_fail, "a value is not in this provider's memory"};
    for (std::int64_t i = 0; i < x.shape.count(); ++i) {
      const double a = x.type == cameo::dtype::f32   ? double(get<float>(x.data, i))
                       : x.type == cameo::dtype::f64 ? get<double>(x.data, i)
                                                     : double(get<std::int64_t>(x.data, i));
      const double b = step.op_type == "As" ? a : step.op_type == "Softsign" ? a / (1 + std::abs(a)) : a * a;
      if ((*y)->type == cameo::dtype::f32) set<float>((*y)->data, i, float(b));
      if ((*y)->type == cameo::dtype::f64) set<double>((*y)->data, i, b);
      if ((*y)->type == cameo::dtype::i64) set<std::int64_t>((*y)->data, i, std::int64_t(b));
    }
    if (step.outputs.size() < 2) return {};
    const cameo::result<cameo::value*> n = c.output(1, cameo::extents{});
    if (!n) return n.error();
    set<std::int64_t>((*n)->data, 0, std::int64_t(step.inputs.size()) - (step.op_type == "As" ? 2 : 1));
    return {};
  }
  void* allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    log_call("allocate", bytes);
    return own->allocate(bytes, alignment);
  }
  void release(void* made, std::size_t) const noexcept { own->release(made); }
  cameo::status copy_from_host(void* to, const void* from, std::size_t bytes) const {
    log_call("to device", bytes);
    return copy(to, from, bytes, own->has(to, bytes));
  }
  cameo::status copy_to_host(void* to, const void* from, std::size_t bytes) const {
    log_call("to host", bytes);
    return copy(to, from, bytes, own->has(from, bytes));
  }

 private:
  // In this memory some bits are flipped, so that code which takes it for host memory gets wrong numbers.
  static constexpr unsigned char flipped_bits = 0x5a;

  static cameo::status copy(void* to, const void* from, std::size_t bytes, bool is_own) {
    if (!is_own) return {cameo::status_code::ep_fail, "a copy from or to memory that is not this provider's"};
    for (std::size_t i = 0; i < bytes; ++i)
      static_cast<unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i] ^ flipped_bits;
    return {};
  }
  template <class T>
  static T get(const void* from, std::int64_t i) {
    T made;
    static_cast<void>(copy(&made, static_cast<const T*>(from) + i, sizeof made, true));
    return made;
  }
  template <class T>
  static void set(void* to, std::int64_t i, T value) {
    static_cast<void>(copy(static_cast<T*>(to) + i, &value, sizeof value, true));
  }
  /// Appends a line to the file in the environment variable ACME_NPU_CALLS, for tests that count calls.
  static void log_call(const char* what, std::size_t bytes) {
    const char* const path = std::getenv("ACME_NPU_CALLS");
    std::FILE* const file = path ? std::fopen(path, "a") : nullptr;
    if (!file) return;
    std::fprintf(file, "%s %zu\n", what, bytes);
    std::fclose(file);
  }
};
static_assert(cameo::memory_provider<npu>);

}  // namespace acme
