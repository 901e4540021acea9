// Tests that printed text contains no characters that control a terminal, even if names in a model do.
#include "session/models.hpp"

#include <cstdio>

#include <unistd.h>

namespace cameo::test {
namespace {

/// The text that `work` writes to standard output.
template <class Work>
std::string printed(Work work) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file);
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(::fileno(file), STDOUT_FILENO);
  work();
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  std::string text(std::size_t(std::ftell(file) < 0 ? 0 : ::lseek(::fileno(file), 0, SEEK_END)), '\0');
  CHECK(::pread(::fileno(file), text.data(), text.size(), 0) == ssize_t(text.size()));
  std::fclose(file);
  return text;
}

TEST_CASE("one_line leaves text as it is and no control character of either set") {
  CHECK(one_line("Größe 尺寸 \U0001F600 a\u00A0b") == "Größe 尺寸 \U0001F600 a\u00A0b");
  CHECK(one_line("a\nb\tc\rd\n\n") == "a b c d");
  CHECK(one_line("\x1b[2J\x07\x7f") == "?[2J??");
  CHECK(one_line("a\u009b2Jb\u0085c\u2028d") == "a?2Jb c d");
  CHECK(one_line("a\u202eb\u2066c\u200fd") == "a?b?c?d");
  CHECK(one_line("a\x9b"
                 "2J\xff\xc3") == "a?2J??");
  CHECK(one_line("\xe2\x1b[2J") == "??[2J");  // a truncated character does not hide the next one
  CHECK(one_line(std::string_view{"a\0b", 3}) == "a?b");
}

TEST_CASE("print() gives each value a line, and names and texts in it control nothing") {
  const std::string_view texts[] = {"a\x1b]0;title\x07", "b\nerror: OK: fine"};
  named_values all;
  all.items.push_back({"y\x1b[2J\nz = 1", any_value::copy_of(value::tensor(dtype::string, {2}, texts))});
  CHECK(printed([&] { print(all); }) == "y?[2J z = 1 = string[2] \"a?]0;title?\" \"b error: OK: fine\"\n");
}

}  // namespace
}  // namespace cameo::test
