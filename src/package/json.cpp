#include "json.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace cameo::inline CAMEO_ABI {
namespace {

/// Builds the value from the parser's calls, so that depth and keys are checked before anything is kept.
class json_builder {
 public:
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  explicit json_builder(json& root) : root_{root} {}
  std::string trouble;

  bool null() { return put(nullptr); }
  bool boolean(bool v) { return put(v); }
  bool number_integer(number_integer_t v) { return put(v); }
  bool number_unsigned(number_unsigned_t v) { return put(v); }
  bool number_float(number_float_t v, const string_t&) {
    return std::isfinite(v) ? put(v) : fails("a number is too large");
  }
  bool string(string_t& v) { return put(std::move(v)); }
  bool binary(binary_t&) { return fails("binary data"); }
  bool start_object(std::size_t) { return open(json::object()); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool end_object() { return levels_.pop_back(), true; }
  bool end_array() { return levels_.pop_back(), true; }
  bool key(string_t& v) {
    level& top = levels_.back();
    if (!top.is_new(v)) return fails(fmt::format("the key '{}' stands there twice", v));
    next_key_ = std::move(v);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) {
    const std::string_view words = e.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    const std::size_t end = words.find("] ");
    return fails(std::string{end == words.npos ? words : words.substr(end + 2)});
  }

 private:
  struct level {
    json* value;
    std::unordered_set<std::string> keys = {};  // of a large object

    bool is_new(const std::string& key) {
      auto& members = value->get_ref<json::object_t&>();
      static constexpr std::size_t large = 16;
      if (members.size() < large)
        return std::none_of(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
      if (keys.empty())
        for (const auto& m : members) keys.insert(m.first);
      return keys.insert(key).second;
    }
  };

  bool fails(std::string words) {
    if (trouble.empty()) trouble = std::move(words);
    return false;
  }

  json* place_for(json&& value) {
    if (levels_.empty()) return &(root_ = std::move(value));
    json& top = *levels_.back().value;
    if (top.is_array()) return &top.get_ref<json::array_t&>().emplace_back(std::move(value));
    return &append(top, std::move(next_key_), std::move(value));
  }

  template <class T>
  bool put(T&& value) {
    place_for(json(std::forward<T>(value)));
    return true;
  }

  bool open(json&& container) {
    if (levels_.size() >= std::size_t{most_json_depth})
      return fails(fmt::format("nested deeper than {}", most_json_depth));
    json* const made = place_for(std::move(container));
    levels_.push_back({made});
    return true;
  }

  json& root_;
  std::vector<level> levels_;
  std::string next_key_;
};

}  // namespace

parsed_json parse_json(std::string_view text) {
  parsed_json made;
  json_builder builder{made.value};
  if (text.size() > most_json_bytes) {
    made.trouble = fmt::format("has {} bytes, and may have {}", text.size(), most_json_bytes);
    return made;
  }
  if (!json::sax_parse(text.begin(), text.end(), &builder) || !builder.trouble.empty()) {
    made.trouble = builder.trouble.empty() ? "is not JSON" : std::move(builder.trouble);
    made.value = nullptr;
  }
  return made;
}

json& append(json& object, std::string key, json value) {
  auto& members = static_cast<std::vector<json::object_t::value_type, json::object_t::allocator_type>&>(
      object.get_ref<json::object_t&>());
  return members.emplace_back(std::move(key), std::move(value)).second;
}

std::string dump(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string place::pointer() const {
  if (!above) return {};
  std::string made = above->pointer() + "/";
  for (const char c : key) {
    if (c == '~') made += "~0";
    else if (c == '/') made += "~1";
    else made += c;
  }
  return made;
}

}  // namespace cameo::inline CAMEO_ABI
