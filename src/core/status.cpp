#include <cameo/core/status.hpp>

#include <new>

namespace CAMEO_NAMESPACE {

namespace {

// The message of an error when there is no memory for its own. Never changed or deleted.
char lost_words[] = "there is no memory for the message of this error";

void release(char* words) noexcept {
  if (words != lost_words) delete[] words;
}

}  // namespace

detail::heap_words::~heap_words() { release(chars_); }

// An empty message becomes `otherwise` first: a message ends with what is wrong, not with where it happened.
void detail::heap_words::prepend(std::string_view where, std::string_view otherwise) noexcept {
  if (where.empty()) return;
  join(where, ": ", view().empty() ? otherwise : view());
}
void detail::heap_words::append(std::string_view more) noexcept { join(view(), "", more); }

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
  release(std::exchange(chars_, all));
}

}  // namespace CAMEO_NAMESPACE
