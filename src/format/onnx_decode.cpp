#include "onnx_decode.hpp"
#include "../graph/messages.hpp"

#include <cameo/core/checked.hpp>

namespace CAMEO_NAMESPACE::wire {
namespace {

constexpr std::size_t object_bytes = 512;  // memory for a message, and for what the graph makes of it
constexpr std::size_t field_bytes = 64;    // memory for any other field: a text, a repeated element

enum class taken : std::uint8_t { no, yes, failed };  // no: the field is not read

class decoder {
 public:
  decoder(byte_span all, std::string_view what, const depth_limits& deepest, const load_limits& limits, arena& memory)
      : all_{all}, what_{what}, deepest_{deepest}, limits_{limits}, memory_{memory} {}
  status error = {};

  template <class Message>
  bool read(byte_span from, Message& to) {
    cursor fields{from};
    if (++depth_.messages > deepest_.messages) return no_message("messages that are nested too deep", from.data());
    for (field f; fields.next(f);) {
      const taken done = take(f, to, static_cast<typename Message::fields*>(nullptr));
      if (done == taken::failed || (done == taken::no && !keep(f, to))) return false;
    }
    --depth_.messages;
    return !fields.why || no_message(fields.why, fields.at());
  }

 private:
  template <class Message, class... Rows>
  taken take(const field& f, Message& to, rows<Rows...>*) {
    taken done = taken::no;
    static_cast<void>(((f.number == Rows::number && (done = take_row<Rows>(f, to), true)) || ...));
    return done;
  }
  template <class Row, class Message>
  taken take_row(const field& f, Message& to) {
    auto& member = to.*Row::member;
    if (!fits(f, member)) return taken::no;
    if constexpr (requires { to.choose(Row::number); }) to.choose(Row::number);
    constexpr bool is_graph = std::is_same_v<Message, attribute_message> && (Row::number == 6 || Row::number == 11);
    if (is_graph && ++depth_.graphs > deepest_.graphs)
      return stop(failed(status_code::invalid_graph, "subgraphs are nested deeper than {} (load_limits.graph_depth)",
                         deepest_.graphs));
    const taken done = put(f, member);
    if (is_graph) --depth_.graphs;
    return done;
  }

  // --- checks that the wire type fits the field, and a number the enum ---

  template <std::integral T>
  static bool fits(const field& f, const T&) {
    return f.kind == type::varint;
  }
  static bool fits(const field& f, const std::optional<std::int64_t>&) { return f.kind == type::varint; }
  static bool fits(const field& f, const std::optional<float>&) { return f.kind == type::fixed32; }
  template <int Last>
  static bool fits(const field& f, const enumerated<Last>&) {
    return f.kind == type::varint && std::uint32_t(f.value) <= std::uint32_t(Last);
  }
  template <class T>
  static bool fits(const field& f, const numbers<T>&) {
    constexpr type single = std::integral<T> ? type::varint : sizeof(T) == 4 ? type::fixed32 : type::fixed64;
    return f.kind == type::delimited || f.kind == single;
  }
  template <class T>
  static bool fits(const field& f, const T&) {
    return f.kind == type::delimited;
  }

  // --- values of fields ---

  template <std::integral T>
  taken put(const field& f, T& to) {
    to = T(f.value);
    return charge(field_bytes, 0, 0);
  }
  taken put(const field& f, std::optional<std::int64_t>& to) {
    to = std::int64_t(f.value);
    return charge(field_bytes, 0, 0);
  }
  taken put(const field& f, std::optional<float>& to) {
    to = std::bit_cast<float>(std::uint32_t(f.value));
    return charge(field_bytes, 0, 0);
  }
  template <int Last>
  taken put(const field& f, enumerated<Last>& to) {
    to.number = int(f.value);
    return charge(field_bytes, 0, 0);
  }
  taken put(const field& f, text& to) {
    to = text_of(f.payload);
    return charge(field_bytes, f.payload.size(), 2);
  }
  taken put(const field& f, byte_span& to) {  // weights, which stay in the file
    to = f.payload;
    return charge(field_bytes, 0, 0);
  }
  taken put(const field& f, chain<text>& to) {
    if (!to.add(memory_, text_of(f.payload))) return full();
    return charge(field_bytes, f.payload.size(), 2);
  }
  template <class T>
  taken put(const field& f, numbers<T>& to) {
    const char* const why = to.add(f.payload, memory_);
    if (why == no_memory) return full();
    if (why) return no_message(why, f.payload.data()), taken::failed;
    return charge(field_bytes, f.payload.size(), std::integral<T> ? 8 : 1);
  }
  template <class Message>
  taken put(const field& f, Message*& to) {
    if (charge(object_bytes, 0, 0) == taken::failed) return taken::failed;
    if (!to && !(to = memory_.keep(Message{}))) return full();
    return read(f.payload, *to) ? taken::yes : taken::failed;
  }
  template <class Message>
  taken put(const field& f, chain<Message>& to) {
    if (charge(object_bytes, 0, 0) == taken::failed) return taken::failed;
    Message* const made = to.add(memory_, Message{});
    if (!made) return full();
    if constexpr (requires { made->whole; }) made->whole = f.whole;
    return read(f.payload, *made) ? taken::yes : taken::failed;
  }
  template <class Message>
  taken put(const field& f, looked_through<Message>&) {
    Message only;
    return read(f.payload, only) ? taken::no : taken::failed;
  }
  /// Adjacent fields become one span.
  [[gnu::noinline]] bool keep(const field& f, message& to) {
    if (!to.rest.empty() && to.rest.back().data() + to.rest.back().size() == f.whole.data())
      to.rest.back() = {to.rest.back().data(), to.rest.back().size() + f.whole.size()};
    else if (!to.rest.add(memory_, f.whole)) return full() == taken::yes;
    return charge(field_bytes, f.payload.size(), 2) == taken::yes;
  }

  // --- costs and errors ---

  [[gnu::noinline]] taken charge(std::size_t bytes, std::size_t size, std::size_t growth) {
    std::size_t grown = 0;
    if (checked_multiply(size, growth, grown) && checked_add(bytes, grown, bytes) && checked_add(cost_, bytes, cost_) &&
        cost_ <= limits_.model_bytes)
      return taken::yes;
    return over_limit();
  }
  [[gnu::noinline]] taken over_limit() {
    return stop(failed(status_code::out_of_memory,
                       "would take more than {} bytes of memory without its weights (load_limits.model_bytes)",
                       limits_.model_bytes));
  }
  [[gnu::noinline]] taken full() { return stop(status_code::out_of_memory); }
  taken stop(status why) {
    error = std::move(why);
    return taken::failed;
  }
  [[gnu::noinline]] bool no_message(const char* why, const std::byte* at) {
    error = failed(status_code::invalid_protobuf, "{}: {} at byte {} of {}", what_, why, at - all_.data(), all_.size());
    return false;
  }

  byte_span all_;
  std::string_view what_;
  const depth_limits& deepest_;
  const load_limits& limits_;
  arena& memory_;
  depth_limits depth_ = {0, 0};
  std::size_t cost_ = 0;
};

}  // namespace

template <class Message>
status decode(byte_span bytes, std::string_view what, const depth_limits& deepest, const load_limits& limits,
              arena& memory, Message& to) {
  decoder reads{bytes, what, deepest, limits, memory};
  return reads.read(bytes, to) ? status{} : std::move(reads.error);
}

#define CAMEO_DECODES(MESSAGE) \
  template status decode(byte_span, std::string_view, const depth_limits&, const load_limits&, arena&, MESSAGE&);
CAMEO_DECODES(model_message)
CAMEO_DECODES(value_info_message)
CAMEO_DECODES(tensor_message)
CAMEO_DECODES(sparse_tensor_message)
CAMEO_DECODES(sequence_message)
CAMEO_DECODES(map_message)
CAMEO_DECODES(optional_message)
#undef CAMEO_DECODES

}  // namespace CAMEO_NAMESPACE::wire
