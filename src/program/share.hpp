#pragma once
#include "program/options.hpp"

#include <cameo/session/compile.hpp>

namespace cameo::program {

/// Compiled models that share one context: each beside its source as "<stem>_ctx.onnx", and the context beside the
/// first.
struct share_request {
  std::vector<std::string> models;     // in the order in which they are compiled
  std::vector<std::string> providers;  // short or long names, by priority; at least one
  std::vector<std::pair<std::string, std::string>> provider_options;
  session_options session;  // its providers are not used
  bool force = false;       // replaces what exists
};
struct share_report {
  std::vector<compile_report> models;
};

/// All models and their context, or, when one fails, what was there before.
result<share_report> share(const share_request&);

/// "k|v k|v" in parts. INVALID_ARGUMENT for what has no '|', or a key twice.
result<std::vector<std::pair<std::string, std::string>>> read_pairs(std::string_view);
/// "a.onnx,b.onnx" in parts.
std::vector<std::string> read_list(std::string_view);

/// The program ep_weight_sharing_ctx_gen: ONNX Runtime's options, and its exit status (0, 1 or 255).
int run_weight_sharing(int argc, char** argv);

}  // namespace cameo::program
