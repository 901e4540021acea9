#include "ort_builder.hpp"

#include "../graph/messages.hpp"

#include <algorithm>
#include <iterator>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t deepest_table = 64, most_tables = 1'000'000, largest_file = (std::size_t{1} << 31) - 2;
constexpr std::size_t weight_alignment = 64;

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void ort_builder::set(std::size_t from, std::size_t to) {
  const auto distance = std::uint32_t(to - from);
  std::memcpy(text_.data() + from, &distance, sizeof distance);
}

/// Appends zeros until the size is `rest` modulo `alignment`.
void ort_builder::pad(std::size_t alignment, std::size_t rest) {
  text_.append((alignment + rest - text_.size() % alignment) % alignment, '\0');
}

/// Wide fields come first, so that no field but an 8-byte one needs padding.
std::size_t ort_builder::vtable(const fields& from, table& to, std::size_t& bytes) {
  std::size_t slots = 0;
  bytes = 4;
  for (const std::size_t width : {8, 4, 1})
    for (std::size_t i = 0; i < std::size(from.at_); ++i) {
      if (from.at_[i].width != width) continue;
      to.offsets_[i] = std::uint16_t(bytes);
      bytes += width;
      slots = std::max(slots, i + 1);
    }
  std::string made;
  append(made, std::uint16_t(4 + 2 * slots));
  append(made, std::uint16_t(bytes));
  for (std::size_t i = 0; i < slots; ++i) append(made, to.offsets_[i]);
  const auto [at, is_new] = vtables_.try_emplace(std::move(made), 0);
  if (is_new) {
    pad(2);
    at->second = text_.size();
    text_ += at->first;
  }
  return at->second;
}

ort_builder::table ort_builder::add(slot_ref from, const fields& of) {
  table made;
  std::size_t bytes = 0;
  const std::size_t vtable_at = vtable(of, made, bytes);
  bool is_wide = false;
  for (const fields::field& f : of.at_) is_wide = is_wide || f.width == 8;
  pad(is_wide ? 8 : 4, is_wide ? 4 : 0);
  made.at_ = text_.size();
  made.depth_ = from.depth + 1;
  ++tables_;
  deepest_ = std::max(deepest_, made.depth_);
  set(from.at, made.at_);
  text_.append(bytes, '\0');
  const auto back = std::int32_t(made.at_ - vtable_at);
  std::memcpy(text_.data() + made.at_, &back, sizeof back);
  for (std::size_t i = 0; i < std::size(of.at_); ++i)
    if (of.at_[i].width) std::memcpy(text_.data() + made.at_ + made.offsets_[i], &of.at_[i].bits, of.at_[i].width);
  return made;
}

void ort_builder::begin_vector(slot_ref from, std::size_t count, std::size_t alignment) {
  pad(4);
  if (alignment == 8 && count != 0) pad(8, 4);
  set(from.at, text_.size());
  append(text_, std::uint32_t(count));
}

void ort_builder::text(slot_ref from, std::string_view words) {
  const auto [at, is_new] = text_numbers_.try_emplace(words, texts_.size());
  if (is_new) texts_.push_back(words);
  pending_texts_.push_back({from.at, at->second});
}

void ort_builder::texts(slot_ref from, std::span<const std::string_view> words) {
  const tables_of at = tables(from, words.size());
  for (std::size_t i = 0; i < words.size(); ++i) text(at[i], words[i]);
}

ort_builder::tables_of ort_builder::tables(slot_ref from, std::size_t count) {
  begin_vector(from, count, 4);
  tables_of made;
  made.first_ = text_.size();
  made.depth_ = from.depth;
  text_.append(4 * count, '\0');
  return made;
}

result<wire_pieces> ort_builder::finish() {
  const auto refused = [](std::string_view why) {
    return failed(status_code::invalid_argument, "an ORT file cannot represent the model: {}", why);
  };
  if (deepest_ > deepest_table)
    return refused(fmt::format("tables would be nested {} deep, and {} is the most (18 levels of subgraphs, about)",
                               deepest_, deepest_table));
  if (tables_ > most_tables)
    return refused(fmt::format("it would have {} tables, and {} is the most", tables_, most_tables));
  std::vector<std::size_t> places;
  for (const std::string_view words : texts_) {
    pad(4);
    places.push_back(text_.size());
    append(text_, std::uint32_t(words.size()));
    text_ += words;
    text_ += '\0';
  }
  if (text_.size() > largest_file) return refused("it would have 2 GiB or more");
  for (const pending_text& each : pending_texts_) set(each.source, places[each.number]);
  wire_pieces made;
  std::size_t size = text_.size();
  std::string tail;
  std::vector<wire_pieces::piece> borrowed;
  for (const pending_weights& each : weights_) {
    const std::size_t gap = (weight_alignment - (size + 4) % weight_alignment) % weight_alignment;
    set(each.source, size + gap);
    tail.append(gap, '\0');
    append(tail, std::uint32_t(each.bytes.size()));
    borrowed.push_back({text_.size() + tail.size(), each.bytes});
    size += gap + 4 + each.bytes.size();
    if (size > largest_file) return refused("it would have 2 GiB or more");
    made.borrowed_bytes += each.bytes.size();
  }
  made.text = std::move(text_);
  made.text += tail;
  made.borrowed = std::move(borrowed);
  return made;
}

}  // namespace CAMEO_NAMESPACE
