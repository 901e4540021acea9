#include "../src/skeletons/strided_copy.hpp"

#include <cameo/run/task_pool.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using namespace cameo;

/// Services with only the function that a strided copy calls, on one lane.
const detail::run_services services = [] {
  detail::run_services made{};
  made.parallel = [](run_context&, std::size_t count, task f) {
    for (std::size_t i = 0; i < count; ++i) f(i, 0);
    return true;
  };
  return made;
}();
run_context alone() { return {services, nullptr, 1}; }

struct nest {
  std::vector<std::int64_t> count, from_steps, to_steps;
};

/// Copies element by element with nested loops.
template <class T>
void copy_plainly(const nest& n, const T* from, T* to, std::size_t depth = 0) {
  if (depth == n.count.size()) {
    *to = *from;
    return;
  }
  for (std::int64_t i = 0; i < n.count[depth]; ++i)
    copy_plainly(n, from + i * n.from_steps[depth], to + i * n.to_steps[depth], depth + 1);
}

template <class T>
void check_copy(const nest& n, std::int64_t from_first, std::size_t from_size, std::size_t to_size) {
  std::vector<T> from(from_size), want(to_size), got(to_size);
  for (std::size_t i = 0; i < from_size; ++i)
    std::memcpy(static_cast<void*>(&from[i]), &i, std::min(sizeof i, sizeof(T)));
  copy_plainly(n, from.data() + from_first, want.data());
  eps::strided_copy copy{sizeof(T)};
  for (std::size_t i = 0; i < n.count.size(); ++i) copy.loop(n.count[i], n.from_steps[i], n.to_steps[i]);
  run_context c = alone();
  copy.run(c, from.data() + from_first, got.data());
  CHECK(std::memcmp(got.data(), want.data(), to_size * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE("a strided copy of any permutation, with repeats and backward steps, moves what the plain loops move") {
  std::mt19937 random{7};
  for (int round = 0; round < 300; ++round) {
    const std::size_t rank = random() % 5;
    std::vector<std::size_t> order(rank);
    std::vector<std::int64_t> sizes(rank);
    for (std::size_t i = 0; i < rank; ++i) order[i] = i, sizes[i] = 1 + std::int64_t(random() % (rank < 3 ? 150 : 9));
    std::shuffle(order.begin(), order.end(), random);
    nest n;
    std::int64_t from_size = 1, to_size = 1, from_first = 0;
    n.count = sizes;
    n.from_steps.resize(rank), n.to_steps.resize(rank);
    for (std::size_t i = rank; i-- > 0; to_size *= sizes[i]) n.to_steps[i] = to_size;
    for (std::size_t i : order) {
      if (random() % 6 == 0) continue;  // a step of 0 repeats elements
      n.from_steps[i] = from_size;
      if (random() % 6 == 0) from_first += from_size * (sizes[i] - 1), n.from_steps[i] = -from_size;
      from_size *= sizes[i];
    }
    check_copy<char>(n, from_first, std::size_t(from_size), std::size_t(to_size));
    check_copy<std::int16_t>(n, from_first, std::size_t(from_size), std::size_t(to_size));
    check_copy<float>(n, from_first, std::size_t(from_size), std::size_t(to_size));
    check_copy<std::int64_t>(n, from_first, std::size_t(from_size), std::size_t(to_size));
    check_copy<std::string_view>(n, from_first, std::size_t(from_size), std::size_t(to_size));
  }
}

TEST_CASE("a loop without iterations copies nothing, whatever the other loops are") {
  eps::strided_copy copy{4};
  copy.loop(3, 1, 1);
  copy.loop(0, 5, 5);
  copy.loop(std::int64_t{1} << 62, std::int64_t{1} << 62, 1);
  run_context c = alone();
  copy.run(c, nullptr, nullptr);
}

TEST_CASE("planes of bytes become pixels of 3 and 4, for any number of pixels and any part of them") {
  for (const std::int64_t planes : {3, 4})
    for (const std::int64_t pixels : {1, 15, 16, 64, 65, 127, 1024, 5000}) {
      CAPTURE(planes);
      CAPTURE(pixels);
      const auto all = std::size_t(planes * pixels);
      check_copy<std::uint8_t>({{pixels, planes}, {1, pixels}, {planes, 1}}, 0, all, all);
      const nest two{{2, pixels, planes}, {planes * pixels, 1, pixels}, {planes * pixels, planes, 1}};
      check_copy<std::uint8_t>(two, 0, 2 * all, 2 * all);
    }
}
