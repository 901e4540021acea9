#include <cameo/core/device_kind.hpp>

namespace CAMEO_NAMESPACE {

std::optional<device_kind> detail::device_kind_named(std::string_view word) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; };
  for (std::size_t k = 0; k < 3; ++k) {
    bool same = word.size() == detail::device_kind_words[k].size();
    for (std::size_t i = 0; same && i < word.size(); ++i) same = lower(word[i]) == detail::device_kind_words[k][i];
    if (same) return device_kind(k);
  }
  return std::nullopt;
}

}  // namespace CAMEO_NAMESPACE
