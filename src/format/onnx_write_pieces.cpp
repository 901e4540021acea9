#include "../graph/messages.hpp"
#include "onnx_decode.hpp"
#include "onnx_writing.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using raw_spans = std::span<const std::span<const std::byte>>;

template <class Member>
struct message_in {
  using type = void;
};
template <std::derived_from<wire::message> Message>
struct message_in<Message*> {
  using type = Message;
};
template <std::derived_from<wire::message> Message>
struct message_in<wire::chain<Message>> {
  using type = Message;
};

/// Copies a message that cameo wrote, and replaces indices by the borrowed bytes. False if the message has none.
class splicer {
 public:
  explicit splicer(raw_spans raw) : raw_{raw} {}

  template <class Message>
  bool splice(wire::byte_span from, wire_pieces& out) {
    wire::cursor fields{from};
    for (wire::field f; fields.next(f);)
      if (!copy<Message>(f, out, static_cast<typename Message::fields*>(nullptr))) return false;
    return !fields.why;
  }

 private:
  template <class Message, class... Rows>
  bool copy(const wire::field& f, wire_pieces& out, wire::rows<Rows...>*) {
    bool good = true;
    const bool is_inside = ((f.number == Rows::number && copy_row<Message, Rows>(f, out, good)) || ...);
    if (!is_inside) out.text.append(wire::text_of(f.whole));
    return good;
  }
  /// Returns false if the field can be copied unchanged.
  template <class Message, class Row>
  bool copy_row(const wire::field& f, wire_pieces& out, bool& good) {
    using member = std::remove_reference_t<decltype(std::declval<Message&>().*Row::member)>;
    using inner = typename message_in<member>::type;
    wire_pieces inside;
    if constexpr (std::is_same_v<member, wire::byte_span>) {
      std::size_t number = 0;
      good = f.payload.size() == sizeof number;
      if (good) std::memcpy(&number, f.payload.data(), sizeof number);
      good = good && number < raw_.size();
      if (good) inside.borrow(raw_[number]);
    } else if constexpr (!std::is_void_v<inner>) {
      good = splice<inner>(f.payload, inside);
    } else {
      return false;
    }
    wire::put_head(out.text, f.number, inside.size());
    out.append(inside);
    return true;
  }

  raw_spans raw_;
};

}  // namespace

std::string raw_index(std::size_t number) {
  std::string text(sizeof number, '\0');
  std::memcpy(text.data(), &number, sizeof number);
  return text;
}

result<wire_pieces> insert_raw_data(std::string_view model, raw_spans raw) {
  wire_pieces out;
  if (splicer{raw}.splice<wire::model_message>(std::as_bytes(std::span{model}), out)) return out;
  return failed(status_code::fail,
                "the serialized model does not have one index for each tensor's bytes; this is a bug of cameo");
}

}  // namespace CAMEO_NAMESPACE
