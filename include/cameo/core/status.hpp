#pragma once
#include <cameo/core/table.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace CAMEO_NAMESPACE {

// clang-format off
/// Error codes: ONNX Runtime's, and from 100 on those that it lacks.
enum class status_code : std::uint8_t {
  ok, fail, invalid_argument, no_suchfile, no_model, engine_error, runtime_exception, invalid_protobuf, model_loaded,
  not_implemented, invalid_graph, ep_fail, model_load_canceled, model_requires_compilation, not_found,
  canceled, deadline_exceeded, out_of_memory, count
};
// clang-format on

namespace detail {
/// One row per code: the number that crosses C interfaces and files, and the name that the program prints.
struct status_row {
  status_code id;
  std::uint8_t number;
  char name[28];
};
/// One row per code, in the order of status_code.
inline constexpr status_row status_rows[] = {
    {status_code::ok, 0, "OK"},
    {status_code::fail, 1, "FAIL"},
    {status_code::invalid_argument, 2, "INVALID_ARGUMENT"},
    {status_code::no_suchfile, 3, "NO_SUCHFILE"},
    {status_code::no_model, 4, "NO_MODEL"},
    {status_code::engine_error, 5, "ENGINE_ERROR"},
    {status_code::runtime_exception, 6, "RUNTIME_EXCEPTION"},
    {status_code::invalid_protobuf, 7, "INVALID_PROTOBUF"},
    {status_code::model_loaded, 8, "MODEL_LOADED"},
    {status_code::not_implemented, 9, "NOT_IMPLEMENTED"},
    {status_code::invalid_graph, 10, "INVALID_GRAPH"},
    {status_code::ep_fail, 11, "EP_FAIL"},
    {status_code::model_load_canceled, 12, "MODEL_LOAD_CANCELED"},
    {status_code::model_requires_compilation, 13, "MODEL_REQUIRES_COMPILATION"},
    {status_code::not_found, 14, "NOT_FOUND"},
    {status_code::canceled, 100, "CANCELED"},
    {status_code::deadline_exceeded, 101, "DEADLINE_EXCEEDED"},
    {status_code::out_of_memory, 102, "OUT_OF_MEMORY"},
};
}  // namespace detail
static_assert(detail::complete_and_in_order(detail::status_rows),
              "cameo: status_rows lists every status_code once, in enum order");

/// The name of a code: "INVALID_ARGUMENT"; "UNKNOWN" for a number that is not a code.
constexpr std::string_view to_string(status_code code) noexcept {
  return code < status_code::count ? std::string_view{detail::status_rows[std::size_t(code)].name}
                                   : std::string_view{"UNKNOWN"};
}

namespace detail {
/// The message of a code that came without one.
constexpr std::string_view words_without_details(status_code code) noexcept {
  return code == status_code::out_of_memory ? "there is no more memory" : "no details";
}

/// The message type of builds without error messages: an empty class, so that a status is one byte.
class no_words {
 public:
  constexpr void prepend(std::string_view, std::string_view) noexcept {}
  constexpr void append(std::string_view) noexcept {}
  constexpr std::string_view view() const noexcept { return {}; }
};

/// A message on the heap, allocated only after a failure. When memory runs out, a constant message takes its place; the
/// code is never lost. A literal type: a refusal of a contract can be read while compiling.
class heap_words {
 public:
  constexpr heap_words() = default;
  constexpr heap_words(const heap_words& from) noexcept { append(from.view()); }
  constexpr heap_words(heap_words&& from) noexcept : chars_{from.chars_} { from.chars_ = nullptr; }
  constexpr heap_words& operator=(heap_words&& from) noexcept {
    char* const old = chars_;
    chars_ = from.chars_, from.chars_ = old;
    return *this;
  }
  constexpr heap_words& operator=(const heap_words& from) noexcept { return *this = heap_words{from}; }
  constexpr ~heap_words() {
    if (std::is_constant_evaluated()) delete[] chars_;
    else if (chars_) release(chars_);
  }

  constexpr std::string_view view() const noexcept { return chars_ ? std::string_view{chars_} : std::string_view{}; }
  /// Makes the message "where: words", or "where: otherwise" if it is empty.
  constexpr void prepend(std::string_view where, std::string_view otherwise) noexcept {
    if (!where.empty()) add(where, ": ", view().empty() ? otherwise : view());
  }
  /// Appends to the message.
  constexpr void append(std::string_view more) noexcept { add(view(), "", more); }

 private:
  CAMEO_API static void release(char*) noexcept;
  CAMEO_API void join(std::string_view, std::string_view, std::string_view) noexcept;
  constexpr void add(std::string_view a, std::string_view b, std::string_view c) noexcept {
    if (!std::is_constant_evaluated()) return join(a, b, c);
    char* const all = new char[a.size() + b.size() + c.size() + 1]{};
    char* end = all;
    for (const std::string_view part : {a, b, c})
      for (const char each : part) *end++ = each;
    delete[] chars_;
    chars_ = all;
  }
  char* chars_ = nullptr;
};
}  // namespace detail

/// A code and, if the build has them, a message. True means success, which costs no allocation. The compiler warns when
/// it is ignored.
template <class Words>
class [[nodiscard]] basic_status {
 public:
  static constexpr bool has_words = !std::is_empty_v<Words>;  // lets callers skip composing an unused message

  constexpr basic_status(status_code code = status_code::ok, std::string_view words = {}) noexcept : code_{code} {
    if (!words.empty()) words_.append(words);
  }
  constexpr explicit operator bool() const noexcept { return code_ == status_code::ok; }
  constexpr status_code code() const noexcept { return code_; }
  constexpr const char* name() const noexcept { return detail::status_rows[std::size_t(code_)].name; }
  /// The message. OUT_OF_MEMORY always has one, even when there was no memory to store it.
  constexpr std::string_view words() const noexcept {
    if constexpr (has_words)
      if (code_ == status_code::out_of_memory && words_.view().empty()) return detail::words_without_details(code_);
    return words_.view();
  }
  /// Prepends where it happened. Each caller adds its part, so that the outermost is first: "net.onnx: Conv 'c1': rank
  /// 3, needs 4".
  constexpr basic_status in(std::string_view where) && {
    return words_.prepend(where, detail::words_without_details(code_)), std::move(*this);
  }
  constexpr basic_status in(std::string_view where) const& { return basic_status{*this}.in(where); }

 private:
  status_code code_;
  [[no_unique_address]] Words words_;
};
static_assert(sizeof(basic_status<detail::no_words>) == 1);

/// The result of every function that can fail: a code and, unless the build has none, a message.
#ifdef CAMEO_CODE_ONLY  // an option of the build: one for the whole program
using status = basic_status<detail::no_words>;
#else
using status = basic_status<detail::heap_words>;
#endif

}  // namespace CAMEO_NAMESPACE
