#pragma once
#include <cameo/session/options.hpp>

#include <cassert>

#include "core/config_keys.hpp"
#include "graph/oddities.hpp"

namespace CAMEO_NAMESPACE {

/// The row of a key that a user wrote; null: there is none.
const config_key_row* row_of(std::string_view key);

/// INVALID_ARGUMENT with the nearest of the keys in the table and of `more`.
status unknown_key(std::string_view key, std::span<const std::string> more);

/// The configuration of a session: checked keys and values.
class session_config {
 public:
  /// INVALID_ARGUMENT for an unknown key, for one that is refused with a value that is not its default, and
  /// for a key or value that is too long. Keys "ep." that no row has may be of providers: see require_known_keys.
  static result<session_config> make(const session_options&);
  /// Sets members of the options from their keys. INVALID_ARGUMENT for values that a member can't have.
  status apply_to(session_options&) const;
  /// The last value that was set, or the default.
  std::string_view operator[](const config_key_row&) const;
  /// The last value that was set; empty when none was set.
  std::string_view set_to(const config_key_row&) const;
  /// Of keys that are on or off: the rows say which, so that other values are met with a warning.
  bool is_on(const config_key_row& row) const {
    assert(row.values == key_values::on_or_off);
    return (*this)[row] == "1";
  }
  /// Whether compiled models keep the constants of their contexts, by either key.
  bool is_weightless() const {
    return is_on(config_key<"ep.enable_weightless">) || is_on(config_key<"ep.enable_weightless_ep_context_nodes">);
  }
  /// The key that makes an oddity of a model an error; empty if none does, and for null.
  std::string_view key_against(const oddity_row*) const;
  /// The same for a key that a user names, of the table or of a provider's option; empty for others.
  std::string_view text_of(std::string_view key) const;
  /// Appends an entry: of equal keys the last counts.
  void set(std::string key, std::string_view text) { entries_.emplace_back(std::move(key), text); }

 private:
  const std::string* find(std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace CAMEO_NAMESPACE
