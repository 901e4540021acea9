#pragma once
#include <cameo/session/options.hpp>

#include <cassert>

#include "core/config_keys.hpp"
#include "graph/oddities.hpp"

namespace CAMEO_NAMESPACE {

/// The row of a key; null for an unknown key.
const config_key_row* row_of(std::string_view key);

/// Returns INVALID_ARGUMENT for an unknown key, with the most similar of the keys in the table and in `more`.
status unknown_key(std::string_view key, std::span<const std::string> more);

/// The checked session keys of a session, with their values.
class session_config {
 public:
  /// Reads the session keys of the options. INVALID_ARGUMENT for an unknown key, for a key that is refused with a value
  /// that is not its default, and for a key or value that is too long. A key "ep..." without a row may be an option of
  /// a provider: see require_known_keys.
  static result<session_config> make(const session_options&);
  /// Sets the options that have a session key, by their rows. INVALID_ARGUMENT for a value that an option does not
  /// accept.
  status apply_to(session_options&) const;
  /// The last value that was set, or the default.
  std::string_view operator[](const config_key_row&) const;
  /// The last value that was set; empty if none was set.
  std::string_view set_to(const config_key_row&) const;
  /// Whether a key that is on or off is on. Such keys are marked in the table, so that other values are warned of.
  bool is_on(const config_key_row& row) const {
    assert(row.values == key_values::on_or_off);
    return (*this)[row] == "1";
  }
  /// Whether compiled models keep the constants of their contexts, by either key.
  bool is_weightless() const {
    return is_on(config_key<"ep.enable_weightless">) || is_on(config_key<"ep.enable_weightless_ep_context_nodes">);
  }
  /// The key that makes this accepted deviation of a model an error; empty if no key does, and for null.
  std::string_view key_against(const oddity_row*) const;
  /// The value of a key of the table or of a provider's option; empty for other keys.
  std::string_view text_of(std::string_view key) const;
  /// Appends an entry. If a key is set twice, the last value counts.
  void set(std::string key, std::string_view text) { entries_.emplace_back(std::move(key), text); }

 private:
  const std::string* find(std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace CAMEO_NAMESPACE
