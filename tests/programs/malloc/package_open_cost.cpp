// Tests that opening a package of ten thousand variants takes at most twice the processor time and twice the
// allocations of parsing its JSON. The time includes that of the system for listing ten thousand folders.
#include <cameo/package/package.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>

namespace {

std::size_t allocations = 0;

struct cost {
  std::size_t allocations = 0;
  double milliseconds = 1e9;
};

constexpr double most_times = 2;

/// Measures one call: its allocations, and the least processor time of all calls so far.
template <class Work>
void measure(cost& to, const Work& work) {
  const std::size_t before = allocations;
  const std::clock_t begin = std::clock();
  if (!work()) std::exit(2);
  to.milliseconds = std::min(to.milliseconds, double(std::clock() - begin) * 1000 / CLOCKS_PER_SEC);
  to.allocations = allocations - before;
}

}  // namespace

// These functions must not be inlined: g++ would otherwise warn that memory of operator new is released by free().
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc{};
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "cameo-package-cost-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 2;
  std::string text = R"({"schema_version": "1.0", "components": {"main": {"variants": {)";
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "variant_" + std::to_string(i);
    text += (i ? ",\"" : "\"") + name +
            R"(": {"ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "m.onnx"}}})";
    fs::create_directory(folder + "/" + name);
  }
  text += "}}}}";
  std::ofstream{folder + "/manifest.json"} << text;
  cost parsing, opening;
  // Other processes can slow down all of a few repetitions, so there are more while the time is too long.
  for (int i = 0; i < 9 || (i < 90 && opening.milliseconds > most_times * parsing.milliseconds); ++i) {
    measure(parsing, [&] { return nlohmann::json::parse(text).size() == 2; });
    measure(opening, [&] { return bool(cameo::package::open(folder)); });
  }
  fs::remove_all(folder);
  std::printf("10,000 variants: parsed in %.1f ms with %zu allocations, opened in %.1f ms (%.2f times) with %zu\n",
              parsing.milliseconds, parsing.allocations, opening.milliseconds,
              opening.milliseconds / parsing.milliseconds, opening.allocations);
  return double(opening.allocations) <= most_times * double(parsing.allocations) &&
                 opening.milliseconds <= most_times * parsing.milliseconds
             ? 0
             : 1;
}
