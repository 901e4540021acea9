#include "session/models.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Memory that is accessible only during a step of its provider: any other access faults.
class locked_memory {
 public:
  void* allocate(std::size_t bytes) {
    const std::size_t size = (bytes + 4095) & ~std::size_t{4095};
    void* const memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const std::lock_guard hold{mutex_};
    if (memory != MAP_FAILED) sizes_[memory] = size;
    return memory == MAP_FAILED ? nullptr : memory;
  }
  void release(void* memory) {
    const std::lock_guard hold{mutex_};
    munmap(memory, sizes_.at(memory));
    sizes_.erase(memory);
  }
  void set(int protection) {
    const std::lock_guard hold{mutex_};
    for (const auto& [memory, size] : sizes_) mprotect(memory, size, protection);
  }
  std::size_t count() {
    const std::lock_guard hold{mutex_};
    return sizes_.size();
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::size_t> sizes_;
};

struct device_counters {
  locked_memory memory;
  std::atomic<int> to_device{0}, to_host{0}, steps{0};
};

/// A provider that runs Neg and Mul on tensors in separate memory.
struct device {
  static constexpr std::string_view name = "device", long_name = "DeviceExecutionProvider";
  std::shared_ptr<device_counters> state = std::make_shared<device_counters>();

  bool claims(const node_view& n) const {
    return (n.op_type() == "Neg" || n.op_type() == "Mul") && n.input(0).element() == dtype::f32;
  }
  status execute(const step_view& step, run_context& c) const {
    ++state->steps;
    const bool multiply = step.op_type == "Mul";
    const tensor_view<const float> a = c.input<float>(0);
    const result<tensor_view<float>> y = c.output<float>(0, a.shape());
    if (!y) return y.error();
    state->memory.set(PROT_READ | PROT_WRITE);
    for (std::int64_t i = 0; i < a.count(); ++i) (*y)[i] = multiply ? a[i] * c.input<float>(1)[i] : -a[i];
    state->memory.set(PROT_NONE);
    return {};
  }
  void* allocate(std::size_t bytes, std::size_t) const noexcept { return state->memory.allocate(bytes); }
  void release(void* memory, std::size_t) const noexcept { state->memory.release(memory); }
  status copy_from_host(void* to, const void* from, std::size_t bytes) const {
    ++state->to_device;
    return copy(to, from, bytes);
  }
  status copy_to_host(void* to, const void* from, std::size_t bytes) const {
    ++state->to_host;
    return copy(to, from, bytes);
  }

 private:
  status copy(void* to, const void* from, std::size_t bytes) const {
    state->memory.set(PROT_READ | PROT_WRITE);
    std::memcpy(to, from, bytes);
    state->memory.set(PROT_NONE);
    return {};
  }
};
static_assert(memory_provider<device>);

/// A program's allocator, which counts bytes of the heap and has a limit.
class counted_memory {
 public:
  std::atomic<std::size_t> taken{0}, most{std::size_t(-1)};

  void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (taken + bytes > most) return nullptr;
    void* const memory = heap_.allocate(heap_.self, bytes, alignment);
    const std::lock_guard hold{mutex_};
    if (memory) taken += bytes, sizes_[memory] = bytes;
    return memory;
  }
  void release(void* memory, std::size_t bytes) noexcept {
    const std::lock_guard hold{mutex_};
    if (sizes_.at(memory) == bytes) taken -= bytes, sizes_.erase(memory);
    heap_.release(heap_.self, memory, bytes);
  }
  bool holds(const void* p) {
    const std::lock_guard hold{mutex_};
    const auto after = sizes_.upper_bound(const_cast<void*>(p));
    return after != sizes_.begin() && p < static_cast<const char*>(std::prev(after)->first) + std::prev(after)->second;
  }

 private:
  memory_source heap_ = heap_memory();
  std::mutex mutex_;
  std::map<void*, std::size_t> sizes_;
};
static_assert(host_memory<counted_memory>);

}  // namespace

TEST_CASE("values of runs lie in the memory that a session is given, fixed or not, and all of it comes back") {
  counted_memory own;
  for (bool fixed : {true, false}) {
    CAPTURE(fixed);
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {fixed ? dim::fixed(40) : b.symbol("n")});
    b.output(b.node("Abs", {b.node("Neg", {x})}));
    session_options options;
    options.allocate_from(own);
    {
      const result<session> s = cameo::runtime<eps::cpu>{}.load(b.take(), options);
      REQUIRE_MESSAGE(s, std::string{s.error().words()});
      CHECK(s->step_count() == 2);  // the given memory replaces cpu's, so that nothing is copied
      result<io_binding> bound = s->bind();
      REQUIRE(bound);
      const std::vector<float> xs = ramp(40);
      REQUIRE(bound->bind_input("x", value::tensor<float>({40}, xs)));
      for (int run = 0; run < 3; ++run) {
        REQUIRE(s->run(*bound));
        CHECK(own.holds(bound->output(0).data));
        for (std::int64_t i = 0; i < 40; ++i)
          CHECK(bound->output(0).as_unchecked<float>()[i] == std::abs(xs[std::size_t(i)]));
      }
      CHECK(own.taken >= bound->arena_bytes());
    }
    CHECK(own.taken == 0);
  }
}

TEST_CASE("a session whose own memory is used up says OUT_OF_MEMORY, and goes on when there is some again") {
  counted_memory own;
  model_builder b;
  b.output(b.node("Neg", {b.node("Exp", {b.input("x", dtype::f32, {b.symbol("n")})})}));
  session_options options;
  options.allocate_from(own);
  const result<session> s = cameo::runtime<eps::cpu>{}.load(b.take(), options);
  REQUIRE(s);
  const any_value large = any_value::tensor({1 << 16}, std::vector<float>(1 << 16));
  own.most = 1 << 12;
  const result<named_values> refused = s->run({{"x", large}});
  REQUIRE(!refused);
  CHECK(refused.error().code() == status_code::out_of_memory);
  own.most = 1 << 24;
  CHECK(s->run({{"x", large}}));
}

TEST_CASE("a provider with separate memory works with a session's memory") {
  counted_memory own;
  {
    model_builder b;
    b.output(b.node("Abs", {b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(40)})})}));
    device npu;
    session_options options;
    options.allocate_from(own);
    const result<session> s = cameo::runtime<device, eps::cpu>{npu, eps::cpu{}}.load(b.take(), options);
    REQUIRE_MESSAGE(s, std::string{s.error().words()});
    const result<named_values> out = s->run({{"x", any_value::tensor({40}, ramp(40))}});
    REQUIRE(out);
    for (std::int64_t i = 0; i < 40; ++i)
      CHECK((*out)[0].value.as_unchecked<float>()[i] == std::abs(ramp(40)[std::size_t(i)]));
    CHECK(npu.state->to_device == 1);
    CHECK(npu.state->to_host == 1);
    CHECK(own.taken > 0);
  }
  CHECK(own.taken == 0);
}

TEST_CASE("values are copied once between kinds of memory, and only where a node needs them") {
  for (bool fixed : {true, false}) {
    CAPTURE(fixed);
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {fixed ? dim::fixed(40) : b.symbol("n")});
    const value_id w = b.constant("w", {40}, ramp(40));
    const value_id negated = b.node("Neg", {x});           // device
    const value_id product = b.node("Mul", {negated, w});  // device, without a copy
    const value_id root = b.node("Abs", {product});        // host
    b.output(b.node("Add", {root, product}));              // host, with the same copy of `product`
    b.output(b.node("Neg", {root}));                       // device; the output is copied back
    device npu;
    const auto counters = npu.state;
    {
      const cameo::runtime<device, eps::cpu> rt{npu, eps::cpu{}};
      const result<session> s = rt.load(b.take());
      REQUIRE_MESSAGE(s, std::string{s.error().words()});
      CHECK(counters->to_device == 1);  // the constant is copied once
      const any_value in = any_value::tensor({40}, ramp(40, 0.5f));
      for (int run = 1; run <= 3; ++run) {
        const result<named_values> out = s->run({{"x", in}});
        REQUIRE_MESSAGE(out, std::string{out.error().words()});
        CHECK(counters->steps == 3 * run);
        CHECK(counters->to_device == 1 + 2 * run);
        CHECK(counters->to_host == 2 * run);
        const std::vector<float> xs = ramp(40, 0.5f), ws = ramp(40);
        for (std::size_t i = 0; i < 40; ++i) {
          const float p = -xs[i] * ws[i];
          CHECK((*out)[0].value.as_unchecked<float>()[std::int64_t(i)] == std::abs(p) + p);
          CHECK((*out)[1].value.as_unchecked<float>()[std::int64_t(i)] == -std::abs(p));
        }
      }
    }
    CHECK(counters->memory.count() == 0);  // all memory was released
  }
}

TEST_CASE("a run over the memory limit is OUT_OF_MEMORY, and the session goes on") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("n")});
  b.output(b.node("Neg", {b.node("Exp", {x})}));
  session_options options;
  options.memory_limit = 1 << 20;
  const result<session> s = cameo::runtime<eps::cpu>{}.load(b.take(), options);
  REQUIRE(s);
  const any_value large = any_value::tensor({1 << 20}, std::vector<float>(1 << 20)),
                  small = any_value::tensor({4}, ramp(4));
  CHECK(s->run({{"x", small}}));
  const result<named_values> refused = s->run({{"x", large}});
  REQUIRE(!refused);
  CHECK(refused.error().code() == status_code::out_of_memory);
  CHECK(s->run({{"x", small}}));
}

namespace {

/// Floats in a device's memory, which the device's counters do not include.
class device_floats {
 public:
  device_floats(device d, const std::vector<float>& from) : device_{std::move(d)}, bytes_{from.size() * sizeof(float)} {
    memory_ = device_.allocate(bytes_, 64);
    copy(memory_, from.data());
  }
  device_floats(const device_floats&) = delete;
  device_floats& operator=(const device_floats&) = delete;
  ~device_floats() { device_.release(memory_, bytes_); }

  value tensor() const { return value::tensor(dtype::f32, {std::int64_t(bytes_ / sizeof(float))}, memory_); }
  std::vector<float> read() const { return read(tensor()); }
  std::vector<float> read(const value& v) const {
    std::vector<float> made(std::size_t(v.shape.count()));
    const device_counters& was = *device_.state;
    const int to_host = was.to_host;
    REQUIRE(device_.copy_to_host(made.data(), v.data, v.bytes()));
    device_.state->to_host = to_host;
    return made;
  }

 private:
  void copy(void* to, const void* from) {
    const int to_device = device_.state->to_device;
    REQUIRE(device_.copy_from_host(to, from, bytes_));
    device_.state->to_device = to_device;
  }
  device device_;
  std::size_t bytes_;
  void* memory_;
};

result<session> load_in_device(const device& npu, std::unique_ptr<model> m, std::string_view in = "device") {
  session_options options;
  options.io_memory = in;
  return cameo::runtime<device, eps::cpu>{npu, eps::cpu{}}.load(std::move(m), options);
}

}  // namespace

TEST_CASE("inputs and outputs in a provider's memory are copied only for nodes of other providers") {
  for (bool fixed : {true, false}) {
    CAPTURE(fixed);
    device npu;
    const auto counters = npu.state;
    {
      model_builder b;
      const value_id x = b.input("x", dtype::f32, {fixed ? dim::fixed(40) : b.symbol("n")});
      const value_id negated = b.node("Neg", {x});     // device, as input and output
      const value_id root = b.node("Abs", {negated});  // host: its input and its output are copied
      b.output(negated);
      b.output(b.node("Mul", {root, x}));  // device
      b.output(root);                      // made on the host; the output is the copy that Mul reads
      const result<session> s = load_in_device(npu, b.take());
      REQUIRE_MESSAGE(s, std::string{s.error().words()});
      const std::vector<float> xs = ramp(40, 0.5f), none(40);
      const device_floats in{npu, xs}, a{npu, none}, y{npu, none}, r{npu, none};
      result<io_binding> bound = s->bind();
      REQUIRE(bound);
      REQUIRE(bound->bind_input("x", in.tensor()));
      for (int run = 1; run <= 6; ++run) {
        // The outputs are bound, or in the binding's memory, which is the device's, too.
        const bool is_bound = run <= 3;
        const device_floats* const to[] = {&a, &y, &r};
        for (std::size_t i = 0; i < 3; ++i) REQUIRE(bound->bind_output(i, is_bound ? to[i]->tensor() : value{}));
        const int to_device = counters->to_device, to_host = counters->to_host;
        const status done = s->run(*bound);
        REQUIRE_MESSAGE(done, std::string{done.words()});
        CHECK(counters->to_device == to_device + 1);
        CHECK(counters->to_host == to_host + 1);
        std::vector<float> found[3];
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(bound->output(i).memory != 0);
          CHECK((bound->output(i).data == to[i]->tensor().data) == is_bound);
          found[i] = in.read(bound->output(i));
        }
        for (std::size_t i = 0; i < 40; ++i) {
          CHECK(found[0][i] == -xs[i]);
          CHECK(found[1][i] == std::abs(xs[i]) * xs[i]);
          CHECK(found[2][i] == std::abs(xs[i]));
        }
      }
    }
    CHECK(counters->memory.count() == 0);
  }
}

TEST_CASE("an output that no node computes is copied to bound device memory through the host") {
  device npu;
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(40)}), w = b.constant("w", {40}, ramp(40, 2.0f));
  const value_id negated = b.node("Neg", {x});
  for (value_id each : {x, w, negated}) b.output(each);
  b.output(b.node("Identity", {negated}));  // on the host, without a copy: it forwards its input
  const result<session> s = load_in_device(npu, b.take());
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  const std::vector<float> xs = ramp(40, 0.5f), ws = ramp(40, 2.0f), none(40);
  const device_floats in{npu, xs}, a{npu, none}, c{npu, none}, d{npu, none}, e{npu, none};
  result<io_binding> bound = s->bind();
  REQUIRE(bound);
  REQUIRE(bound->bind_input("x", in.tensor()));
  std::size_t i = 0;
  for (const device_floats* each : {&a, &c, &d, &e}) REQUIRE(bound->bind_output(i++, each->tensor()));
  const status done = s->run(*bound);
  REQUIRE_MESSAGE(done, std::string{done.words()});
  CHECK(a.read() == xs);
  CHECK(c.read() == ws);
  for (std::size_t k = 0; k < 40; ++k) {
    CHECK(d.read()[k] == -xs[k]);
    CHECK(e.read()[k] == -xs[k]);
  }
}

TEST_CASE("an input's default is in the same memory as the input") {
  device npu;
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(40)}), w = b.constant("w", {40}, ramp(40, 2.0f));
  b.main().add_input(w);
  b.output(b.node("Mul", {x, w}));
  const result<session> s = load_in_device(npu, b.take());
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  const std::vector<float> xs = ramp(40, 0.5f), ws = ramp(40, 2.0f), none(40);
  const device_floats in{npu, xs}, y{npu, none};
  result<io_binding> bound = s->bind();
  REQUIRE(bound);
  REQUIRE(bound->bind_input("x", in.tensor()));
  REQUIRE(bound->bind_output(0, y.tensor()));
  REQUIRE(s->run(*bound));
  for (std::size_t k = 0; k < 40; ++k) CHECK(y.read()[k] == xs[k] * ws[k]);
}

TEST_CASE("only bindings have values in a provider's memory; a provider without memory uses the host's") {
  device npu;
  const auto net = [] {
    model_builder b;
    b.output(b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(40)})}));
    return b.take();
  };
  const any_value x = any_value::tensor({40}, ramp(40));
  const result<session> s = load_in_device(npu, net(), "DeviceExecutionProvider");
  REQUIRE(s);
  const result<named_values> refused = s->run({{"x", x}});
  REQUIRE(!refused);
  CHECK(refused.error().code() == status_code::invalid_argument);
  result<io_binding> bound = s->bind();
  REQUIRE(bound);
  const device_floats in{npu, ramp(40)};
  REQUIRE(bound->bind_input("x", in.tensor()));
  REQUIRE(s->run(*bound));
  CHECK(bound->get<float>(s->outputs()[0].name).error().code() == status_code::invalid_argument);

  const result<session> of_host = load_in_device(npu, net(), "cpu");
  REQUIRE(of_host);
  CHECK(of_host->run({{"x", x}}));
  const result<session> unknown = load_in_device(npu, net(), "other");
  REQUIRE(!unknown);
  CHECK(unknown.error().code() == status_code::invalid_argument);
}
