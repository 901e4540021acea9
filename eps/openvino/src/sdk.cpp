#include "sdk.hpp"

#include "libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

/// "Exception from src/core.cpp:102:\nCheck 'false' failed at ...:\nwhat is wrong\n\n" on one line, without where in
/// the SDK's sources it was found.
std::string on_one_line(std::string_view words) {
  std::string made;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    const std::string_view line = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (line.empty() || line.substr(0, 15) == "Exception from " || line.substr(0, 7) == "Check '") continue;
    made.append(made.empty() ? "" : " ").append(line);
  }
  return made;
}

/// The SDK's libraries in a folder, that of the version that cameo was built with first.
std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> files{folder + "/" CAMEO_OPENVINO_LIBRARY};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{folder, none})
    if (entry.path().filename().string().rfind("libopenvino_c.so", 0) == 0) files.push_back(entry.path().string());
  return files;
}

/// The helper library, if it is there.
os::library load_helper() {
  std::string unused;
  return first_of(places_of("libcameo_openvino_query.so"), unused);
}

template <class Function>
bool find(const os::library& in, const char* symbol, Function& to) {
  to = in.find<std::remove_pointer_t<Function>>(symbol);
  return to != nullptr;
}

}  // namespace

status sdk::bind(const os::library& library) {
  const char* missing = nullptr;
#define CAMEO_OPENVINO_FUNCTION(name) \
  if (!find(library, "ov_" #name, name)) missing = "ov_" #name;
  CAMEO_OPENVINO_FUNCTIONS(CAMEO_OPENVINO_FUNCTION)
#undef CAMEO_OPENVINO_FUNCTION
