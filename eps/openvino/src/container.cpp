#include "container.hpp"

#include <cameo/core/checked.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

using json = nlohmann::json;

constexpr std::string_view magic = "OVEP_BIN";
constexpr const char* id_key = "cameo_id";
constexpr std::uint64_t container_version = 1, header_size = 40, blob_alignment = 65536;
constexpr std::size_t most_document = std::size_t{1} << 26;  // bytes: a hundred thousand blobs with long names
constexpr std::size_t most_entries = std::size_t{1} << 18, most_depth = 3;

template <class... Args>
status bad(fmt::format_string<const Args&...> words, const Args&... args) {
  return {status_code::invalid_graph, fmt::format(words, args...)};
}

std::uint64_t read_u64(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = number << 8 | std::uint64_t(bytes[at + i]);
  return number;
}

void append_u64(std::string& to, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) to.push_back(char(number >> 8 * i & 0xFF));
}

/// Builds the document while the parser reads it, and stops the parser at a limit of depth and entries: it recurses
/// once per level, of which a malicious document may have as many as bytes.
class document_reader : public nlohmann::json_sax<json> {
 public:
  json root = json::object();
  std::string wrong;

  bool null() override { return refuse("a null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t number) override { return put(number); }
  bool number_unsigned(number_unsigned_t number) override { return put(number); }
  bool number_float(number_float_t, const string_t&) override { return refuse("a floating-point number"); }
  bool string(string_t& text) override { return put(std::move(text)); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_array(std::size_t) override { return refuse("an array"); }
  bool end_array() override { return refuse("an array"); }
  bool start_object(std::size_t) override {
    if (open_.size() == most_depth) return wrong = "it is nested too deep", false;
    if (open_.empty()) return open_.push_back(&root), true;
    if (!put(json::object())) return false;
    return open_.push_back(&(*open_.back())[key_]), true;
  }
  bool end_object() override { return open_.pop_back(), true; }
  bool key(string_t& name) override { return key_ = std::move(name), true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return wrong = fmt::format("it is not BSON from byte {} on", at), false;
  }

 private:
  bool refuse(std::string_view what) { return wrong = fmt::format("'{}' is {}", key_, what), false; }
  bool put(json element) {
    if (++entries_ > most_entries) return wrong = fmt::format("it has more than {} entries", most_entries), false;
    if (!open_.back()->emplace(key_, std::move(element)).second)
      return wrong = fmt::format("it has '{}' twice", key_), false;
    return true;
  }

  std::vector<json*> open_;
  std::string key_;
  std::size_t entries_ = 0;
};

const std::string* text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

/// The size or offset in an entry; std::nullopt if it is absent, not an integer, or negative.
std::optional<std::uint64_t> size_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return {};
  if (!found->is_number_unsigned() && found->get<std::int64_t>() < 0) return {};
  return found->get<std::uint64_t>();
}

/// The first number of a version such as "1.4.2"; std::nullopt for a text that is not three numbers.
std::optional<std::uint64_t> major_of(std::string_view version) {
  std::array<std::uint64_t, 3> numbers{};
  std::size_t at = 0;
  for (std::size_t part = 0; part < numbers.size(); ++part) {
    if (part > 0 && (at == version.size() || version[at++] != '.')) return {};
    const std::size_t first = at;
    for (; at < version.size() && version[at] >= '0' && version[at] <= '9' && at - first < 9; ++at)
      numbers[part] = numbers[part] * 10 + std::uint64_t(version[at] - '0');
    if (at == first) return {};
  }
  return at == version.size() ? std::optional{numbers[0]} : std::nullopt;
}

status read_document(std::span<const std::byte> bytes, json& to) {
  // The document begins with its length, which the parser does not check.
  std::uint32_t length = 0;
  for (std::size_t i = 4; i-- > 0;) length = length << 8 | std::uint32_t(bytes[i]);
  if (length != bytes.size())
    return bad("the BSON document says it has {} bytes, and the header says {}", length, bytes.size());
  document_reader reader;
  const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (!json::sax_parse(first, first + bytes.size(), &reader, json::input_format_t::bson))
    return bad("the BSON document is damaged: {}", reader.wrong);
  to = std::move(reader.root);
  return {};
}

status read_blobs(const json& map, std::span<const std::byte> bytes, std::uint64_t document_end, container& to) {
  struct place {
    std::uint64_t offset, size;
    const std::string* name;
  };
  std::vector<place> places;
  for (const auto& [name, entry] : map.items()) {
    const auto offset = entry.is_object() ? size_of(entry, "data_offset") : std::nullopt;
    const auto size = entry.is_object() ? size_of(entry, "size") : std::nullopt;
    if (!offset || !size) return bad("blob '{}' lacks its data_offset or its size", name);
    if (*offset < document_end || *offset > bytes.size() || *size > bytes.size() - *offset)
      return bad("blob '{}' has {} bytes from {} on, which is not inside the container's {} bytes", name, *size,
                 *offset, bytes.size());
    places.push_back({*offset, *size, &name});
    to.blobs.push_back({name, bytes.subspan(*offset, *size)});
  }
  std::sort(to.blobs.begin(), to.blobs.end(), [](const container_blob& a, const container_blob& b) {
    return a.bytes.data() != b.bytes.data() ? a.bytes.data() < b.bytes.data() : a.bytes.size() < b.bytes.size();
  });
  for (std::size_t i = 1; i < to.blobs.size(); ++i)
    if (to.blobs[i - 1].bytes.data() + to.blobs[i - 1].bytes.size() > to.blobs[i].bytes.data())
      return bad("blobs '{}' and '{}' overlap", to.blobs[i - 1].name, to.blobs[i].name);
  return {};
}

status read_weights(const json& map, container& to) {
  for (const auto& [name, entry] : map.items()) {
    const auto offset = entry.is_object() ? size_of(entry, "data_offset") : std::nullopt;
    const auto size = entry.is_object() ? size_of(entry, "size") : std::nullopt;
    const std::string* const location = entry.is_object() ? text_of(entry, "location") : nullptr;
    std::uint64_t end = 0;
    if (!offset || !size || !location || !checked_add(*offset, *size, end))
      return bad("weight '{}' lacks its location, data_offset or size", name);
    to.weights.push_back({name, *location, *offset, *size});
  }
  return {};
}

}  // namespace

const container_blob* container::find(std::string_view name) const {
  for (const container_blob& blob : blobs)
    if (blob.name == name) return &blob;
  return nullptr;
}

namespace {

/// Checks the header. Returns the bytes of the document, which it locates.
result<std::span<const std::byte>> find_document(std::span<const std::byte> bytes) {
  if (bytes.size() < header_size)
    return bad("the context has {} bytes; a container of OpenVINO blobs begins with {}", bytes.size(), header_size);
  if (!std::equal(magic.begin(), magic.end(), bytes.begin(), [](char a, std::byte b) { return std::byte(a) == b; }))
    return bad("the context does not begin with '{}', as a container of OpenVINO blobs does", magic);
  if (const std::uint64_t version = read_u64(bytes, 8); version != container_version)
    return bad("the container is of version {}; this is known: {}", version, container_version);
  if (const std::uint64_t size = read_u64(bytes, 16); size != header_size)
    return bad("the container's header says it has {} bytes; in version {} it has {}", size, container_version,
               header_size);
  const std::uint64_t offset = read_u64(bytes, 24), size = read_u64(bytes, 32);
  if (offset < header_size || offset > bytes.size() || size > bytes.size() - offset || size < 5)
    return bad("the BSON document has {} bytes from {} on, which is not inside the container's {} bytes", size, offset,
               bytes.size());
  if (size > most_document) return bad("the BSON document has {} bytes; at most {} are read", size, most_document);
  return bytes.subspan(offset, size);
}

}  // namespace

result<container> read_container(std::span<const std::byte> bytes) {
  const result<std::span<const std::byte>> found = find_document(bytes);
  if (!found) return found.error();
  json document;
  if (status s = read_document(*found, document); !s) return s;
  container made;
  const std::string *const version = text_of(document, "version"), *const producer = text_of(document, "producer");
  if (!version || !producer) return bad("the BSON document lacks its version or its producer");
  const auto major = major_of(*version);
  if (!major || *major != 1)
    return bad("the container's document is of schema version '{}'; this is known: 1", *version);
  made.schema_version = *version, made.producer = *producer;
  if (const std::string* const id = text_of(document, id_key)) made.id = *id;
  const auto blobs = document.find("blob_metadata_map"), weights = document.find("weights_metadata_map");
  if (blobs == document.end() || !blobs->is_object()) return bad("the BSON document lacks its blob_metadata_map");
  if (status s = read_blobs(*blobs, bytes, std::uint64_t(found->data() + found->size() - bytes.data()), made); !s)
    return s;
  if (weights == document.end()) return made;
  if (!weights->is_object()) return bad("the BSON document's weights_metadata_map is not an object");
  if (status s = read_weights(*weights, made); !s) return s;
  return made;
}

namespace {

/// Makes the document for blobs at these offsets. Its size depends on the offsets, since small numbers take four bytes
/// and others eight.
result<std::string> document_of(const container& from, std::span<const std::uint64_t> offsets) {
  json blobs = json::object(), weights = json::object();
  for (std::size_t i = 0; i < from.blobs.size(); ++i)
    blobs[from.blobs[i].name] = {{"data_offset", std::int64_t(offsets[i])},
                                 {"size", std::int64_t(from.blobs[i].bytes.size())}};
  for (const container_weight& w : from.weights)
    weights[w.name] = {
        {"location", w.location}, {"data_offset", std::int64_t(w.offset)}, {"size", std::int64_t(w.size)}};
  if (blobs.size() != from.blobs.size() || weights.size() != from.weights.size())
    return status{status_code::invalid_argument, "two blobs or two weights of a container have one name"};
  json document{{"version", from.schema_version}, {"producer", from.producer}, {"blob_metadata_map", std::move(blobs)}};
  if (!from.id.empty()) document[id_key] = from.id;
  if (!from.weights.empty()) document["weights_metadata_map"] = std::move(weights);
  std::string bytes;
  json::to_bson(document, nlohmann::detail::output_adapter<char>{bytes});
  return bytes;
}

constexpr std::array<std::byte, blob_alignment> zeros{};

}  // namespace

result<container_pieces> write_container(const container& from) {
  const auto has_zero = [](const auto& named) { return named.name.find('\0') != named.name.npos; };
  if (std::any_of(from.blobs.begin(), from.blobs.end(), has_zero) ||
      std::any_of(from.weights.begin(), from.weights.end(), has_zero))
    return status{status_code::invalid_argument, "a name in a container has a zero byte"};
  std::vector<std::uint64_t> offsets(from.blobs.size());
  // The offsets and the size of the document depend on each other. Larger offsets never make the document smaller, so
  // the loop ends.
  std::string document;
  for (std::uint64_t first = 0;;) {
    std::uint64_t at = first;
    for (std::size_t i = 0; i < from.blobs.size(); ++i) {
      offsets[i] = at;
      if (!checked_add(at, std::uint64_t{from.blobs[i].bytes.size()}, at) || !checked_add(at, blob_alignment - 1, at) ||
          at > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
        return status_code::out_of_memory;
      at -= at % blob_alignment;
    }
    result<std::string> made = document_of(from, offsets);
    if (!made) return made.error();
    document = std::move(*made);
    const std::uint64_t needed = detail::align_up(header_size + document.size(), blob_alignment);
    if (needed == first) break;
    first = needed;
  }
  container_pieces made;
  made.head.append(magic);
  for (const std::uint64_t number : {container_version, header_size, header_size, std::uint64_t{document.size()}})
    append_u64(made.head, number);
  made.head += document;
  made.head.resize(detail::align_up(made.head.size(), blob_alignment));
  for (const container_blob& blob : from.blobs) {
    made.rest.push_back(blob.bytes);
    if (const std::size_t over = blob.bytes.size() % blob_alignment; over != 0)
      made.rest.push_back(std::span{zeros}.first(blob_alignment - over));
  }
  return made;
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
