// examples/server written with ONNX Runtime's C++ API: the same queue, workers, deadlines and answers. A run of ONNX
// Runtime has no deadline, only a flag that another thread sets to end it, so one thread watches the deadlines of all
// runs. tests/scripts/line_counts.py counts the lines of this file, compiles it and runs it. Usage: server FOLDER
#include "../../../examples/digits/npy.hpp"

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;

struct deadline_exceeded : std::runtime_error {
  deadline_exceeded() : std::runtime_error{"the deadline is over"} {}
};

struct request {
  std::span<const float> image;
  clock_type::time_point deadline;
  std::promise<int> answer;
};

class server {
 public:
  server(Ort::Session& model, std::size_t workers) : model_{model} {
    for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~server() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    arrived_.notify_all();
  }
  std::future<int> submit(std::span<const float> image, clock_type::time_point deadline) {
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
    Ort::IoBinding binding{model_};
    Ort::RunOptions options;
    for (;;) {
      std::unique_lock lock{mutex_};
      arrived_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty()) return;
      request next = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      try {
        next.answer.set_value(answer(binding, options, next));
      } catch (...) {
        next.answer.set_exception(std::current_exception());
      }
    }
  }
  int answer(Ort::IoBinding& binding, Ort::RunOptions& options, const request& r) {
    if (clock_type::now() >= r.deadline) throw deadline_exceeded{};
    const std::int64_t shape[] = {1, 1, 8, 8};
    // CreateTensor takes a pointer to non-const elements, but a run only reads its inputs.
    const auto image =
        Ort::Value::CreateTensor<float>(memory_, const_cast<float*>(r.image.data()), r.image.size(), shape, 4);
    binding.BindInput("image", image);
    binding.BindOutput("logits", memory_);
    run(binding, options, r.deadline);
    const auto outputs = binding.GetOutputValues();
    const auto info = outputs[0].GetTensorTypeAndShapeInfo();
    if (info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) throw std::runtime_error{"logits: no float"};
    const std::span logits{outputs[0].GetTensorData<float>(), info.GetElementCount()};
    return int(std::ranges::max_element(logits) - logits.begin());
  }
  void run(Ort::IoBinding& binding, Ort::RunOptions& options, clock_type::time_point deadline) {
    options.UnsetTerminate();
    {
      const std::lock_guard lock{mutex_};
      running_.emplace(deadline, &options);
    }
    started_.notify_one();
    std::exception_ptr failure;
    try {
      model_.Run(options, binding);
    } catch (const Ort::Exception&) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock{mutex_};
      std::erase_if(running_, [&](const auto& each) { return each.second == &options; });
    }
    if (failure && clock_type::now() >= deadline) throw deadline_exceeded{};
    if (failure) std::rethrow_exception(failure);
  }
  void watch(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
      if (running_.empty()) {
        started_.wait(lock, stop, [this] { return !running_.empty(); });
      } else if (const auto first = running_.begin()->first; first > clock_type::now()) {
        started_.wait_until(lock, stop, first, [&] { return running_.empty() || running_.begin()->first != first; });
      } else {
        running_.begin()->second->SetTerminate();
        running_.erase(running_.begin());
      }
    }
  }

  Ort::Session& model_;
  const Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable_any started_;
  std::deque<request> queue_;
  std::multimap<clock_type::time_point, Ort::RunOptions*> running_;
  bool closed_ = false;
  std::jthread watcher_{[this](const std::stop_token& stop) { watch(stop); }};
  std::vector<std::jthread> threads_;  // last member: threads are joined before the other members are destroyed
};

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const auto images = digits::read_npy<float>(folder / "test_images.npy", "<f4");
  const auto labels = digits::read_npy<std::int64_t>(folder / "test_labels.npy", "<i8");
  Ort::Env env;
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  Ort::Session session{env, (folder / "digits.onnx").c_str(), options};

  server reader{session, std::thread::hardware_concurrency()};
  std::vector<std::future<int>> answers, hopeless;
  const auto image = [&](std::size_t i) { return std::span{images.elements}.subspan(64 * i, 64); };
  for (std::size_t i = 0; i < labels.elements.size(); ++i)
    answers.push_back(reader.submit(image(i), clock_type::now() + std::chrono::minutes{1}));
  for (std::size_t i = 0; i < 8; ++i) hopeless.push_back(reader.submit(image(i), clock_type::now()));

  std::size_t answered = 0, right = 0, late = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) try {
      right += answers[i].get() == labels.elements[i];
      ++answered;
    } catch (const std::exception&) {}
  for (auto& each : hopeless) try {
      each.get();
    } catch (const deadline_exceeded&) {
      ++late;
    }
  std::printf("answered %zu, right %zu, late %zu\n", answered, right, late);
  return answered == labels.elements.size() && 100 * right >= 96 * answered && late == 8 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
