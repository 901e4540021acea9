// Tests that, without NDEBUG, taking the value of a result with an error ends the program with a message.
#undef NDEBUG
#include <cameo/core/result.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <string>

namespace {

struct own {  // a type of this file only, so that result<own> is instantiated without NDEBUG
  int n = 7;
};

/// True if a process that runs f is ended by the assertion, with its message.
template <class F>
bool asserts(const F& f) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    f();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char part[512];
  for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;) said.append(part, std::size_t(n));
  ::close(ends[0]);
  int ended = 0;
  ::waitpid(child, &ended, 0);
  return WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT && said.find("test the result first") != std::string::npos;
}

int failures = 0;
void expect(bool holds, const char* what) {
  if (!holds) std::printf("failed: %s\n", what), ++failures;
}

}  // namespace

int main() {
  volatile int seen = 0;
  cameo::result<own> bad = cameo::status{cameo::status_code::not_found, "no value"}, good = own{};
  expect(asserts([&] { seen = (*bad).n; }), "*r");
  expect(asserts([&] { seen = bad->n; }), "r->");
  expect(asserts([&] { seen = (*std::move(bad)).n; }), "*std::move(r)");
  expect(!asserts([&] { seen = good->n; }), "a value is taken");
  return failures;
}
