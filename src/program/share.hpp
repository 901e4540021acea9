#pragma once
#include "program/options.hpp"

#include <cameo/session/compile.hpp>

namespace cameo::program {

/// A request to compile models into one context that they share. Each compiled model is written beside its source as
/// "<stem>_ctx.onnx", and the context beside the first.
struct share_request {
  std::vector<std::string> models;     // in the order in which they are compiled
  std::vector<std::string> providers;  // short or long names, in order of priority; at least one
  std::vector<std::pair<std::string, std::string>> provider_options;
  session_options session;  // session_options::providers is ignored
  bool force = false;       // replaces existing files
};
struct share_report {
  std::vector<compile_report> models;
};

/// Compiles all models and writes them and their context. If one fails, no file is written or replaced.
result<share_report> share(const share_request&);

/// Splits "key|value key|value". INVALID_ARGUMENT for a part without '|', or for a repeated key.
result<std::vector<std::pair<std::string, std::string>>> read_pairs(std::string_view);
/// Splits "a.onnx,b.onnx"; empty parts are left out.
std::vector<std::string> read_list(std::string_view);

/// The program ep_weight_sharing_ctx_gen, with the options and exit statuses (0, 1 or 255) of ONNX Runtime's tool.
int run_weight_sharing(int argc, char** argv);

}  // namespace cameo::program
