#include "session/config.hpp"
#include "core/nearest.hpp"
#include "file/messages.hpp"
#include "session/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t longest_key = 1024, longest_value = 8192;

}  // namespace

const config_key_row* row_of(std::string_view key) {
  const auto* const row = std::ranges::find(config_keys::rows, key, &config_key_row::key);
  return row == std::end(config_keys::rows) ? nullptr : row;
}

status unknown_key(std::string_view key, std::span<const std::string> more) {
  nearest_word nearest{key};
  for (const config_key_row& row : config_keys::rows) nearest.look_at(row.key);
  for (const std::string& known : more) nearest.look_at(known);
  return failed(status_code::invalid_argument, "session key '{}' is not known{}; docs/session_keys.md lists the keys",
                key, nearest.found().empty() ? "" : fmt::format("; the nearest is '{}'", nearest.found()));
}

result<session_config> session_config::make(const session_options& options) {
  session_config made;
  for (const auto& [key, text] : options.config) {
    if (key.empty() || key.size() > longest_key || text.size() > longest_value)
      return failed(status_code::invalid_argument, "session key '{}': keys have 1 to {} bytes, values up to {}",
                    key.substr(0, 40), longest_key, longest_value);
    const config_key_row* const row = row_of(key);
    if (!row && !key.starts_with("ep.")) return unknown_key(key, {});
    if (row && row->support == key_support::refused && text != row->otherwise)
      return failed(status_code::invalid_argument, "session key '{}' is not supported: {}", key, row->meaning);
    made.entries_.emplace_back(key, text);
  }
  return made;
}

status session_config::apply_to(session_options& options) const {
  for (const option_row& row : option_rows())
    if (const std::string* const text = row.key.empty() ? nullptr : find(row.key); text && !text->empty())
      if (status s = row.assign(options, *text, row.key_value); !s)
        return std::move(s).in(fmt::format("session key '{}'", row.key));
  if (!detail::is_level(options.optimize))
    return failed(status_code::invalid_argument, "session_options::optimize is {}; levels are 0 to 3, and 99",
                  int(options.optimize));
  return {};
}

std::string_view session_config::set_to(const config_key_row& row) const {
  const std::string* const text = find(row.key);
  return text ? std::string_view{*text} : std::string_view{};
}

std::string_view session_config::operator[](const config_key_row& row) const {
  const std::string* const text = find(row.key);
  return text ? std::string_view{*text} : row.otherwise;
}

std::string_view session_config::key_against(const oddity_row* odd) const {
  constexpr const config_key_row &all = config_key<"session.strict">,
                                 &shapes = config_key<"session.strict_shape_type_inference">;
  if (odd && is_on(all)) return all.key;
  const bool is_of_shapes = odd && (odd->id == oddity::other_shape || odd->id == oddity::other_shape_between);
  return is_of_shapes && is_on(shapes) ? shapes.key : std::string_view{};
}

const std::string* session_config::find(std::string_view key) const {
  const auto at = std::find_if(entries_.rbegin(), entries_.rend(), [&](const auto& each) { return each.first == key; });
  return at == entries_.rend() ? nullptr : &at->second;
}

std::string_view session_config::text_of(std::string_view key) const {
  if (const std::string* const text = find(key)) return *text;
  const config_key_row* const row = row_of(key);
  return row ? row->otherwise : std::string_view{};
}

}  // namespace CAMEO_NAMESPACE
