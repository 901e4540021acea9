// Gets ONNX Runtime's function tables for a plugin.
#include "ort_plugin_export/host.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <charconv>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

/// N of "1.N.P"; 0 for any other text.
std::uint32_t minor_of(std::string_view version) {
  std::uint32_t number = 0;
  if (!version.starts_with("1.")) return 0;
  const char* const last = version.data() + version.size();
  const auto [end, error] = std::from_chars(version.data() + 2, last, number);
  return error == std::errc{} && (end == last || *end == '.' || *end == '-' || *end == '+') ? number : 0;
}

}  // namespace

result<host> host::make(const ort_api_base& base) {
  const char* const version = base.GetVersionString ? base.GetVersionString() : nullptr;
  const std::string_view words = version ? version : "";
  const std::uint32_t found = minor_of(words);
  if (found < oldest_version)
    return failed(status_code::not_implemented,
                  "plugins of cameo's providers need ONNX Runtime 1.{} or newer, and this is '{}'", oldest_version,
                  words);
  host made;
  made.version_ = std::min(found, newest_version);
  made.api_ = base.GetApi ? base.GetApi(made.version_) : nullptr;
  if (made.api_) made.ep_api_ = made.call<api::GetEpApi>();
  if (made.ep_api_) made.editor_api_ = made.call<api::GetModelEditorApi>();
  if (!made.editor_api_)
    return failed(status_code::not_implemented,
                  "ONNX Runtime {} has no interface of version {} for plugins, or was built without it", words,
                  made.version_);
  return made;
}

ort_status* ort_error(ort_table functions, const status& from) {
  if (from) return nullptr;
  return at<api::CreateStatus>(functions)(number_of(from.code()), std::string{from.words()}.c_str());
}

ort_status* host::refuse(const ort_api_base& base, const status& why) {
  const ort_table first = base.GetApi ? base.GetApi(1) : nullptr;
  return first ? ort_error(first, why) : nullptr;
}

status host::status_of(ort_status* from, std::string_view function) const {
  const char* const words = call<api::GetErrorMessage>(from);
  status made =
      failed(code_of(call<api::GetErrorCode>(from)), "ONNX Runtime's {} says: {}", function, words ? words : "");
  call<api::ReleaseStatus>(from);
  return made;
}

void host::log(const ort_logger* to, ort_severity severity, std::string_view words) const {
  std::int32_t least = 0;
  if (!to || !invoke<api::Logger_GetLoggingSeverityLevel>(to, &least) || std::int32_t(severity) < least) return;
  static_cast<void>(
      invoke<api::Logger_LogMessage>(to, std::int32_t(severity), std::string{words}.c_str(), "cameo", 0, "cameo"));
}

text_pairs host::pairs(const ort_key_values* from) const {
  const char *const *keys = nullptr, *const *values = nullptr;
  std::size_t count = 0;
  if (from) call<api::GetKeyValuePairs>(from, &keys, &values, &count);
  text_pairs made;
  for (std::size_t i = 0; i < count; ++i)
    if (keys[i] && values[i]) made.emplace_back(keys[i], values[i]);
  return made;
}

std::shared_ptr<const ort_key_values> host::pairs(const text_pairs& from) const {
  ort_key_values* made = nullptr;
  call<api::CreateKeyValuePairs>(&made);
  for (const auto& [key, value] : from) call<api::AddKeyValuePair>(made, key.c_str(), value.c_str());
  return {made, [h = *this](ort_key_values* all) { h.call<api::ReleaseKeyValuePairs>(all); }};
}

}  // namespace CAMEO_NAMESPACE::detail::ort
