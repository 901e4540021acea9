#include "choice.hpp"

namespace CAMEO_NAMESPACE::eps {

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
