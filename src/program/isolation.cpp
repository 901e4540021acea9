#include "program/isolation.hpp"

#include "os/files.hpp"
#include "os/workers.hpp"
#include "program/interrupt.hpp"
#include "program/say.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

namespace cameo::program {
namespace {

using clock = std::chrono::steady_clock;

/// A child does at most this many jobs, since they may leave memory and other resources behind in their process.
constexpr std::size_t most_jobs = 100;

struct child {
  os::worker process;  // reads indexes of jobs, writes their results
  std::size_t job = 0, jobs = 0;
  clock::time_point start{};  // start of the current job
  bool timed_out = false;
  std::string output = {};  // what was received so far: the length of the current job's result, then the result
};

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span{&object, 1});
}

/// Reads the index of the next job; false at the end of the pipe.
bool read_job(const os::handle& from, std::size_t& job) {
  return os::read(from, std::as_writable_bytes(std::span{&job, 1})).value_or(0u) == sizeof job;
}

/// The main loop of a child process. Returns its exit status: 0, 3 if the pipe broke, 4 after an exception.
int do_jobs(const os::handle& from, const os::handle& to, const std::function<std::string(std::size_t)>& work) {
  interrupt::ignore();  // a terminal signals the parent, too, which ends its children
  try {
    for (std::size_t job = 0; read_job(from, job);) {
      const std::string text = work(job);
      if (!os::write(to, bytes_of(text.size())) || !os::write(to, std::as_bytes(std::span{text}))) return 3;
    }
  } catch (const std::exception& e) {
    say(stderr, "{}\n", e.what());
    return 4;
  }
  return 0;
}

std::vector<const os::worker*> processes_of(const std::vector<child>& all) {
  std::vector<const os::worker*> made;
  for (const child& each : all) made.push_back(&each.process);
  return made;
}

/// Appends the available output of a child to child::output; false at the end of the pipe.
bool drain(child& c) {
  char bytes[65536];
  const std::size_t n = os::read(c.process.output(), std::as_writable_bytes(std::span{bytes})).value_or(0u);
  c.output.append(bytes, n);
  return n > 0;
}

/// The result of the current job; nullopt until it was received completely.
std::optional<std::string> answer(const child& c) {
  std::size_t length = 0;
  if (c.output.size() < sizeof length) return {};
  std::memcpy(&length, c.output.data(), sizeof length);
  if (c.output.size() - sizeof length < length) return {};
  return c.output.substr(sizeof length);
}

double seconds_of(const child& c) { return std::chrono::duration<double>(clock::now() - c.start).count(); }

void send_job(child& to, std::size_t job) {
  to.job = job, to.start = clock::now(), to.output.clear(), ++to.jobs;
  // Errors are ignored: if the child has died, reading from its pipe will show it.
  static_cast<void>(os::write(to.process.input(), bytes_of(job)));
}

/// Waits for a child that ended before its job did, and returns why.
child_end failed(child& c, std::chrono::duration<double> timeout) {
  const os::process_end how = c.process.wait();
  child_end end{{}, {}, seconds_of(c)};
  if (c.timed_out) end.failure = fmt::format("timeout after {:g} s", timeout.count());
  else if (!how.signal.empty()) end.failure = fmt::format("crashed: {}", how.signal);
  else end.failure = fmt::format("ended with exit status {}", how.exit_status);
  return end;
}

void end_all(std::vector<child>& running) {
  for (child& each : running) each.process.kill(), each.process.wait();
}

/// The time until the first of the children reaches its timeout.
std::chrono::milliseconds wait_for(const std::vector<child>& running, std::chrono::duration<double> timeout) {
  double least = 3600;
  for (const child& c : running)
    least = std::min(least, std::chrono::duration<double>(timeout - (clock::now() - c.start)).count());
  return std::chrono::milliseconds{std::max(0, int(least * 1000) + 1)};
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
      const auto begin = [&](const os::handle& from, const os::handle& to) { return do_jobs(from, to, work); };
      result<os::worker> made = os::worker::start(begin, processes_of(running));
      if (made) {
        send_job(running.emplace_back(child{*std::move(made)}), next++);
      } else if (running.empty()) {
        done(next++, {{}, fmt::format("no process for it: {}", made.error().words()), 0});
      } else {
        break;  // tried again when another child has ended
      }
    }
    if (running.empty()) continue;  // no process could be started, and there is nothing to wait for
    const std::vector<bool> ready = os::wait_for_any(processes_of(running), wait_for(running, timeout));
    if (ready.empty()) continue;  // a signal
    for (std::size_t i = running.size(); i-- > 0;) {
      child& c = running[i];
      if (!c.timed_out && clock::now() - c.start > timeout) {
        c.timed_out = true;
        c.process.kill();
      }
      if (!ready[i] && !c.timed_out) continue;
      const bool lives = drain(c);
      if (std::optional<std::string> text = answer(c); text && !c.timed_out) {
        const std::size_t job = c.job;
        child_end end{*std::move(text), {}, seconds_of(c)};
        if (next < count && c.jobs < most_jobs) send_job(c, next++);
        else c.process.wait(), running.erase(running.begin() + std::ptrdiff_t(i));
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
