// Loads one model by a backend of Triton, without the server, and prints the error, if any:
//   one_model LIBRARY FOLDER CONFIGURATION       the configuration is JSON
// Compiled with -rdynamic, because the backend calls the functions that are defined here.
#include "triton/server.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>

struct TRITONSERVER_Error {
  std::string words;
};
struct TRITONSERVER_Message {
  const char* text;
};
struct TRITONBACKEND_Model {
  const char* folder;
  TRITONSERVER_Message config;
};

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code, const char* words) {
  return new TRITONSERVER_Error{words};
}
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { delete error; }
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->words.c_str(); }
TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel, const char*, int, const char*) { return nullptr; }
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* of, const char** text,
                                                        std::size_t* size) {
  *text = of->text, *size = std::strlen(of->text);
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message*) { return nullptr; }
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model*, std::uint64_t* version) {
  *version = 1;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model, TRITONBACKEND_ArtifactType*,
                                                  const char** location) {
  *location = model->folder;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, std::uint32_t, TRITONSERVER_Message** made) {
  *made = &model->config;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model*, bool* complete) {
  *complete = false;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model*, void*) { return nullptr; }

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  void* const library = dlopen(argv[1], RTLD_LAZY);
  if (!library) return std::puts(dlerror()), 2;
  using function = TRITONSERVER_Error*(TRITONBACKEND_Model*);
  auto* const initialize = reinterpret_cast<function*>(dlsym(library, "TRITONBACKEND_ModelInitialize"));
  if (!initialize) return std::puts(dlerror()), 2;
  TRITONBACKEND_Model model{argv[2], {argv[3]}};
  const TRITONSERVER_Error* const error = initialize(&model);
  if (error) std::puts(error->words.c_str());
  return error ? 1 : 0;
}
