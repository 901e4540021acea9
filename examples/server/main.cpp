// A server in one process: requests wait in a queue, and each of several workers takes the next request and runs it on
// the worker's thread. Every request has a deadline, which includes the time in the queue. All workers use one session,
// each with a separate binding, so that cameo allocates nothing for a request. Usage: example_server FOLDER
// (examples/digits)
//
//     answered 360, right 357, late 8
//
// The exit status is 0 if requests with enough time were answered, and the others failed with DEADLINE_EXCEEDED.
#include "../digits/npy.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/session/threads.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;
using runtime = cameo::runtime<cameo::eps::cpu>;

struct request {
  std::span<const float> image;
  clock_type::time_point deadline;
  std::promise<cameo::result<int>> answer;
};

class server {
 public:
  server(const cameo::session& model, std::size_t workers) : model_{model} {
    for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~server() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    arrived_.notify_all();
  }
  std::future<cameo::result<int>> submit(std::span<const float> image, clock_type::time_point deadline) {
    request made{image, deadline, {}};
    auto answer = made.answer.get_future();
    {
      const std::lock_guard lock{mutex_};
      queue_.push_back(std::move(made));
    }
    arrived_.notify_one();
    return answer;
  }

 private:
  void work() {
    auto binding = model_.bind();
    for (;;) {
      std::unique_lock lock{mutex_};
      arrived_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty()) return;
      request next = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      next.answer.set_value(binding ? answer(*binding, next) : binding.error());
    }
  }
  cameo::result<int> answer(cameo::io_binding& binding, const request& r) const {
    if (cameo::status s = binding.bind_input("image", r.image); !s) return s;
    if (cameo::status s = model_.run(binding, {.timeout = r.deadline - clock_type::now()}); !s) return s;
    auto logits = binding.get<float>("logits");
    if (!logits) return logits.error();
    return int(std::ranges::max_element(*logits) - logits->begin());
  }

  const cameo::session& model_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<request> queue_;
  bool closed_ = false;
  std::vector<std::jthread> threads_;  // last member: threads are joined before the other members are destroyed
};

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const auto images = digits::read_npy<float>(folder / "test_images.npy", "<f4");
  const auto labels = digits::read_npy<std::int64_t>(folder / "test_labels.npy", "<i8");
  cameo::session_options options;
  options.threads = 1;  // gives more requests per second than all threads on each request
  auto session = runtime{}.load(folder / "digits.onnx", options);
  if (!session) return cameo::report(session.error());

  server reader{*session, cameo::available_threads()};
  std::vector<std::future<cameo::result<int>>> answers, hopeless;
  const auto image = [&](std::size_t i) { return std::span{images.elements}.subspan(64 * i, 64); };
  for (std::size_t i = 0; i < labels.elements.size(); ++i)
    answers.push_back(reader.submit(image(i), clock_type::now() + std::chrono::minutes{1}));
  for (std::size_t i = 0; i < 8; ++i) hopeless.push_back(reader.submit(image(i), clock_type::now()));

  std::size_t answered = 0, right = 0, late = 0;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (const auto answer = answers[i].get()) ++answered, right += *answer == labels.elements[i];
  for (auto& each : hopeless) late += each.get().error().code() == cameo::status_code::deadline_exceeded;
  std::printf("answered %zu, right %zu, late %zu\n", answered, right, late);
  return answered == labels.elements.size() && 100 * right >= 96 * answered && late == 8 ? 0 : 1;
}
