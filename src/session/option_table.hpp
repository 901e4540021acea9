#pragma once
#include <cameo/session/options.hpp>

#include "core/config_keys.hpp"

#include <span>

namespace CAMEO_NAMESPACE {

/// A session option that a text can set. The C API, the Python package, the program, Triton's backend and
/// docs/options.md take the option from its row.
struct option_row {
  std::string_view name;     // in C, Python and Triton: "memory_limit"
  std::string_view flag;     // of the program: "--memory-limit"
  std::string_view value;    // what help shows in place of the value: "BYTES"; '|' separates the words of a fixed set
  std::string_view initial;  // the value of an option that is not set; empty: no text
  std::string_view words;    // what the option does
  bool repeatable;           // each text adds to the earlier ones
  status (*assign)(session_options&, std::string_view text, std::string_view value);
  std::string_view key = {};        // the session key that sets the same member, and overrides it
  std::string_view key_value = {};  // `value` for that key, whose words differ from the option's

  /// Sets the option in `options` to the value that `text` stands for. The message of INVALID_ARGUMENT states what the
  /// text must be, without the name of the option.
  status set(session_options& options, std::string_view text) const { return assign(options, text, value); }
  constexpr option_row with_key(const config_key_row& same, std::string_view its_value) const {
    option_row made = *this;
    made.key = same.key, made.key_value = its_value;
    return made;
  }
  /// The words of a fixed set as help shows them, without the numbers that are accepted for them.
  std::string_view shown_value() const;
  bool is_switch() const { return value == "0|1"; }
};

/// The table of docs/options.md, in the same order.
std::span<const option_row> option_rows();

/// The row of this name. INVALID_ARGUMENT with the nearest name if there is none.
result<const option_row*> option_named(std::string_view name);

/// Sets an option by its name, or a session key, which has a dot. The value of a key is checked when a model is loaded.
/// INVALID_ARGUMENT for an unknown name, and for a text that the option does not accept.
status set_option(session_options&, std::string_view name, std::string_view text);

/// The table as Markdown, as `cameo options` prints it.
std::string option_page();

}  // namespace CAMEO_NAMESPACE
