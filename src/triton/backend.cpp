// The functions that Triton calls: libtriton_cameo.so exports these, and nothing else.
#include "triton/model.hpp"

#include "core/guarded.hpp"
#include "file/messages.hpp"

#include <nlohmann/json.hpp>

namespace cameo::triton {
namespace {

/// Owns a message of Triton.
class message {
 public:
  message() = default;
  message(const message&) = delete;
  message& operator=(const message&) = delete;
  ~message() {
    if (message_) TRITONSERVER_ErrorDelete(TRITONSERVER_MessageDelete(message_));
  }
  TRITONSERVER_Message** address() { return &message_; }
  TRITONSERVER_Message* get() const { return message_; }

 private:
  TRITONSERVER_Message* message_ = nullptr;
};

/// Reads the model's configuration. The output is a parameter, not a result<json>: nlohmann::json's constructor from an
/// initializer list would make an array of it.
status read_config(TRITONBACKEND_Model* model, nlohmann::json& to) {
  message config;
  const char* text = nullptr;
  std::size_t size = 0;
  if (status s = to_status(TRITONBACKEND_ModelConfig(model, 1, config.address())); !s) return s;
  if (status s = to_status(TRITONSERVER_MessageSerializeToJson(config.get(), &text, &size)); !s) return s;
  to = nlohmann::json::parse(text, text + size, nullptr, false);
  if (to.is_object()) return {};
  return {status_code::invalid_argument, "the model's configuration is not a JSON object"};
}

/// Loads a model, completes its configuration if Triton permits it, and stores it as the model's state.
status initialize(TRITONBACKEND_Model* model) {
  const char* location = nullptr;
  std::uint64_t version = 0;
  TRITONBACKEND_ArtifactType kind{};
  bool completes = false;
  if (status s = to_status(TRITONBACKEND_ModelRepository(model, &kind, &location)); !s) return s;
  if (status s = to_status(TRITONBACKEND_ModelVersion(model, &version)); !s) return s;
  if (status s = to_status(TRITONBACKEND_ModelAutoCompleteConfig(model, &completes)); !s) return s;
  nlohmann::json config;
  if (status s = read_config(model, config); !s) return s;
  result<std::unique_ptr<served_model>> loaded = served_model::load(fmt::format("{}/{}", location, version), config);
  if (!loaded) return std::move(loaded).error();
  if (completes && (*loaded)->complete(config)) {
    message completed;
    const std::string text = config.dump();
    if (status s = to_status(TRITONSERVER_MessageNewFromSerializedJson(completed.address(), text.data(), text.size()));
        !s)
      return s;
    if (status s = to_status(TRITONBACKEND_ModelSetConfig(model, 1, completed.get())); !s) return s;
  }
  (*loaded)->serve_as(config);
  if (status s = to_status(TRITONBACKEND_ModelSetState(model, loaded->get())); !s) return s;
  static_cast<void>(loaded->release());  // TRITONBACKEND_ModelFinalize() deletes it
  return {};
}

result<served_model*> model_of(TRITONBACKEND_Model* model) {
  void* state = nullptr;
  if (status s = to_status(TRITONBACKEND_ModelState(model, &state)); !s) return s;
  return static_cast<served_model*>(state);
}

}  // namespace
}  // namespace cameo::triton

#define CAMEO_TRITON_CALLS extern "C" CAMEO_EXPORT

CAMEO_TRITON_CALLS TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  std::uint32_t major = 0, minor = 0;
  if (TRITONSERVER_Error* const error = TRITONBACKEND_ApiVersion(&major, &minor)) return error;
  if (major == 1) return nullptr;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNSUPPORTED,
                               "cameo's backend is for version 1 of Triton's interface");
}

CAMEO_TRITON_CALLS TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  using namespace cameo;
  return triton::to_error(guarded([&] { return triton::initialize(model); }));
}

CAMEO_TRITON_CALLS TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  const auto state = cameo::triton::model_of(model);
  if (!state) return cameo::triton::to_error(state.error());
  delete *state;
  return nullptr;
}

CAMEO_TRITON_CALLS TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                                          TRITONBACKEND_Request** requests,
                                                                          std::uint32_t count) {
  using namespace cameo;
  TRITONBACKEND_Model* model = nullptr;
  if (TRITONSERVER_Error* const error = TRITONBACKEND_ModelInstanceModel(instance, &model)) return error;
  const auto state = triton::model_of(model);
  if (!state) return triton::to_error(state.error());
  triton::serve(instance, **state, {requests, count});
  return nullptr;
}
