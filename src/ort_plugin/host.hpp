#pragma once
#include <cameo/core/result.hpp>
#include <cameo/ort_plugin/abi.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/guarded.hpp"

namespace cameo::inline CAMEO_ABI::detail::ort {

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
    return failed ? taken(failed, name_of(rows_of(Slot), std::uint16_t(Slot))) : status{};
  }
  /// Keys and values, copied.
  std::vector<std::pair<std::string, std::string>> pairs(const ort_key_values*) const;

  /// Keys and values to give to ONNX Runtime.
  std::shared_ptr<const ort_key_values> pairs(const std::vector<std::pair<std::string, std::string>>&) const;

  /// The same error in ONNX Runtime's terms; null for none.
  ort_status* give(const status&) const;
  /// What a function for ONNX Runtime returns: nothing is thrown out of it.
  template <class Hook>
  ort_status* answer(Hook hook) const {
    return give(guarded_hook([&]() -> status { return hook(); }));
  }
  /// Writes to the log of ONNX Runtime, unless it wants no messages of this severity.
  void log(const ort_logger*, ort_severity, std::string_view words) const;

 private:
  ort_table table(api) const { return api_; }
  ort_table table(ep_api) const { return ep_api_; }
  ort_table table(editor_api) const { return editor_api_; }
  static std::string_view name_of(std::span<const slot_row>, std::uint16_t number);
  status taken(ort_status*, std::string_view function) const;

  ort_table api_ = nullptr, ep_api_ = nullptr, editor_api_ = nullptr;
  std::uint32_t version_ = 0;
};

/// Asks one thing after the other and keeps the first error: whatever is asked after it has no answer.
class questions {
 public:
  explicit questions(const host& of) : host_{of} {}
  /// OK, or the first error.
  const status& outcome() const { return outcome_; }
  void fail(status why) {
    if (outcome_) outcome_ = std::move(why);
  }

  /// Calls a function that gives its answers by its arguments.
  template <auto Slot, class... Args>
  void that(Args... args) {
    if (outcome_) outcome_ = host_.ask<Slot>(args...);
  }
  /// One answer about an object; T() without one.
  template <auto Slot, class T, class Of>
  T get(const Of& of) {
    T made{};
    that<Slot>(&of, &made);
    return made;
  }
  /// A text of an object; empty where it has none.
  template <api Slot, class Of>
  std::string_view text(const Of& of) {
    const char* const words = get<Slot, const char*>(of);
    return words ? words : "";
  }
  /// All parts of an object, by the functions that tell how many there are and which.
  template <api Count, api Get, class T, class Of>
  std::vector<const T*> list(const Of& of) {
    std::vector<const T*> all(get<Count, std::size_t>(of));
    if (!all.empty()) that<Get>(&of, all.data(), all.size());
    return outcome_ ? all : std::vector<const T*>{};
  }

 private:
  const host& host_;
  status outcome_;
};

}  // namespace cameo::inline CAMEO_ABI::detail::ort
