#include "sdk.hpp"

#include "libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

/// Converts a message of the SDK to one line, and removes the positions in the SDK's sources:
/// "Exception from src/core.cpp:102:\nCheck 'false' failed at ...:\nwhat is wrong\n\n".
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

/// The paths of the SDK's libraries in a folder. The version that cameo was built with comes first.
std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> files{folder + "/" CAMEO_OPENVINO_LIBRARY};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{folder, none})
    if (entry.path().filename().string().rfind("libopenvino_c.so", 0) == 0) files.push_back(entry.path().string());
  return files;
}

/// Loads the helper library, if it is there.
os::library load_helper() {
  std::string unused;
  return load_first(candidates_for("libcameo_openvino_query.so"), unused);
}

template <class Function>
bool find(const os::library& in, const char* symbol, Function& to) {
  to = in.find<std::remove_pointer_t<Function>>(symbol);
  return to != nullptr;
}

}  // namespace

status sdk::bind(const os::library& library) {
  const char* missing = nullptr;
#define CAMEO_OPENVINO_FUNCTION(name) missing = find(library, "ov_" #name, name) ? missing : "ov_" #name;
  CAMEO_OPENVINO_FUNCTIONS(CAMEO_OPENVINO_FUNCTION)
#undef CAMEO_OPENVINO_FUNCTION
  if (missing) return {status_code::ep_fail, fmt::format("OpenVINO's library has no '{}'", missing)};
  return {};
}

result<const sdk*> sdk::load(const std::string& folder) {
  static std::mutex guard;
  static const sdk* loaded = nullptr;
  const std::lock_guard lock{guard};
  if (loaded) return loaded;
  std::string why;
  os::library library;
  const char* const named = std::getenv("CAMEO_OPENVINO_LIBRARIES");
  const std::string place = !folder.empty() || !named ? folder : named;
  if (!place.empty()) {
    library = load_first(libraries_in(place), why);
  } else {
    // In a build folder, the search path of the helper leads to the SDK. Installing removes this search path.
    if (const void* (*code)() = nullptr; const os::library helper = load_helper())
      if (find(helper, "cameo_openvino_code", code))
        if (const std::string file = os::file_of_code(code()); !file.empty())
          library = load_first(libraries_in(folder_of(file)), why);
    if (!library) library = load_first(std::vector<std::string>{CAMEO_OPENVINO_LIBRARY, "libopenvino_c.so"}, why);
  }
  if (!library)
    return status{status_code::ep_fail,
                  fmt::format("OpenVINO's library was not found; set CAMEO_OPENVINO_LIBRARIES to the folder of {} ({})",
                              CAMEO_OPENVINO_LIBRARY, why)};
  auto made = std::make_unique<sdk>();
  if (status s = made->bind(library); !s) return s;
  // The helper needs one version of the C++ library, and must not load it beside another version.
  if (os::library::is_loaded(CAMEO_OPENVINO_CXX_LIBRARY))
    if (const os::library helper = load_helper()) find(helper, "cameo_openvino_can_run", made->query_);
  return loaded = made.release();
}

status sdk::check(ov_status_e code, std::string_view doing) const {
  if (code == ov_status_e::OK) return {};
  std::string words = on_one_line(take_text(get_last_err_msg()));
  if (words.empty())
    if (const char* const name = get_error_info(code)) words = name;
  return {status_code::ep_fail, fmt::format("OpenVINO, {}: {}", doing, words)};
}

std::string sdk::take_text(const char* text) const {
  if (!text) return {};
  std::string copy{text};
  free(text);
  return copy;
}

result<std::string> sdk::version() const {
  ov_version_t version{};
  if (status s = check(get_openvino_version(&version), "reading its version"); !s) return s;
  std::string made = version.buildNumber ? version.buildNumber : "";
  version_free(&version);
  return made;
}

result<handle<ov_core_t>> sdk::make_core() const {
  ov_core_t* core = nullptr;
  if (status s = check(core_create(&core), "starting"); !s) return s;
  return handle<ov_core_t>{core, core_free};
}

std::string sdk::property(const ov_core_t& core, const std::string& device, const char* key) const {
  char* text = nullptr;
  return core_get_property(&core, device.c_str(), key, &text) == ov_status_e::OK ? take_text(text) : std::string{};
}

status sdk::can_run(std::string_view onnx, const std::string& device, std::span<const std::int64_t> shapes) const {
  if (query_) {
    char words[512] = {};
    if (query_(onnx.data(), onnx.size(), device.c_str(), shapes.data(), shapes.size(), words, sizeof words) == 0)
      return {};
    return {status_code::not_implemented, on_one_line(words)};
  }
  result<handle<ov_core_t>> core = make_core();
  if (!core) return std::move(core).error();
  ov_model_t* model = nullptr;
  const status read = check(core_read_model_from_memory_buffer(core->get(), onnx.data(), onnx.size(), nullptr, &model),
                            "reading a graph");
  if (model) model_free(model);
  return read;
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
