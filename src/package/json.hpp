#pragma once
#include <cameo/package/package.hpp>

#include <nlohmann/json.hpp>

namespace CAMEO_NAMESPACE {

using json = nlohmann::ordered_json;

/// Limits for a package's files: even a hostile package must be small. Bytes and values are those of all files of it
/// together: one file may be named many times.
constexpr std::size_t most_json_bytes = std::size_t{64} << 20;
constexpr std::size_t most_json_values = std::size_t{4} << 20;
constexpr std::size_t most_json_key = 4096;
constexpr int most_json_depth = 64;

/// Parses one JSON text from an untrusted source: bounded size, number of values and depth, no key twice, no number
/// beyond double. On failure, why; for invalid JSON also the line. Time and memory are linear in the bytes.
struct parsed_json {
  json value;
  std::string trouble;     // empty: fine
  std::size_t values = 0;  // how many it has, itself among them
};
parsed_json parse_json(std::string_view text);

/// A parsed text that is freed from its leaves up. The library's own way moves the members of every value to a list on
/// the heap first, as a value may be nested deeper than the stack allows; what parse_json makes is not.
struct json_document : json {
  explicit json_document(json&& value) : json(std::move(value)) {}
  json_document(json_document&&) = default;
  json_document& operator=(json_document&&) = default;
  ~json_document();
};

/// As cameo writes it. Texts are UTF-8 once parsed.
std::string dump(const json&, int indent = -1);

/// An object's members in order; `items()` of the library makes two strings for each of its iterators.
const std::vector<json::object_t::value_type>& members_of(const json& object);

/// A member that the object does not have yet, behind the others. (The map's own way looks for the key among them all.)
json& append(json& object, std::string key, json value);

/// Where we are in a file, for messages: a list towards the root that lives on the stack.
struct place {
  std::string_view file;
  const place* above = nullptr;
  std::string_view key = {};

  place operator/(std::string_view next) const { return {file, this, next}; }
  /// "/components/main", with ~ and / of keys escaped.
  std::string pointer() const;
};

}  // namespace CAMEO_NAMESPACE
