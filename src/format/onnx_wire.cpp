#include "onnx_wire.hpp"

#include "../graph/messages.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/model.hpp>

#include <algorithm>
#include <cstring>

namespace cameo::inline CAMEO_ABI {
namespace {

using byte_span = std::span<const std::byte>;

enum wire_type : std::uint8_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

constexpr std::uint32_t raw_data_field = 9, training_info_field = 20;

/// Which fields hold messages that are walked into.
struct child_row {
  wire_message parent;
  std::uint32_t field;
  wire_message child;
};
constexpr child_row children[] = {
    {wire_message::model, 7, wire_message::graph},
    {wire_message::model, 25, wire_message::function},
    {wire_message::graph, 1, wire_message::node},
    {wire_message::graph, 5, wire_message::tensor},
    {wire_message::graph, 15, wire_message::sparse_tensor},
    {wire_message::node, 5, wire_message::attribute},
    {wire_message::attribute, 5, wire_message::tensor},
    {wire_message::attribute, 6, wire_message::graph},
    {wire_message::attribute, 10, wire_message::tensor},
    {wire_message::attribute, 11, wire_message::graph},
    {wire_message::attribute, 22, wire_message::sparse_tensor},
    {wire_message::attribute, 23, wire_message::sparse_tensor},
    {wire_message::sparse_tensor, 1, wire_message::tensor},
    {wire_message::sparse_tensor, 2, wire_message::tensor},
    {wire_message::function, 7, wire_message::node},
    {wire_message::function, 11, wire_message::attribute},
};
const child_row* find_child(wire_message parent, std::uint32_t field) {
  for (const child_row& row : children)
    if (row.parent == parent && row.field == field) return &row;
  return nullptr;
}

/// How many bytes of objects a byte of this field becomes at most: packed varints grow, and so do tiny messages.
std::size_t growth(wire_message parent, std::uint32_t field) {
  if (parent == wire_message::tensor) return field == 5 ? 4 : field == 1 || field == 7 || field == 11 ? 8 : 1;
  if (parent == wire_message::attribute && field == 8) return 8;
  if (parent == wire_message::graph && field >= 11 && field <= 14) return 64;  // messages of two bytes each
  return 2;
}
constexpr std::size_t object_bytes = 512;  // of a message that is walked into, with what the graph makes of it
constexpr std::size_t field_bytes = 64;    // of any other field: a string, a repeated element

struct field {
  std::uint32_t number = 0;
  wire_type type = varint;
  byte_span whole;    // with tag and length
  byte_span payload;  // of a delimited one
};

/// Reads field after field; `why` says what stopped it before the end.
class field_cursor {
 public:
  explicit field_cursor(byte_span bytes) : rest_{bytes} {}
  const char* why = nullptr;

  bool next(field& f) {
    if (rest_.empty()) return false;
    const std::byte* const start = rest_.data();
    std::uint64_t tag = 0;
    if (!read_varint(tag) || tag > 0xFFFFFFFF || tag >> 3 == 0) return fail("no field tag");
    f.number = std::uint32_t(tag >> 3);
    f.type = wire_type(tag & 7);
    f.payload = {};
    std::uint64_t size = 0;
    switch (tag & 7) {
      case varint:
        if (!read_varint(size)) return fail("a number that does not end");
        break;
      case fixed64:
      case fixed32:
        size = f.type == fixed64 ? 8 : 4;
        if (size > rest_.size()) return fail("ends inside a number");
        rest_ = rest_.subspan(std::size_t(size));
        break;
      case delimited:
        if (!read_varint(size)) return fail("a length that does not end");
        if (size > rest_.size()) return fail("ends inside a field");
        f.payload = rest_.first(std::size_t(size));
        rest_ = rest_.subspan(std::size_t(size));
        break;
      default: return fail("a wire type that ONNX does not use");
    }
    f.whole = {start, std::size_t(rest_.data() - start)};
    return true;
  }
  byte_span rest() const { return rest_; }

 private:
  bool fail(const char* words) { return why = words, false; }
  bool read_varint(std::uint64_t& number) {
    number = 0;
    for (std::size_t i = 0; i < 10 && i < rest_.size(); ++i) {
      const auto byte = std::uint64_t(rest_[i]);
      number |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) return rest_ = rest_.subspan(i + 1), true;
    }
    return false;
  }
  byte_span rest_;
};

void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(char(number | 0x80));
  out.push_back(char(number));
}

std::string_view text_of(byte_span bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Copies a message, replacing each raw_data by what `replace` appends.
class rewriter {
 public:
  using replacement = function_ref<status(byte_span raw_data, wire_pieces& out)>;
  rewriter(byte_span all, const load_limits& limits, replacement replace, std::string* training)
      : all_{all}, limits_{limits}, replace_{replace}, training_{training} {}

  status rewrite(byte_span bytes, wire_message kind, std::size_t depth, wire_pieces& out) {
    field_cursor fields{bytes};
    field f;
    while (fields.next(f)) {
      const child_row* const child = f.type == delimited ? find_child(kind, f.number) : nullptr;
      if (status s = charge(kind, f, child != nullptr); !s) return s;
      if (child) {
        if (status s = descend(f, *child, depth, out); !s) return s;
      } else if (kind == wire_message::tensor && f.number == raw_data_field && f.type == delimited) {
        wire_pieces data;
        if (status s = replace_(f.payload, data); !s) return s;
        append_field(f.number, data, out);
      } else if (kind == wire_message::model && f.number == training_info_field && training_) {
        training_->append(text_of(f.whole));
      } else {
        out.append(text_of(f.whole));
      }
    }
    if (!fields.why) return status_code::ok;
    return failed(status_code::invalid_protobuf,
                  "not protobuf, or truncated: {} at byte {} of {}; an ONNX model is a serialized onnx.ModelProto",
                  fields.why, fields.rest().data() - all_.data(), all_.size());
  }

 private:
  status descend(const field& f, const child_row& row, std::size_t depth, wire_pieces& out) {
    if (row.parent == wire_message::attribute && row.child == wire_message::graph) ++depth;
    if (depth > deepest_graph(limits_))
      return failed(status_code::invalid_graph, "subgraphs are nested deeper than {} (load_limits.graph_depth)",
                    deepest_graph(limits_));
    wire_pieces inside;
    if (status s = rewrite(f.payload, row.child, depth, inside); !s) return s;
    append_field(f.number, inside, out);
    return status_code::ok;
  }

  static void append_field(std::uint32_t number, const wire_pieces& payload, wire_pieces& out) {
    append_varint(out.text, std::uint64_t{number} << 3 | delimited);
    append_varint(out.text, payload.size());
    out.append(payload);
  }

  status charge(wire_message kind, const field& f, bool walked) {
    std::size_t bytes = walked ? object_bytes : field_bytes;
    const bool raw = kind == wire_message::tensor && f.number == raw_data_field;
    if (!walked && !raw) {
      std::size_t grown = 0;
      if (!checked_multiply(f.payload.size(), growth(kind, f.number), grown) || !checked_add(bytes, grown, bytes))
        bytes = std::size_t(-1);
    }
    if (!checked_add(cost_, bytes, cost_) || cost_ > limits_.model_bytes)
      return failed(status_code::out_of_memory,
                    "would take more than {} bytes of memory without its weights (load_limits.model_bytes)",
                    limits_.model_bytes);
    return status_code::ok;
  }

  byte_span all_;
  const load_limits& limits_;
  replacement replace_;
  std::string* training_;
  std::size_t cost_ = 0;
};

}  // namespace

std::size_t deepest_graph(const load_limits& limits) { return std::min<std::size_t>(limits.graph_depth, 500); }

int protobuf_depth(const load_limits& limits) { return 3 * int(deepest_graph(limits)) + 100; }

std::string raw_index(std::size_t number) {
  std::string text(sizeof number, '\0');
  std::memcpy(text.data(), &number, sizeof number);
  return text;
}

bool read_raw_index(std::string_view raw_data, std::size_t& number) {
  if (raw_data.size() != sizeof number) return false;
  std::memcpy(&number, raw_data.data(), sizeof number);
  return true;
}

void wire_pieces::append(const wire_pieces& more) {
  for (const piece& p : more.borrowed) borrowed.push_back({text.size() + p.at, p.bytes});
  text.append(more.text);
  borrowed_bytes += more.borrowed_bytes;
}
void wire_pieces::append(std::string_view more) { text.append(more); }
void wire_pieces::borrow(std::span<const std::byte> bytes) {
  borrowed.push_back({text.size(), bytes});
  borrowed_bytes += bytes.size();
}

std::string wire_pieces::joined() const {
  std::string all;
  all.reserve(size());
  for (std::span<const std::byte> piece : spans())
    all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return all;
}

std::vector<std::span<const std::byte>> wire_pieces::spans() const {
  std::vector<byte_span> all;
  const byte_span own = std::as_bytes(std::span{text.data(), text.size()});
  std::size_t at = 0;
  for (const piece& p : borrowed) {
    if (p.at != at) all.push_back(own.subspan(at, p.at - at));
    if (!p.bytes.empty()) all.push_back(p.bytes);
    at = p.at;
  }
  if (at != own.size()) all.push_back(own.subspan(at));
  return all;
}

result<stripped_message> strip_raw_data(std::span<const std::byte> bytes, wire_message kind,
                                        const load_limits& limits) {
  stripped_message stripped;
  const auto number = [&](byte_span raw_data, wire_pieces& out) -> status {
    out.append(raw_index(stripped.raw.size()));
    stripped.raw.push_back(raw_data);
    return status_code::ok;
  };
  wire_pieces out;
  rewriter walk{bytes, limits, number, &stripped.training};
  if (status s = walk.rewrite(bytes, kind, 0, out); !s) return s;
  stripped.bytes = std::move(out.text);
  return stripped;
}

result<wire_pieces> insert_raw_data(std::string_view bytes, wire_message kind,
                                    std::span<const std::span<const std::byte>> raw) {
  const auto insert = [&](byte_span index, wire_pieces& out) -> status {
    std::size_t number = 0;
    if (!read_raw_index(text_of(index), number) || number >= raw.size())
      return failed(status_code::fail, "a tensor was lost on the way to the file");
    out.borrow(raw[number]);
    return status_code::ok;
  };
  wire_pieces out;
  const load_limits none{std::size_t(-1), std::size_t(-1)};
  const byte_span all = std::as_bytes(std::span{bytes.data(), bytes.size()});
  rewriter walk{all, none, insert, nullptr};
  if (status s = walk.rewrite(all, kind, 0, out); !s) return s;
  return out;
}

}  // namespace cameo::inline CAMEO_ABI
