// The quickstart: a small network reads handwritten digits that were not used for training (train.py made both).
// Usage: example_digits FOLDER      with digits.onnx, test_images.npy and test_labels.npy
#include "npy.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/plan/plan.hpp>
#include <cameo/run/runner.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

namespace {

using runtime = cameo::runtime<cameo::eps::cpu>;  // in order of priority; no other provider is linked

constexpr std::int64_t side = 8, pixels = side * side;

/// The most probable digit for image i.
int predicted(const cameo::any_value& probabilities, std::int64_t i) {
  const auto row = probabilities.as_unchecked<float>().span().subspan(std::size_t(10 * i), 10);
  return int(std::max_element(row.begin(), row.end()) - row.begin());
}

/// Prints images next to each other, two characters per pixel, with the prediction and the label below each.
void show(const digits::npy<float>& images, const digits::npy<std::int64_t>& labels,
          const cameo::any_value& probabilities, std::span<const std::int64_t> which) {
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t i : which) {
      for (std::int64_t x = 0; x < side; ++x) {
        const float ink = images.elements[std::size_t(i * pixels + y * side + x)];
        const char c = " .:-=+*#%@"[std::clamp(int(ink * 9.99f), 0, 9)];
        std::printf("%c%c", c, c);
      }
      std::printf("  ");
    }
    std::printf("\n");
  }
  for (std::int64_t i : which) {
    const int digit = predicted(probabilities, i);
    const double sure = 100 * double(probabilities.as_unchecked<float>()[10 * i + digit]);
    std::printf("%d (%5.1f %%), truth %d  ", digit, sure, int(labels.elements[std::size_t(i)]));
  }
  std::printf("\n\n");
}

std::int64_t nanoseconds() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1}; }

/// Measures the time of each node in a run.
class stopwatch {
 public:
  cameo::step_observer observer() {
    return {this, nanoseconds,
            [](void* self, const cameo::plan_step& step, std::int64_t start, std::int64_t end, std::size_t,
               const cameo::value*) {
              static_cast<stopwatch*>(self)->taken_[std::string{step.name}] += double(end - start) / 1000;
            }};
  }
  double microseconds(const std::string& node) const {
    const auto found = taken_.find(node);
    return found == taken_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> taken_;
};

/// Prints the provider of each node, and its time in a run of all images.
void show_nodes(const cameo::session& session, const stopwatch& watch, double total, std::int64_t images) {
  std::printf("%-22s %-14s %-10s %10s\n", "node", "operator", "provider", "time");
  for (const cameo::placement_info& node : session.placements())
    std::printf("%-22s %-14s %-10s %7.0f us\n", node.node.c_str(), node.op_type.c_str(), node.provider.c_str(),
                watch.microseconds(node.node));
  std::printf("%-48s %7.0f us for %d images, %.1f us each, %d threads\n", "whole run", total, int(images),
              total / double(images), int(session.thread_count()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const auto images = digits::read_npy<float>(folder / "test_images.npy", "<f4");
  const auto labels = digits::read_npy<std::int64_t>(folder / "test_labels.npy", "<i8");
  const auto count = std::int64_t(labels.elements.size());
  if (count == 0 || images.shape != std::vector<std::int64_t>{count, 1, side, side}) {
    std::fprintf(stderr, "no test images with labels in %s\n", folder.c_str());
    return 1;
  }

  auto session = runtime{}.load((folder / "digits.onnx").string());
  if (!session) return cameo::report(session.error());

  const auto batch = cameo::value::tensor<float>({count, 1, side, side}, images.elements);
  auto outputs = session->run({{"image", batch}});  // the first run plans for this shape
  if (!outputs) return cameo::report(outputs.error());
  stopwatch watch;
  const cameo::step_observer observer = watch.observer();
  const std::int64_t start = nanoseconds();
  outputs = session->run({{"image", batch}}, {.observer = &observer});
  const double total = double(nanoseconds() - start) / 1000;
  if (!outputs) return cameo::report(outputs.error());

  const cameo::any_value& probabilities = *outputs->find("probabilities");
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < count; ++i)
    if (predicted(probabilities, i) != labels.elements[std::size_t(i)]) wrong.push_back(i);

  std::printf("Handwritten digits, read for the first time:\n\n");
  const std::int64_t first[] = {0, 1, 2, 3, 4, 5};
  show(images, labels, probabilities, std::span{first}.first(std::size_t(std::min<std::int64_t>(count, 6))));
  if (!wrong.empty()) {
    std::printf("Misread:\n\n");
    show(images, labels, probabilities, std::span{wrong}.first(std::min<std::size_t>(wrong.size(), 6)));
  }
  const auto right = count - std::int64_t(wrong.size());
  std::printf("%d of %d images right: %.1f %%\n\n", int(right), int(count), 100 * double(right) / double(count));
  show_nodes(*session, watch, total, count);
  return 100 * right >= 96 * count ? 0 : 1;
}
