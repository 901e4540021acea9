#include "triton/model.hpp"

#include "build/runtime.hpp"
#include "file/messages.hpp"
#include "session/option_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace cameo::triton {
namespace {

using nlohmann::json;

constexpr type_row types[] = {
    {0, "TYPE_INVALID", dtype::undefined}, {1, "TYPE_BOOL", dtype::boolean},   {2, "TYPE_UINT8", dtype::u8},
    {3, "TYPE_UINT16", dtype::u16},        {4, "TYPE_UINT32", dtype::u32},     {5, "TYPE_UINT64", dtype::u64},
    {6, "TYPE_INT8", dtype::i8},           {7, "TYPE_INT16", dtype::i16},      {8, "TYPE_INT32", dtype::i32},
    {9, "TYPE_INT64", dtype::i64},         {10, "TYPE_FP16", dtype::f16},      {11, "TYPE_FP32", dtype::f32},
    {12, "TYPE_FP64", dtype::f64},         {13, "TYPE_STRING", dtype::string}, {14, "TYPE_BF16", dtype::bf16},
};

/// The text of a parameter: {"parameters": {"threads": {"string_value": "2"}}}.
std::string text_of(const json& parameter) {
  const auto text = parameter.find("string_value");
  return text != parameter.end() && text->is_string() ? text->get<std::string>() : std::string{};
}

/// One parameter of the configuration: the deadline of a run, an option of the session or a session key.
status apply(const std::string& name, const std::string& text, session_options& to,
             std::optional<detail::duration>& timeout) {
  if (name != "timeout_ms") return set_option(to, name, text);
  std::size_t milliseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error != std::errc{} || end != text.data() + text.size())
    return failed(status_code::invalid_argument, "timeout_ms: needs a number from 0, not '{}'", text);
  timeout =
      detail::duration::from_nanoseconds(std::int64_t(std::min<std::size_t>(milliseconds, 1'000'000'000)) * 1'000'000);
  return {};
}

/// The path of the model: the file that the configuration names, or the first of these names that exists.
std::string model_in(const std::string& folder, const json& config) {
  const std::string named = config.value("default_model_filename", std::string{});
  if (!named.empty()) return folder + "/" + named;
  for (const char* name : {"model.onnx", "model.ort", "model"})
    if (std::error_code error; std::filesystem::exists(folder + "/" + name, error)) return folder + "/" + name;
  return folder + "/model.onnx";
}

}  // namespace

const type_row& type_of(dtype type) {
  const auto* const row = std::find_if(std::begin(types), std::end(types), [&](auto& each) { return each.id == type; });
  return row == std::end(types) ? types[0] : *row;
}
dtype dtype_of_number(TRITONSERVER_DataType number) {
  return number >= 0 && std::size_t(number) < std::size(types) ? types[number].id : dtype::undefined;
}

result<std::unique_ptr<served_model>> served_model::load(const std::string& folder, const json& config) {
  auto made = std::make_unique<served_model>();
  session_options options;
  options.log_from = log_level::warning;
  options.log = [](log_level severity, std::string_view words) {
    constexpr TRITONSERVER_LogLevel levels[] = {TRITONSERVER_LOG_VERBOSE, TRITONSERVER_LOG_INFO, TRITONSERVER_LOG_WARN};
    TRITONSERVER_ErrorDelete(
        TRITONSERVER_LogMessage(levels[std::size_t(severity)], "cameo", 0, std::string{words}.c_str()));
  };
  if (const auto parameters = config.find("parameters"); parameters != config.end() && parameters->is_object())
    for (const auto& [key, parameter] : parameters->items())
      if (status s = apply(key, text_of(parameter), options, made->timeout_); !s) return std::move(s).in("parameters");
  const build::runtime runtime;
  const std::string path = model_in(folder, config);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    const result<package> opened = package::open(path);
    if (!opened) return status{opened.error()};
    result<pipeline> loaded = runtime.load(*opened, options);
    if (!loaded) return std::move(loaded).error();
    made->whole_.emplace(std::move(*loaded));
    return made;
  }
  if (status s = build::choose_default_provider(options); !s) return s;
  result<session> loaded = runtime.load(path, options);
  if (!loaded) return std::move(loaded).error();
  made->one_.emplace(std::move(*loaded));
  return made;
}

void served_model::serve_as(const json& config) { batches_ = config.value("max_batch_size", 0) > 0; }

/// Whether every input and output is a tensor with an open first size and further sizes, at least one of which Triton
/// needs after that of the batch.
bool served_model::has_batches() const {
  const auto first_is_open = [](const io_info& io) {
    return io.type.is_tensor() && io.type.shape && io.type.shape->size() > 1 && !io.type.shape->front().known();
  };
  return std::ranges::all_of(inputs(), first_is_open) && std::ranges::all_of(outputs(), first_is_open);
}

bool served_model::complete(json& config) const {
  const auto lacks = [&](const char* key) { return !config.contains(key) || config[key].empty(); };
  if (!lacks("input") && !lacks("output")) return false;
  const bool batches = has_batches() && config.value("max_batch_size", 0) >= 0;
  if (batches && config.value("max_batch_size", 0) == 0 && lacks("input") && lacks("output"))
    config["max_batch_size"] = 16;
  const bool without_first = config.value("max_batch_size", 0) > 0;
  const auto described = [&](const std::vector<io_info>& all) {
    json list = json::array();
    for (const io_info& io : all) {
      json dims = json::array();
      const auto sizes = io.dims().value_or(std::vector<std::int64_t>{-1});
      for (std::size_t i = without_first ? 1 : 0; i < sizes.size(); ++i) dims.push_back(sizes[i]);
      json one{{"name", io.name}, {"data_type", type_of(io.element()).name}, {"dims", dims}};
      if (dims.empty())  // Triton's lists of dims are not empty
        one["dims"] = {1}, one["reshape"] = {{"shape", json::array()}};
      if (io.optional) one["optional"] = true;
      list.push_back(std::move(one));
    }
    return list;
  };
  if (lacks("input")) config["input"] = described(inputs());
  if (lacks("output")) config["output"] = described(outputs());
  if (without_first && !config.contains("dynamic_batching") && !config.contains("sequence_batching") &&
      !config.contains("ensemble_scheduling"))
    config["dynamic_batching"] = json::object();
  return true;
}

TRITONSERVER_Error* to_error(const status& why) {
  if (why) return nullptr;
  const auto code = [&] {
    switch (why.code()) {
      case status_code::invalid_argument: return TRITONSERVER_ERROR_INVALID_ARG;
      case status_code::no_suchfile:
      case status_code::not_found: return TRITONSERVER_ERROR_NOT_FOUND;
      case status_code::not_implemented: return TRITONSERVER_ERROR_UNSUPPORTED;
      case status_code::canceled: return TRITONSERVER_ERROR_CANCELLED;
      case status_code::deadline_exceeded:
      case status_code::out_of_memory: return TRITONSERVER_ERROR_UNAVAILABLE;
      default: return TRITONSERVER_ERROR_INTERNAL;
    }
  }();
  return TRITONSERVER_ErrorNew(code, (std::string{why.name()} + ": " + std::string{why.words()}).c_str());
}

status to_status(TRITONSERVER_Error* error) {
  if (!error) return {};
  status made{status_code::fail, TRITONSERVER_ErrorMessage(error)};
  TRITONSERVER_ErrorDelete(error);
  return made;
}

}  // namespace cameo::triton
