#include "json.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>

namespace CAMEO_NAMESPACE {
namespace {

auto& own_members_of(json& object) {
  return static_cast<std::vector<json::object_t::value_type, json::object_t::allocator_type>&>(
      object.get_ref<json::object_t&>());
}

void free_members(json& value) {
  if (value.is_object()) {
    auto& members = own_members_of(value);
    for (auto& [key, member] : members)
      if (member.is_structured()) free_members(member);
    members.clear();
  } else if (value.is_array()) {
    for (json& element : value)
      if (element.is_structured()) free_members(element);
    value.clear();
  }
}

void write_in_line(const json& value, std::string& to);

/// Writes a string. nlohmann's writer, whose construction costs more than writing a short string, is used only for
/// strings that need escapes.
void write_text(const std::string& text, std::string& to) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), is_plain))
    to += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  else to.append(1, '"').append(text).append(1, '"');
}

void write_in_line(const json& value, std::string& to) {
  if (value.is_string()) return write_text(value.get_ref<const std::string&>(), to);
  if (!value.is_structured()) return void(to += value.dump());
  char before = value.is_object() ? '{' : '[';
  if (value.empty()) to += before;
  const auto separate = [&] { to += std::exchange(before, ','); };
  if (value.is_object())
    for (const auto& [key, member] : members_of(value))
      separate(), write_text(key, to), to += ':', write_in_line(member, to);
  else
    for (const json& element : value) separate(), write_in_line(element, to);
  to += value.is_object() ? '}' : ']';
}

/// Builds a value from the parser's calls, checking depth, number of values and keys. The members of an array or an
/// object are collected on two stacks until its end and then moved at once: nlohmann's ordered map has constant keys,
/// so that it would copy all of its contents whenever it grows.
class json_builder {
 public:
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  explicit json_builder(json& root) : root_{root} {}
  std::string error;
  std::size_t values() const { return values_; }

  bool null() { return put(nullptr); }
  bool boolean(bool v) { return put(v); }
  bool number_integer(number_integer_t v) { return put(v); }
  bool number_unsigned(number_unsigned_t v) { return put(v); }
  bool number_float(number_float_t v, const string_t&) {
    return std::isfinite(v) ? put(v) : fails("a number is too large");
  }
  bool string(string_t& v) { return put(std::move(v)); }
  bool binary(binary_t&) { return fails("binary data"); }
  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool key(string_t& v) {
    if (v.size() > most_json_key)
      return fails(fmt::format("a key has {} bytes, and may have {}", v.size(), most_json_key));
    keys_.push_back(std::move(v));
    return true;
  }
  bool end_object() {
    const level top = close();
    const std::span<std::string> keys = std::span{keys_}.subspan(top.keys);
    if (const std::string* const twice = doubled(keys))
      return fails(fmt::format("the key '{}' is given twice", *twice));
    json made = json::object();
    auto& members = own_members_of(made);
    members.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      members.emplace_back(std::move(keys[i]), std::move(waiting_[top.values + i]));
    keys_.resize(top.keys), waiting_.resize(top.values);
    return place(std::move(made));
  }
  bool end_array() {
    json made = json::array();
    const level top = close();
    const auto first = waiting_.begin() + std::ptrdiff_t(top.values);
    made.get_ref<json::array_t&>().assign(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
    waiting_.resize(top.values);
    return place(std::move(made));
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) {
    const std::string_view words = e.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    const std::size_t end = words.find("] ");
    return fails(std::string{end == words.npos ? words : words.substr(end + 2)});
  }

 private:
  /// The sizes of the stacks at the beginning of an object or array.
  struct level {
    std::size_t keys, values;
  };

  bool fails(std::string words) {
    if (error.empty()) error = std::move(words);
    return false;
  }

  static const std::string* doubled(std::span<const std::string> keys) {
    static constexpr std::size_t few = 16;
    if (keys.size() > few) {
      std::unordered_set<std::string_view> seen;
      seen.reserve(keys.size());
      for (const std::string& key : keys)
        if (!seen.insert(key).second) return &key;
      return nullptr;
    }
    for (auto key = keys.begin(); key != keys.end(); ++key)
      if (std::find(keys.begin(), key, *key) != key) return &*key;
    return nullptr;
  }

  bool count() {
    return ++values_ <= most_json_values || fails(fmt::format("has more than {} values", most_json_values));
  }
  bool place(json&& value) {
    if (levels_.empty()) root_ = std::move(value);
    else waiting_.push_back(std::move(value));
    return true;
  }
  template <class T>
  bool put(T&& value) {
    return count() && place(json(std::forward<T>(value)));
  }

  bool open() {
    if (levels_.size() >= std::size_t{most_json_depth})
      return fails(fmt::format("nested deeper than {}", most_json_depth));
    levels_.push_back({keys_.size(), waiting_.size()});
    return count();
  }
  level close() {
    const level top = levels_.back();
    levels_.pop_back();
    return top;
  }

  json& root_;
  std::vector<level> levels_;
  std::vector<std::string> keys_;
  std::vector<json> waiting_;
  std::size_t values_ = 0;
};

}  // namespace

parsed_json parse_json(std::string_view text) {
  parsed_json made;
  json_builder builder{made.value};
  if (text.size() > most_json_bytes) {
    made.error = fmt::format("has {} bytes, and may have {}", text.size(), most_json_bytes);
    return made;
  }
  if (!json::sax_parse(text.begin(), text.end(), &builder) || !builder.error.empty()) {
    made.error = builder.error.empty() ? "is not JSON" : std::move(builder.error);
    made.value = nullptr;
  }
  made.values = builder.values();
  return made;
}

json_document::~json_document() { free_members(*this); }

const std::vector<json::object_t::value_type>& members_of(const json& object) {
  return object.get_ref<const json::object_t&>();
}

json& append(json& object, std::string key, json value) {
  return own_members_of(object).emplace_back(std::move(key), std::move(value)).second;
}

std::string dump(const json& value, int indent) {
  if (indent < 0) {
    std::string made;
    write_in_line(value, made);
    return made;
  }
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

}  // namespace CAMEO_NAMESPACE
