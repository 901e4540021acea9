#pragma once
#include <cameo/core/result.hpp>
#include <cameo/ep/device.hpp>
#include <cameo/ort_abi/tables.hpp>

#include <memory>
#include <string>
#include <vector>

#include "core/guarded.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// Makes an error of ONNX Runtime, whose function table is `ort_table`; null for OK.
ort_status* ort_error(ort_table, const status&);

/// The function tables of the ONNX Runtime that loaded the plugin. Cheap to copy; thread-safe.
class host {
 public:
  /// Gets the function tables. NOT_IMPLEMENTED, with ONNX Runtime's version in the message, if it is older than 1.23.
  static result<host> make(const ort_api_base&);
  /// Makes an error for an ONNX Runtime that make() refused; null if it lacks even the functions for that.
  static ort_status* refuse(const ort_api_base&, const status&);

  /// The N of version 1.N whose functions are used: that of ONNX Runtime, or the newest that cameo supports.
  std::uint32_t version() const { return version_; }

  /// Calls the function in a slot of its table.
  template <auto Slot, class... Args>
  auto call(Args... args) const {
    return at<Slot>(table(Slot))(args...);
  }
  /// Calls a function that may fail, and converts and releases its error.
  template <auto Slot, class... Args>
  status invoke(Args... args) const {
    ort_status* const failed = call<Slot>(args...);
    return failed ? status_of(failed, slot_type<Slot>::called) : status{};
  }
  /// Copies keys and values.
  text_pairs pairs(const ort_key_values*) const;
  /// Makes keys and values in ONNX Runtime's representation.
  std::shared_ptr<const ort_key_values> pairs(const text_pairs&) const;

  /// Makes an error of ONNX Runtime from a status; null for OK. The caller releases it.
  ort_status* give(const status& from) const { return ort_error(api_, from); }
  /// Writes to ONNX Runtime's log, if it logs messages of this severity.
  void log(const ort_logger*, ort_severity, std::string_view words) const;

 private:
  ort_table table(api) const { return api_; }
  ort_table table(ep_api) const { return ep_api_; }
  ort_table table(editor_api) const { return editor_api_; }
  status status_of(ort_status*, std::string_view function) const;

  ort_table api_ = nullptr, ep_api_ = nullptr, editor_api_ = nullptr;
  std::uint32_t version_ = 0;
};

/// A callback for ONNX Runtime that calls a member function of T, and returns exceptions as errors.
template <class T, auto Member, class Callbacks, class... Args>
ort_status* callback(Callbacks* of, Args... args) {
  T& self = static_cast<T&>(*of);
  return self.shared->ort.give(guarded_hook([&]() -> status { return (self.*Member)(args...); }));
}

/// The type T that a function writes through its second argument: one T, or an array of them whose capacity is the
/// third argument.
template <class Function>
struct output;
template <class Of, class T, class... Capacity>
struct output<ort_status*(const Of*, T*, Capacity...)> {
  using type = T;
};
template <auto Slot>
using output_of = typename output<typename slot_type<Slot>::type>::type;

/// Calls functions of ONNX Runtime one after the other, and keeps the first error. Calls after an error do nothing, and
/// their outputs are null, false, 0 or empty.
class call_sequence {
 public:
  explicit call_sequence(const host& of) : host_{of} {}
  /// OK, or the first error.
  const status& outcome() const { return outcome_; }
  void fail(status why) {
    if (outcome_) outcome_ = std::move(why);
  }
  /// The value of a result. If it is an error, the error is kept and the value is T().
  template <class T>
  T value_of(result<T> made) {
    fail(made.error());
    return std::move(made).value_or(T{});
  }

  /// Calls a function that returns values through its arguments.
  template <auto Slot, class... Args>
  void call(Args... args) {
    if (outcome_) outcome_ = host_.invoke<Slot>(args...);
  }
  /// Calls a function that returns one property of an object.
  template <auto Slot, class Of>
  output_of<Slot> get(const Of& of) {
    output_of<Slot> made{};
    call<Slot>(&of, &made);
    return made;
  }
  /// Calls a function that returns a text of an object; empty for null.
  template <api Slot, class Of>
  std::string_view text(const Of& of) {
    const char* const words = get<Slot>(of);
    return words ? words : "";
  }
  /// All elements of a list of an object, read by the functions that return their number and the elements.
  template <api Count, api Get, class Of>
  std::vector<output_of<Get>> list(const Of& of) {
    std::vector<output_of<Get>> all(get<Count>(of));
    if (!all.empty()) call<Get>(&of, all.data(), all.size());
    return outcome_ ? all : std::vector<output_of<Get>>{};
  }

 private:
  const host& host_;
  status outcome_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
