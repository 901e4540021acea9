#include "refuse.hpp"

#include <algorithm>
#include <charconv>

#include "choice.hpp"

namespace CAMEO_NAMESPACE::eps {

char* message_part::write(char* to, char* end) const {
  switch (kind_) {
    case kind::text: return std::copy_n(text_.data(), std::min(text_.size(), std::size_t(end - to)), to);
    case kind::number: {
      char digits[24];
      const char* const last = std::to_chars(digits, digits + sizeof digits, number_).ptr;
      return message_part{std::string_view{digits, std::size_t(last - digits)}}.write(to, end);
    }
    case kind::shape: break;
  }
  to = message_part{"["}.write(to, end);
  for (std::size_t i = 0; i < shape_->rank(); ++i) {
    if (i) to = message_part{","}.write(to, end);
    to = message_part{(*shape_)[i]}.write(to, end);
  }
  return message_part{"]"}.write(to, end);
}

status refuse_with(status_code code, std::initializer_list<message_part> parts) {
  char line[320];
  char* end = line;
  for (const message_part& part : parts) end = part.write(end, std::end(line));
  return {code, std::string_view{line, std::size_t(end - line)}};
}

result<std::size_t> choice_of(std::string_view what, std::string_view given, std::span<const std::string_view> names) {
  const std::size_t found = std::size_t(std::ranges::find(names, given) - names.begin());
  if (found < names.size()) return found;
  char list[256];
  char* end = list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view between = i == 0 ? "" : i + 1 < names.size() ? ", " : " or ";
    for (const std::string_view part : {between, names[i]}) end = message_part{part}.write(end, std::end(list));
  }
  const std::string_view some{given.data(), std::min<std::size_t>(given.size(), 64)};  // substr() may throw
  return bad_attribute(what, " must be ", std::string_view{list, std::size_t(end - list)}, ", not '", some, "'");
}

}  // namespace CAMEO_NAMESPACE::eps
