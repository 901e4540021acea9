#include <cameo/core/status.hpp>

#include <new>

namespace CAMEO_NAMESPACE {

namespace {

// The message of an error when there is no memory for its own. Never changed or deleted.
char lost_words[] = "there is no memory for the message of this error";

}  // namespace

void detail::heap_words::release(char* words) noexcept {
  if (words != lost_words) delete[] words;
}

void detail::heap_words::join(std::string_view a, std::string_view b, std::string_view c) noexcept {
  char* const all = new (std::nothrow) char[a.size() + b.size() + c.size() + 1];
  if (!all) {  // an older message is better than none
    if (!chars_) chars_ = lost_words;
    return;
  }
  char* end = all;
  for (std::string_view part : {a, b, c})
    if (!part.empty()) end += part.copy(end, part.size());
  *end = '\0';
  if (char* const old = std::exchange(chars_, all)) release(old);
}

}  // namespace CAMEO_NAMESPACE
