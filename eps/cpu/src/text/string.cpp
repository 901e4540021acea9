#include <cameo/eps/cpu/string.hpp>
#include <cameo/kernel/broadcast.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/outputs.hpp"

#include <utf8proc.h>

namespace CAMEO_NAMESPACE::eps {
namespace {

using strings = tensor_view<const std::string_view>;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Calls f(piece) for each piece of `text` (see StringSplit), and returns their number.
template <class F>
std::int64_t each_piece(std::string_view text, std::string_view delimiter, std::int64_t limit, F&& f) {
  std::int64_t count = 0;
  if (!delimiter.empty()) {
    for (std::size_t end; (limit < 0 || count < limit) && (end = text.find(delimiter)) != text.npos; ++count) {
      f(text.substr(0, end));
      text.remove_prefix(end + delimiter.size());
    }
    return f(text), count + 1;
  }
  while (true) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    if (text.empty()) return count;
    std::size_t end = text.size();
    if (limit < 0 || count < limit)
      for (end = 0; end < text.size() && !is_space(text[end]);) ++end;
    f(text.substr(0, end)), ++count;
    text.remove_prefix(end);
  }
}

/// A change of case of one character to one, as in ONNX Runtime, which calls the C library with a Unicode locale.
using case_change = utf8proc_int32_t (*)(utf8proc_int32_t);
constexpr case_change to_lower = utf8proc_tolower;
utf8proc_int32_t to_upper(utf8proc_int32_t c) {
  constexpr utf8proc_int32_t sharp_s = 0xDF;  // its capital letter (since 2017) is not its upper case in C libraries
  return c == sharp_s ? c : utf8proc_toupper(c);
}

/// Calls f(bytes of the changed character) for each character of the text, until f returns false. Bytes that are not
/// UTF-8 are unchanged.
template <class F>
bool each_changed(std::string_view text, case_change change, F&& f) {
  while (!text.empty()) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), utf8proc_ssize_t(text.size()), &c);
    utf8proc_uint8_t bytes[4] = {utf8proc_uint8_t(text.front())};
    const utf8proc_ssize_t size = length > 0 ? utf8proc_encode_char(change(c), bytes) : 1;
    if (!f(std::string_view{reinterpret_cast<const char*>(bytes), std::size_t(size)})) return false;
    text.remove_prefix(length > 0 ? std::size_t(length) : 1);
  }
  return true;
}
std::size_t changed_size(std::string_view text, case_change change) {
  std::size_t size = 0;
  each_changed(text, change, [&](std::string_view bytes) { return size += bytes.size(), true; });
  return size;
}
/// Writes the changed text to `to`, which has changed_size() bytes, and returns its end.
char* write_changed(std::string_view text, case_change change, char* to) {
  each_changed(text, change, [&](std::string_view bytes) { return to += bytes.copy(to, bytes.size()), true; });
  return to;
}

/// True if `word` in lower case is `lowered`.
bool equal_lowered(std::string_view word, std::string_view lowered) {
  const auto follows = [&](std::string_view bytes) {
    const bool is_next = lowered.starts_with(bytes);
    if (is_next) lowered.remove_prefix(bytes.size());
    return is_next;
  };
  return each_changed(word, to_lower, follows) && lowered.empty();
}

}  // namespace

status string_concat::run(run_context& c) const {
  const strings a = c.input<std::string_view>(0), b = c.input<std::string_view>(1);
  broadcast_loops<2> loops;
  if (status s = loops.make({&a.shape(), &b.shape()}); !s) return s;
  const auto each_pair = [&](auto&& f) {
    loops.rows(0, loops.count(), [&](std::int64_t at, const auto& from, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        f(a[from[0] + i * loops.steps()[0]], b[from[1] + i * loops.steps()[1]], at + i);
    });
  };
  const result<tensor_view<std::string_view>> y = c.output<std::string_view>(0, loops.shape());
  if (!y) return y.error();
  std::size_t size = 0;
  bool fits = true;
  each_pair([&](std::string_view first, std::string_view second, std::int64_t) {
    fits = fits && checked_add(size, first.size() + second.size(), size);
  });
  if (!fits) return status_code::out_of_memory;
  const result<std::span<char>> text = c.text(size);
  if (!text) return text.error();
  char* to = text->data();
  each_pair([&](std::string_view first, std::string_view second, std::int64_t i) {
    (*y)[i] = {to, first.size() + second.size()};
    to += first.copy(to, first.size());
    to += second.copy(to, second.size());
  });
  return {};
}

result<string_split> string_split::bind(bind_context& c) {
  const attributes_of<op::StringSplit> a{c.attributes};
  return string_split{a.delimiter, a.maxsplit.value_or(-1)};
}

status string_split::run(run_context& c) const {
  const strings x = c.input<std::string_view>(0);
  const extents shape = x.shape();
  if (status s = check_fits("the rank of X", shape.rank() < max_rank); !s) return s;
  const result<std::int64_t*> counts = optional_output<std::int64_t>(c, 1, shape);
  if (!counts) return counts.error();
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t count = each_piece(x[i], delimiter, limit, [](std::string_view) {});
    if (*counts) (*counts)[i] = count;
    most = std::max(most, count);
  }
  extents pieces = shape;
  pieces.push_back(most);
  const result<tensor_view<std::string_view>> y = c.output<std::string_view>(0, pieces);
  if (!y) return y.error();
  for (std::int64_t i = 0; i < x.count(); ++i) {
    std::string_view* to = y->data() + i * most;
    each_piece(x[i], delimiter, limit, [&](std::string_view piece) { *to++ = piece; });
    std::fill(to, y->data() + (i + 1) * most, std::string_view{});
  }
  return {};
}

result<string_normalizer> string_normalizer::bind(bind_context& c) {
  const attributes_of<op::StringNormalizer> a{c.attributes};
  const change action = a.case_change_action;
  const bool exact = a.is_case_sensitive != 0;
  const std::span<const std::string_view> given = a.stopwords;
  if (exact) return string_normalizer{action, exact, given};
  const result<std::span<std::string_view>> lowered = c.state.take<std::string_view>(given.size());
  if (!lowered) return status_code::out_of_memory;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t size = changed_size(given[i], to_lower);
    const result<std::span<char>> text = c.state.take<char>(size);
    if (!text) return status_code::out_of_memory;
    write_changed(given[i], to_lower, text->data());
    (*lowered)[i] = {text->data(), size};
  }
  return string_normalizer{action, exact, *lowered};
}

bool string_normalizer::is_stopword(std::string_view word) const {
  for (std::string_view stop : stopwords)
    if (exact ? stop == word : equal_lowered(word, stop)) return true;
  return false;
}

status string_normalizer::run(run_context& c) const {
  const strings x = c.input<std::string_view>(0);
  const case_change changed = action == change::lower ? to_lower : to_upper;
  std::size_t size = 0;
  std::int64_t count = 0;
  for (std::string_view word : x) {
    if (is_stopword(word)) continue;
    ++count;
    if (action != change::none) size += changed_size(word, changed);
  }
  extents shape = x.shape();
  shape[x.rank() - 1] = std::max<std::int64_t>(count, 1);
  const result<tensor_view<std::string_view>> y = c.output<std::string_view>(0, shape);
  if (!y) return y.error();
  const result<std::span<char>> text = c.text(size);
  if (!text) return text.error();
  char* end = text->data();
  std::string_view* to = y->data();
  if (count == 0) *to = {};
  for (std::string_view word : x) {
    if (is_stopword(word)) continue;
    if (action != change::none) {
      char* const start = end;
      end = write_changed(word, changed, start);
      word = {start, std::size_t(end - start)};
    }
    *to++ = word;
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
