#pragma once
#include <cameo/package/package.hpp>

#include <nlohmann/json.hpp>

namespace CAMEO_NAMESPACE {

using json = nlohmann::ordered_json;

/// Limits for a package's files, which may be hostile. Bytes and values are counted over all files of a package, once
/// for each time that a file is named.
constexpr std::size_t most_json_bytes = std::size_t{64} << 20;
constexpr std::size_t most_json_values = std::size_t{4} << 20;
constexpr std::size_t most_json_key = 4096;
constexpr int most_json_depth = 64;

/// The result of parsing a JSON text from an untrusted source.
struct parsed_json {
  json value;
  std::string error;       // empty: no error; for invalid JSON it contains the line
  std::size_t values = 0;  // the number of values, including this one
};
/// Parses a JSON text. Its size, number of values and depth are limited, keys must be unique, and numbers must fit a
/// double. Time and memory are linear in the size.
parsed_json parse_json(std::string_view text);

/// A parsed text whose values are freed recursively. nlohmann's destructor first moves the members of every value to a
/// list on the heap, because a value may be nested deeper than the stack allows; parse_json limits the depth.
struct json_document : json {
  explicit json_document(json&& value) : json(std::move(value)) {}
  json_document(json_document&&) = default;
  json_document& operator=(json_document&&) = default;
  ~json_document();
};

/// The JSON text of a value; without `indent`, in one line. Invalid UTF-8 is replaced.
std::string dump(const json&, int indent = -1);

/// An object's members in order. It is faster than nlohmann's `items()`, whose iterators contain two strings.
const std::vector<json::object_t::value_type>& members_of(const json& object);

/// Appends a member whose key the object does not have yet. (The map's functions would search all members for the key.)
json& append(json& object, std::string key, json value);

/// A location in a file, for messages: a linked list on the stack, from the location to the root.
struct place {
  std::string_view file;
  const place* above = nullptr;
  std::string_view key = {};

  place operator/(std::string_view next) const { return {file, this, next}; }
  /// The JSON pointer of the location, with ~ and / in keys escaped: "/components/main".
  std::string pointer() const;
};

}  // namespace CAMEO_NAMESPACE
