#include <cameo/eps/cpu/tokenizer.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#ifdef CAMEO_WITH_RE2
#include <re2/re2.h>
#include <utf8proc.h>

#include <algorithm>

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The bytes of the first character; a byte that does not begin a valid character counts as one.
std::size_t character_bytes(std::string_view text) {
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                 utf8proc_ssize_t(text.size()), &character);
  return size > 0 ? std::size_t(size) : 1;
}

bool has_characters(std::string_view text, std::int64_t count) {
  for (; count > 0 && !text.empty(); --count) text.remove_prefix(character_bytes(text));
  return count <= 0;
}

/// Finds the first match from `start` on, the longest if several begin there; false if there is none.
bool match_from(const re2::RE2& pattern, std::string_view text, std::size_t start, std::size_t& at, std::size_t& size) {
  re2::StringPiece found;
  const re2::StringPiece all{text.data(), text.size()};
  if (start > text.size() || !pattern.Match(all, start, text.size(), RE2::UNANCHORED, &found, 1)) return false;
  at = std::size_t(found.data() - text.data()), size = found.size();
  return true;
}

/// Calls f(token) for each token of a text.
template <class F>
class token_walk {
 public:
  token_walk(const tokenizer& how, F f) : how_{how}, f_{std::move(f)} {}

  void walk(std::string_view text) {
    if (!how_.separators.empty()) return part(text, 0);
    if (how_.token) return match(text);
    while (!text.empty()) {
      const std::size_t size = std::min(character_bytes(text), text.size());
      f_(text.substr(0, size));
      text.remove_prefix(size);
    }
  }

 private:
  void part(std::string_view text, std::size_t separator) {
    if (separator == how_.separators.size()) {
      if (!text.empty() && has_characters(text, how_.least)) f_(text);
      return;
    }
    std::size_t start = 0, at = 0, size = 0;
    while (match_from(*how_.separators[separator], text, start, at, size)) {
      part(text.substr(start, at - start), separator + 1);
      if (at == text.size()) return;
      start = size ? at + size : at + character_bytes(text.substr(at));  // an empty match skips a character
    }
    if (start < text.size()) part(text.substr(start), separator + 1);
  }
  void match(std::string_view text) {
    std::size_t start = 0, at = 0, size = 0;
    while (match_from(*how_.token, text, start, at, size)) {
      const std::string_view token = text.substr(at, size);
      const bool counts = !token.empty() && has_characters(token, how_.least);
      if (counts) f_(token);
      else if (at == text.size()) return;
      start = counts ? at + size : at + character_bytes(text.substr(at));
    }
  }

  const tokenizer& how_;
  F f_;
};

result<tokenizer::pattern> compile(std::string_view text, std::string_view name) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(true);
  tokenizer::pattern made{new RE2(re2::StringPiece{text.data(), text.size()}, options)};
  if (!made->ok()) return bad_attribute(name, ": ", std::string_view{made->error()});
  return made;
}

}  // namespace

void tokenizer::drop::operator()(re2::RE2* p) const { delete p; }

result<tokenizer> tokenizer::bind(bind_context& c) {
  const attributes_of<op::microsoft::Tokenizer> a{c.attributes};
  tokenizer made;
  made.pad = a.pad_value, made.least = a.mincharnum, made.mark = a.mark != 0;
  const std::span<const std::string_view> separators = a.separators;
  const std::string_view token = a.tokenexp;
  const bool characters = separators.empty() ? token == "." : separators.size() == 1 && separators[0].empty();
  const status fits =
      check_all({check_needs("the node", true, "separators or tokenexp", !separators.empty() || !token.empty()),
                 check_number("the number of separators", std::int64_t(separators.size()), 0, 256),
                 check_number("mincharnum of single characters", characters ? made.least : 1, 1, 1)});
  if (!fits) return of_model(fits);
  for (const std::string_view separator : characters ? std::span<const std::string_view>{} : separators) {
    result<pattern> compiled = compile(separator, "separators");
    if (!compiled) return compiled.error();
    made.separators.push_back(std::move(*compiled));
  }
  if (separators.empty() && !characters) {
    result<pattern> compiled = compile(token, "tokenexp");
    if (!compiled) return compiled.error();
    made.token = std::move(*compiled);
  }
  return made;
}

status tokenizer::run(run_context& c) const {
  const tensor_view<const std::string_view> x = c.input<std::string_view>(0);
  extents shape = x.shape();
  if (x.empty()) {
    shape[x.rank() - 1] = 0;
    const result<tensor_view<std::string_view>> none = c.output<std::string_view>(0, shape);
    return none ? status{} : none.error();
  }
  std::int64_t most = 0;
  for (const std::string_view text : x) {
    std::int64_t count = 0;
    token_walk{*this, [&](std::string_view) { ++count; }}.walk(text);
    most = std::max(most, count);
    if (c.stopped()) return status_code::canceled;
  }
  const bool marked = mark && most > 0;
  const std::int64_t width = most + (marked ? 2 : 0);
  shape.push_back(width);
  const result<tensor_view<std::string_view>> y = c.output<std::string_view>(0, shape);
  if (!y) return y.error();
  std::string_view* to = y->data();
  for (const std::string_view text : x) {
    std::string_view* const end = to + width;
    if (marked) *to++ = "\x02";
    token_walk{*this, [&](std::string_view token) { *to++ = token; }}.walk(text);
    if (marked) *to++ = "\x03";
    std::fill(to, end, pad);
    to = end;
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
