#pragma once
#include <cameo/core/result.hpp>
#include <cameo/ep/device.hpp>
#include <cameo/ort_abi/tables.hpp>

#include <memory>
#include <string>
#include <vector>

#include "core/guarded.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// An error in ONNX Runtime's terms, by the table of its functions; null for none.
ort_status* ort_error(ort_table, const status&);

/// ONNX Runtime, as a plugin in it sees it: its tables of functions. Cheap to copy; thread-safe.
class host {
 public:
  /// NOT_IMPLEMENTED for a version before 1.23, naming it.
  static result<host> of(const ort_api_base&);
  /// The error for a host that of() refuses, in its own terms; null where it has not even the means to say so.
  static ort_status* refuse(const ort_api_base&, const status&);

  /// The version 1.N whose functions are used: the host's, or the newest that is known here.
  std::uint32_t version() const { return version_; }

  /// Calls the function at a place of its table.
  template <auto Slot, class... Args>
  auto call(Args... args) const {
    return at<Slot>(table(Slot))(args...);
  }
  /// The same for a function that may fail: its error is taken over.
  template <auto Slot, class... Args>
  status ask(Args... args) const {
    ort_status* const failed = call<Slot>(args...);
    return failed ? taken(failed, slot_type<Slot>::called) : status{};
  }
  /// Keys and values, copied.
  text_pairs pairs(const ort_key_values*) const;
  /// Keys and values to give to ONNX Runtime.
  std::shared_ptr<const ort_key_values> pairs(const text_pairs&) const;

  /// The same error in ONNX Runtime's terms; null for none.
  ort_status* give(const status& from) const { return ort_error(api_, from); }
  /// Writes to the log of ONNX Runtime, unless it wants no messages of this severity.
  void log(const ort_logger*, ort_severity, std::string_view words) const;

 private:
  ort_table table(api) const { return api_; }
  ort_table table(ep_api) const { return ep_api_; }
  ort_table table(editor_api) const { return editor_api_; }
  status taken(ort_status*, std::string_view function) const;

  ort_table api_ = nullptr, ep_api_ = nullptr, editor_api_ = nullptr;
  std::uint32_t version_ = 0;
};

/// A callback of ONNX Runtime's that a member function of T answers: nothing is thrown out of it.
template <class T, auto Member, class Callbacks, class... Args>
ort_status* answered_by(Callbacks* of, Args... args) {
  T& self = static_cast<T&>(*of);
  return self.shared->side.give(guarded_hook([&]() -> status { return (self.*Member)(args...); }));
}

/// What a function gives by its second argument: a T, or, where it is told how many there is room for, a list of them.
template <class Function>
struct answer;
template <class Of, class T, class... Room>
struct answer<ort_status*(const Of*, T*, Room...)> {
  using type = T;
};
template <auto Slot>
using answer_of = typename answer<typename slot_type<Slot>::type>::type;

/// Asks one thing after the other and keeps the first error: whatever is asked after it has no answer.
class questions {
 public:
  explicit questions(const host& of) : host_{of} {}
  /// OK, or the first error.
  const status& outcome() const { return outcome_; }
  void fail(status why) {
    if (outcome_) outcome_ = std::move(why);
  }
  /// What a result holds; T(), and its error, for one that has nothing.
  template <class T>
  T taken(result<T> made) {
    fail(made.error());
    return std::move(made).value_or(T{});
  }

  /// Calls a function that gives its answers by its arguments.
  template <auto Slot, class... Args>
  void that(Args... args) {
    if (outcome_) outcome_ = host_.ask<Slot>(args...);
  }
  /// One answer about an object; null, false or 0 without one.
  template <auto Slot, class Of>
  answer_of<Slot> get(const Of& of) {
    answer_of<Slot> made{};
    that<Slot>(&of, &made);
    return made;
  }
  /// A text of an object; empty where it has none.
  template <api Slot, class Of>
  std::string_view text(const Of& of) {
    const char* const words = get<Slot>(of);
    return words ? words : "";
  }
  /// All parts of an object, by the functions that tell how many there are and which.
  template <api Count, api Get, class Of>
  std::vector<answer_of<Get>> list(const Of& of) {
    std::vector<answer_of<Get>> all(get<Count>(of));
    if (!all.empty()) that<Get>(&of, all.data(), all.size());
    return outcome_ ? all : std::vector<answer_of<Get>>{};
  }

 private:
  const host& host_;
  status outcome_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
