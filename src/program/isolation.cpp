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
#include <optional>
#include <vector>

namespace cameo::program {
namespace {

using clock = std::chrono::steady_clock;

/// What jobs leave behind in their process, such as memory of the heap, goes with it after so many.
constexpr std::size_t most_jobs = 100;

struct child {
  pid_t process;
  int down, up;  // ends of pipes: numbers of jobs go down, answers come up
  std::size_t job = 0, jobs = 0;
  clock::time_point start{};  // of the job
  bool timed_out = false;
  std::string output;  // of the job, after its length, as far as it has come
};

bool write_all(int to, const void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = ::write(to, static_cast<const char*>(bytes) + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += std::size_t(n);
  }
  return true;
}

bool read_job(int from, std::size_t& job) {
  ssize_t n = 0;
  while ((n = ::read(from, &job, sizeof job)) < 0 && errno == EINTR) {}
  return n == sizeof job;
}

[[noreturn]] void be_child(int from, int to, pid_t parent, const std::function<std::string(std::size_t)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  interrupt::ignore();  // the parent is told, too, and decides
  try {
    for (std::size_t job = 0; read_job(from, job);) {
      const std::string text = work(job);
      const std::size_t length = text.size();
      if (!write_all(to, &length, sizeof length) || !write_all(to, text.data(), length)) ::_exit(3);
    }
  } catch (const std::exception& e) {
    say(stderr, "{}\n", e.what());
    ::_exit(4);
  }
  ::_exit(0);  // neither buffers of the parent's nor destructors
}

/// Without one when the system has no process or pipe to give. A child must not hold the ends of the others' pipes, or
/// they would not learn that there are no more jobs.
std::optional<child> start(const std::function<std::string(std::size_t)>& work, const std::vector<child>& others) {
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return {};
  if (::pipe2(up, O_CLOEXEC) != 0) return ::close(down[0]), ::close(down[1]), std::nullopt;
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), process = ::fork();
  if (process == 0) {
    for (const child& each : others) ::close(each.down), ::close(each.up);
    ::close(down[1]), ::close(up[0]);
    be_child(down[0], up[1], parent, work);
  }
  const int why = errno;
  ::close(down[0]), ::close(up[1]);
  if (process > 0) return child{process, down[1], up[0], 0, 0, {}, false, {}};
  ::close(down[1]), ::close(up[0]);
  errno = why;
  return {};
}

/// Reads what there is; false at the end of the pipe.
bool drain(child& c) {
  char bytes[65536];
  const ssize_t n = ::read(c.up, bytes, sizeof bytes);
  if (n > 0) c.output.append(bytes, std::size_t(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

/// What the job has returned, once all of it is there.
std::optional<std::string> answer(const child& c) {
  std::size_t length = 0;
  if (c.output.size() < sizeof length) return {};
  std::memcpy(&length, c.output.data(), sizeof length);
  if (c.output.size() - sizeof length < length) return {};
  return c.output.substr(sizeof length);
}

double seconds_of(const child& c) { return std::chrono::duration<double>(clock::now() - c.start).count(); }

void give(child& to, std::size_t job) {
  to.job = job, to.start = clock::now(), to.output.clear(), ++to.jobs;
  write_all(to.down, &job, sizeof job);  // a child that has died is found out by its pipe
}

/// A child without further jobs ends by itself.
int end_of(child& c) {
  ::close(c.down), ::close(c.up);
  int how = 0;
  while (::waitpid(c.process, &how, 0) < 0 && errno == EINTR) {}
  return how;
}

/// Of a job whose child has ended before it.
child_end failed(child& c, std::chrono::duration<double> timeout) {
  const int how = end_of(c);
  child_end end{{}, {}, seconds_of(c)};
  if (c.timed_out) end.failure = fmt::format("timeout after {:g} s", timeout.count());
  else if (WIFSIGNALED(how)) end.failure = fmt::format("crashed: {}", ::strsignal(WTERMSIG(how)));
  else end.failure = fmt::format("ended with exit status {}", WEXITSTATUS(how));
  return end;
}

void end_all(std::vector<child>& running) {
  for (child& each : running) ::kill(each.process, SIGKILL), end_of(each);
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
      if (std::optional<child> made = start(work, running)) {
        give(running.emplace_back(*std::move(made)), next++);
      } else if (running.empty()) {
        const std::string words = std::strerror(errno);
        done(next++, {{}, "no process for it: " + words, 0});
      } else {
        break;  // later, when another has ended
      }
    }
    if (running.empty()) continue;  // no process could be started, and there is nothing to wait for
    std::vector<pollfd> polls;
    for (const child& c : running) polls.push_back({c.up, POLLIN, 0});
    if (::poll(polls.data(), polls.size(), wait_ms(running, timeout)) < 0) continue;  // a signal
    for (std::size_t i = running.size(); i-- > 0;) {
      child& c = running[i];
      if (!c.timed_out && clock::now() - c.start > timeout) {
        c.timed_out = true;
        ::kill(c.process, SIGKILL);
      }
      if (!polls[i].revents && !c.timed_out) continue;
      const bool lives = drain(c);
      if (std::optional<std::string> text = answer(c); text && !c.timed_out) {
        const std::size_t job = c.job;
        child_end end{*std::move(text), {}, seconds_of(c)};
        if (next < count && c.jobs < most_jobs) give(c, next++);
        else end_of(c), running.erase(running.begin() + std::ptrdiff_t(i));
        done(job, std::move(end));
      } else if (!lives) {
        const std::size_t job = c.job;
        child_end end = failed(c, timeout);
        running.erase(running.begin() + std::ptrdiff_t(i));
        done(job, std::move(end));
      }
    }
  }
}

}  // namespace cameo::program
