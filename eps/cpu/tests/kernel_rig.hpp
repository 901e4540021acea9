#pragma once
#include <cameo/kernel/checked_kernel.hpp>
#include <cameo/op/check_attribute.hpp>
#include <cameo/op/check_presence.hpp>
#include <cameo/os/heap_arena.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lists.hpp"

namespace cameo::test {

/// Binds and runs one kernel without graph, plan or session: for tests that compare many random shapes with naive
/// loops. Each buffer is a separate heap block of exactly the needed size, so that a sanitizer finds accesses that a
/// shared arena would hide. Tasks run in reverse order and on changing lanes, which exposes a kernel whose bits depend
/// on either.
class kernel_rig {
 public:
  explicit kernel_rig(int since, std::size_t lanes = 1) : since_{since}, lanes_{lanes} {}

  kernel_rig& attribute(std::string_view name, std::int64_t i) {
    cameo::attribute a{name, attribute_kind::i};
    a.i = i;
    return attributes_.push_back(a), *this;
  }
  kernel_rig& attribute(std::string_view name, float f) {
    cameo::attribute a{name, attribute_kind::f};
    a.f = f;
    return attributes_.push_back(a), *this;
  }
  kernel_rig& attribute(std::string_view name, std::string_view s) {
    cameo::attribute a{name, attribute_kind::s};
    a.s = s;
    return attributes_.push_back(a), *this;
  }
  kernel_rig& attribute(std::string_view name, std::vector<std::int64_t> ints) {
    cameo::attribute a{name, attribute_kind::ints};
    a.ints = ints_.emplace_back(std::move(ints));
    return attributes_.push_back(a), *this;
  }
  kernel_rig& attribute(std::string_view name, std::vector<float> floats) {
    cameo::attribute a{name, attribute_kind::floats};
    a.floats = floats_.emplace_back(std::move(floats));
    return attributes_.push_back(a), *this;
  }
  kernel_rig& attribute(std::string_view name, std::span<const std::string_view> strings) {  // must outlive the rig
    cameo::attribute a{name, attribute_kind::strings};
    a.strings = strings;
    return attributes_.push_back(a), *this;
  }
  /// The next input; its elements must outlive the rig.
  template <class T>
  kernel_rig& input(const extents& shape, const std::vector<T>& elements, bool constant = false) {
    inputs_.push_back(value::tensor<T>(shape, elements));
    constant_.push_back(constant);
    return *this;
  }
  kernel_rig& input(const value& v, bool constant = false) {
    return inputs_.push_back(v), constant_.push_back(constant), *this;
  }
  /// The next input, or none.
  template <class T>
  kernel_rig& input_if(bool is_given, const extents& shape, const std::vector<T>& elements, bool constant = false) {
    return is_given ? input(shape, elements, constant) : no_input();
  }
  kernel_rig& no_input() { return no_inputs(1); }
  kernel_rig& no_inputs(std::size_t count) {
    return inputs_.resize(inputs_.size() + count), constant_.resize(inputs_.size()), *this;
  }
  /// The next two inputs: a scale and a zero point, both scalars. Without a zero point, that input is left out.
  template <class T>
  kernel_rig& scale_and_zero(const std::vector<float>& scale, const std::vector<T>& zero) {
    input<float>({}, scale);
    return zero.empty() ? no_input() : input<T>({}, zero);
  }
  /// The next three inputs: quantized values, their scale and their zero point.
  template <class T>
  kernel_rig& coded(const extents& shape, const std::vector<T>& codes, const std::vector<float>& scale,
                    const std::vector<T>& zero = {}) {
    return input<T>(shape, codes).scale_and_zero(scale, zero);
  }
  /// The operator of the node, whose attributes and shapes are then checked as in a model.
  template <class Op>
  kernel_rig& checked_as() {
    return versions_ = Op::versions, *this;
  }
  /// Sets bind_context::choice, which a provider chooses for the node.
  kernel_rig& choose(std::uint32_t choice) { return choice_ = choice, *this; }
  kernel_rig& prepack(bool on) { return prepack_ = on, *this; }
  /// Output 0 is written over this input, which the kernel must allow. The test's elements stay unchanged.
  kernel_rig& overwrite(std::size_t i) { return overwritten_ = i, *this; }
  /// Packed constants may be shared with the plans of other graphs.
  kernel_rig& share_packs() {
    packs_.self = this;
    packs_.packed = [](void* rig, const void*, std::size_t bytes) {
      static_cast<kernel_rig*>(rig)->packed_bytes_ += bytes;
      return status{};
    };
    return *this;
  }

  /// Binds the kernel and runs it with outputs of these types. Returns the status of the kernel.
  template <class K>
  status run(std::vector<dtype> outputs) {
    detail::heap_arena memory, scratch_hints;
    detail::arena_vector<detail::output_hint> hints{scratch_hints};
    std::vector<operand> ins(inputs_.size()), outs(outputs.size());
    for (std::size_t i = 0; i < ins.size(); ++i) {
      if (!inputs_[i]) continue;
      const value* const constant = constant_[i] ? &inputs_[i] : nullptr;
      ins[i] = {type_kind::tensor, inputs_[i].type, true, false, true, inputs_[i].shape, constant};
    }
    for (std::size_t i = 0; i < outs.size(); ++i)
      outs[i] = {type_kind::tensor, outputs[i], outputs[i] != dtype::undefined};
    bind_context once{"Op", "node", since_, attributes_, ins, outs, 0, memory, prepack_, hints, {}, packs_};
    once.choice = choice_;
    if (status fits = check_attributes(); !fits) return fits;
    auto bound = K::bind(once);
    if (!bound) return bound.error();
    detail::bound_kernel kernel{&*bound, [](const void* state, run_context& each) -> status {
                                  if constexpr (detail::self_kernel<K>) return static_cast<const K*>(state)->run(each);
                                  else return K::run(*static_cast<const detail::bound_state<K>*>(state), each);
                                }};
    if (!versions_.empty()) {
      const result<detail::bound_kernel> checked = detail::check_shapes_first(once, versions_, kernel);
      if (!checked) return checked.error();
      kernel = *checked;
    }
    kept_bytes_ = memory.used();

    values_.assign(1 + inputs_.size() + outputs.size(), {});
    std::vector<std::uint32_t> in_slots, out_slots;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      values_[1 + i] = inputs_[i];
      in_slots.push_back(inputs_[i] ? std::uint32_t(1 + i) : 0);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t slot = 1 + inputs_.size() + i;
      values_[slot].type = outputs[i];
      out_slots.push_back(outputs[i] != dtype::undefined ? std::uint32_t(slot) : 0);
    }
    if (overwritten_ != none && !share_block(hints)) return {status_code::fail, "the kernel does not overwrite that"};
    detail::run_services services{};
    services.allocate = [](run_context& c, std::uint32_t slot, value_kind kind, const extents& shape, std::size_t) {
      value& v = c.values()[slot];
      std::int64_t count = 0;
      if (!shape.checked_count(count) || count > (std::int64_t{1} << 32)) return status{status_code::out_of_memory};
      v.kind = kind, v.shape = shape;
      kernel_rig& rig = self(c);
      if (rig.overwritten_ != none && slot == 1 + rig.inputs_.size()) {
        v.data = rig.values_[1 + rig.overwritten_].data;
        return v.bytes() == rig.values_[1 + rig.overwritten_].bytes() ? status{} : status{status_code::fail};
      }
      v.data = self(c).block(std::size_t(count) * detail::row_of(v.type).bits / 8);
      return status{};
    };
    services.scratch = [](run_context& c, std::size_t bytes) -> void* {
      self(c).scratch_bytes_ += bytes;
      return bytes > (std::size_t{1} << 32) ? nullptr : self(c).block(bytes);
    };
    services.text = [](run_context& c, std::size_t bytes) { return static_cast<char*>(self(c).block(bytes)); };
    services.stopped = [](const run_context&, detail::stop_pace*) { return false; };
    services.parallel = [](run_context& c, std::size_t count, detail::function_ref<void(std::size_t, std::size_t)> f) {
      for (std::size_t i = count; i-- > 0;) f(i, i * 7 / 3 % c.lanes());
      return true;
    };
    run_context each{services, this, lanes_};
    each.enter(values_.data(), in_slots, out_slots);
    if (status done = kernel.run(kernel.state, each); !done) return done;
    for (const std::uint32_t slot : out_slots)
      if (slot != 0 && !values_[slot]) return {status_code::fail, "the kernel did not make an output"};
    return {};
  }
  template <class T>
  tensor_view<const T> output(std::size_t i) const {
    return values_[1 + inputs_.size() + i].as_unchecked<T>();
  }
  const value& output_value(std::size_t i) const { return values_[1 + inputs_.size() + i]; }
  /// The bytes that all kernels packed for sharing; and all bytes that the last kernel keeps.
  std::size_t packed_bytes() const { return packed_bytes_; }
  std::size_t kept_bytes() const { return kept_bytes_; }
  /// The bytes of scratch memory of all runs.
  std::size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  status check_attributes() const {
    const op_version* version = nullptr;
    for (const op_version& each : versions_)
      if (each.since <= since_ || !version) version = &each;
    if (!version) return {};
    for (const attribute_rule& rule : version->attributes) {
      const cameo::attribute* const given = detail::find_attribute(attributes_, rule.name);
      if (!given && rule.required) return {status_code::invalid_graph, "a required attribute is missing"};
      if (status s = given ? detail::check_attribute(rule, *given) : status{}; !s) return s;
    }
    return detail::check_presence(
        *version, attributes_, [&](std::size_t i) { return i < inputs_.size() && inputs_[i]; },
        [](std::size_t) { return true; });
  }
  struct free_block {
    void operator()(void* p) const { std::free(p); }
  };
  static constexpr std::size_t none = std::size_t(-1);
  /// Copies the overwritten input, for all inputs that are the same value. False if the kernel does not allow
  /// overwriting.
  bool share_block(std::span<const detail::output_hint> hints) {
    const void* const from = inputs_[overwritten_].data;
    value& v = values_[1 + overwritten_];
    void* const copy = std::memcpy(block(v.bytes()), from, v.bytes());
    for (value& in : values_)
      if (in.data == from) in.data = copy;
    return std::any_of(hints.begin(), hints.end(), [&](const detail::output_hint& h) {
      return h.kind == detail::output_hint::use::may_overwrite && h.output == 0 && h.input == overwritten_;
    });
  }
  static kernel_rig& self(run_context& c) { return *static_cast<kernel_rig*>(c.runner()); }
  /// A block of exactly this size and of unknown contents: a pattern that is a large number in every type.
  void* block(std::size_t bytes) {
    void* p = nullptr;
    if (posix_memalign(&p, 64, std::max<std::size_t>(bytes, 1)) != 0) return nullptr;
    std::memset(p, 0x7B, bytes);
    return blocks_.emplace_back(p).get();
  }

  int since_;
  std::size_t lanes_;
  bool prepack_ = true;
  std::uint32_t choice_ = 0;
  std::span<const op_version> versions_ = {};
  std::size_t overwritten_ = none;
  detail::pack_keeper packs_;
  std::vector<cameo::attribute> attributes_;
  std::deque<std::vector<std::int64_t>> ints_;
  std::deque<std::vector<float>> floats_;
  std::vector<value> inputs_, values_;
  std::vector<bool> constant_;
  std::vector<std::unique_ptr<void, free_block>> blocks_;
  std::size_t scratch_bytes_ = 0, packed_bytes_ = 0, kept_bytes_ = 0;
};

/// The elements of an output in row-major order.
template <class T>
std::vector<T> elements_of(const kernel_rig& rig, std::size_t output = 0) {
  const tensor_view<const T> y = rig.output<T>(output);
  return std::vector<T>(y.begin(), y.end());  // not {}, which would be a list of bools
}

/// One axis of a sliding window.
struct axis_case {
  std::int64_t in, kernel, stride, dilation, pad_begin, pad_end;
  std::int64_t out() const { return (in + pad_begin + pad_end - (kernel - 1) * dilation - 1) / stride + 1; }
};

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
double as_double(T v) {
  if constexpr (std::is_arithmetic_v<T>) return double(v);
  else return double(float(v));
}

/// Integers of the whole range of their type.
template <class T>
std::vector<T> random_codes(std::mt19937& random, std::int64_t count) {
  std::vector<T> made(std::size_t(count), T(0));
  for (T& v : made) v = T(random());
  return made;
}

/// Numbers in [-1, 1]; signed integers from -8 to 8, unsigned ones from 0 to 8.
template <class T>
std::vector<T> random_numbers(std::mt19937& random, std::int64_t count) {
  std::uniform_real_distribution<double> numbers{-1, 1};
  std::vector<T> made(static_cast<std::size_t>(count));
  for (T& v : made) {
    if constexpr (std::is_unsigned_v<T>) v = T(std::abs(numbers(random)) * 9);
    else if constexpr (std::is_integral_v<T>) v = T(numbers(random) * 9);
    else if constexpr (std::is_floating_point_v<T>) v = T(numbers(random));
    else v = T(float(numbers(random)));
  }
  return made;
}

/// True if each element is within the tolerance, relative to 1 + its magnitude.
template <class T>
bool near(const tensor_view<const T>& got, const std::vector<double>& want, double tolerance = 1e-4) {
  if (got.size() != want.size()) return false;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double g = as_double(got[std::int64_t(i)]);
    if (!(std::abs(g - want[i]) <= tolerance * (1 + std::abs(want[i])))) return false;
  }
  return true;
}

}  // namespace cameo::test
