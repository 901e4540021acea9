#include "program/isolation.hpp"

#include "program/interrupt.hpp"
#include "program/say.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <vector>

namespace cameo::program {
namespace {

using clock = std::chrono::steady_clock;

struct child {
  std::size_t job;
  pid_t process;
  int pipe;
  clock::time_point start;
  bool timed_out = false;
  std::string output;
};

bool write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(to, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += std::size_t(n);
  }
  return true;
}

[[noreturn]] void be_child(int to, pid_t parent, const std::function<std::string(std::size_t)>& work, std::size_t job) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  interrupt::ignore();  // the parent is told, too, and decides
  int code = 0;
  try {
    if (!write_all(to, work(job))) code = 3;
  } catch (const std::exception& e) {
    say(stderr, "{}\n", e.what());
    code = 4;
  }
  ::_exit(code);  // neither buffers of the parent's nor destructors
}

/// False when the system has no process or pipe to give.
bool start(std::size_t job, const std::function<std::string(std::size_t)>& work, std::vector<child>& running) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), process = ::fork();
  if (process < 0) return ::close(ends[0]), ::close(ends[1]), false;
  if (process == 0) {
    ::close(ends[0]);
    be_child(ends[1], parent, work, job);
  }
  ::close(ends[1]);
  running.push_back({job, process, ends[0], clock::now(), false, {}});
  return true;
}

/// Reads what there is; false at the end of the pipe.
bool drain(child& c) {
  char bytes[65536];
  const ssize_t n = ::read(c.pipe, bytes, sizeof bytes);
  if (n > 0) c.output.append(bytes, std::size_t(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

child_end finish(child& c, std::chrono::duration<double> timeout) {
  ::close(c.pipe);
  int how = 0;
  while (::waitpid(c.process, &how, 0) < 0 && errno == EINTR) {}
  child_end end{std::move(c.output), {}, std::chrono::duration<double>(clock::now() - c.start).count()};
  if (c.timed_out) end.failure = fmt::format("timeout after {:g} s", timeout.count());
  else if (WIFSIGNALED(how)) end.failure = fmt::format("crashed: {}", ::strsignal(WTERMSIG(how)));
  else if (WEXITSTATUS(how) != 0) end.failure = fmt::format("ended with exit status {}", WEXITSTATUS(how));
  return end;
}

void end_all(std::vector<child>& running) {
  for (child& each : running) {
    ::kill(each.process, SIGKILL);
    ::close(each.pipe);
    while (::waitpid(each.process, nullptr, 0) < 0 && errno == EINTR) {}
  }
}

/// Until the first of them has used up its time.
int wait_ms(const std::vector<child>& running, std::chrono::duration<double> timeout) {
  double least = 3600;
  for (const child& c : running)
    least = std::min(least, std::chrono::duration<double>(timeout - (clock::now() - c.start)).count());
  return std::max(0, int(least * 1000) + 1);
}

}  // namespace

void run_isolated(std::size_t count, std::size_t jobs, std::chrono::duration<double> timeout,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, child_end)>& done) {
  std::vector<child> running;
  std::size_t next = 0;
  while (next < count || !running.empty()) {
    if (interrupt::happened()) return end_all(running);
    while (next < count && running.size() < std::max<std::size_t>(jobs, 1)) {
      if (start(next, work, running)) {
        ++next;
      } else if (running.empty()) {
        const std::string words = std::strerror(errno);
        done(next++, {{}, "no process for it: " + words, 0});
      } else {
        break;  // later, when another has ended
      }
    }
    std::vector<pollfd> polls;
    for (const child& c : running) polls.push_back({c.pipe, POLLIN, 0});
    if (::poll(polls.data(), polls.size(), wait_ms(running, timeout)) < 0) continue;  // a signal
    for (std::size_t i = running.size(); i-- > 0;) {
      child& c = running[i];
      if (!c.timed_out && clock::now() - c.start > timeout) {
        c.timed_out = true;
        ::kill(c.process, SIGKILL);
      }
      if ((polls[i].revents || c.timed_out) && !drain(c)) {
        child ended = std::move(c);
        running.erase(running.begin() + std::ptrdiff_t(i));
        child_end end = finish(ended, timeout);
        done(ended.job, std::move(end));
      }
    }
  }
}

}  // namespace cameo::program
