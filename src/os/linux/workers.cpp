#include "os/workers.hpp"

#include "native.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {
namespace {

struct pipe_of {
  handle out, in;
};

result<pipe_of> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error();
  return pipe_of{native::own(ends[0]), native::own(ends[1])};
}

}  // namespace

result<worker> worker::start(detail::function_ref<int(const handle&, const handle&)> work,
                             std::span<const worker* const> others) {
  result<pipe_of> down = make_pipe();
  if (!down) return std::move(down).error();
  result<pipe_of> up = make_pipe();
  if (!up) return std::move(up).error();
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), process = ::fork();
  if (process < 0) return last_error();
  if (process > 0) return worker{process, std::move(down->in), std::move(up->out)};
  for (const worker* each : others) ::close(native::number(each->input_)), ::close(native::number(each->output_));
  down->in = {}, up->out = {};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::_exit(work(down->out, up->in));
}

void worker::kill() const { ::kill(pid_t(number_), SIGKILL); }

process_end worker::wait() {
  input_ = {}, output_ = {};
  int how = 0;
  if (uninterrupted([&] { return ::waitpid(pid_t(number_), &how, 0); }) < 0) return {};
  if (WIFSIGNALED(how)) return {::strsignal(WTERMSIG(how)), 0};
  return {{}, WEXITSTATUS(how)};
}

std::vector<bool> wait_for_any(std::span<const worker* const> all, std::chrono::milliseconds most) {
  std::vector<pollfd> polls;
  for (const worker* each : all) polls.push_back({native::number(each->output()), POLLIN, 0});
  if (::poll(polls.data(), polls.size(), int(most.count())) < 0) return {};
  std::vector<bool> made;
  for (const pollfd& each : polls) made.push_back(each.revents != 0);
  return made;
}

}  // namespace CAMEO_NAMESPACE::os
