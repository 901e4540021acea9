#pragma once
#include <cameo/session/options.hpp>

namespace cameo::inline CAMEO_ABI {

/// What cameo does with a session configuration key of ONNX Runtime's.
enum class key_support : std::uint8_t { supported, without_effect, refused };

struct config_key_row {
  std::string_view key;
  std::string_view otherwise;  // the value when it is not set
  key_support support;
  std::string_view meaning;  // for docs/session_keys.md and messages
};
std::span<const config_key_row> config_keys();

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
  std::string_view operator[](std::string_view key) const;
  /// The last value that was set; empty when none was set.
  std::string_view set_to(std::string_view key) const;
  /// Appends an entry: of equal keys the last counts.
  void set(std::string key, std::string_view text) { entries_.emplace_back(std::move(key), text); }
  bool is_on(std::string_view key) const { return (*this)[key] == "1"; }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace cameo::inline CAMEO_ABI
