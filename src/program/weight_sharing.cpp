// The program ep_weight_sharing_ctx_gen, with the options of ONNX Runtime's tool of this name.
#include <cameo/session/compile.hpp>

#include "core/config_keys.hpp"
#include "program/say.hpp"
#include "program/share.hpp"
#include "program/text.hpp"

#include <fmt/format.h>

#include <cstring>

namespace cameo::program {
namespace {

constexpr int wrong = 255;  // ONNX Runtime's tool returns -1, which becomes 255

constexpr const char* usage =
    R"(ep_weight_sharing_ctx_gen [options] MODEL1.onnx,MODEL2.onnx,...

Compiles models for a provider into one context that they share. Writes <stem>_ctx.onnx beside each model, and
<stem of the first>_<provider>.bin beside the first.

  -e NAME          the provider: qnn (default), tensorrt, openvino, vitisai, or another that this program has
  -p FILE.json     a provider from a library: not supported, providers are part of the program
  -i "K|V K|V"     options of the provider
  -C "K|V K|V"     entries of the session's configuration. ep.context_enable is 1, ep.context_embed_mode is 0, and
                   ep.context_file_path is set by the program: other values are ignored
  -v               prints messages about loading
  -h               prints this text

Exit status: 0 done; 1 for -p; 255 for wrong arguments, and when the work failed.
)";

struct arguments {
  share_request request;
  bool help = false, plugin = false;
};

int complain(std::string_view words) {
  say(stderr, "error: {}\n", words);
  return wrong;
}

/// Adds entries of -C. Those that this program sets itself are ignored with a warning.
void add_config(arguments& a, const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (const auto& [key, text] : pairs) {
    const bool is_set = (key == config_key<"ep.context_enable">.key && text != "1") ||
                        (key == config_key<"ep.context_embed_mode">.key && text != "0") ||
                        key == config_key<"ep.context_file_path">.key;
    if (is_set) say(stderr, "warning: this program sets '{}'; '{}' is ignored\n", key, text);
    else if (key != config_key<"ep.context_enable">.key) a.request.session.config.emplace_back(key, text);
  }
}

void log_to_stderr(session_options& session) {
  session.log_from = log_level::verbose;
  session.log = [](log_level, std::string_view words) { say(stderr, "{}\n", words); };
}

/// Reads a command line as getopt does: "-v", "-vh" for two options, "-e NAME" or "-eNAME" for one with a value, and
/// all other words, and all words after "--", as operands. Calls `option` for each option in order.
template <class Option>
result<std::vector<std::string>> read_operands(int argc, char** argv, std::string_view with_value,
                                               std::string_view without_value, Option&& option) {
  std::vector<std::string> operands;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--") return operands.insert(operands.end(), argv + i + 1, argv + argc), operands;
    if (word.size() < 2 || word[0] != '-') operands.emplace_back(std::exchange(word, {}));
    else word.remove_prefix(1);
    while (!word.empty()) {
      const char letter = word[0];
      word.remove_prefix(1);
      const bool has_value = with_value.find(letter) != with_value.npos;
      if (!has_value && without_value.find(letter) == without_value.npos)
        return bad(fmt::format("there is no option -{}", letter));
      if (has_value && word.empty() && ++i == argc) return bad(fmt::format("-{} needs a value", letter));
      const std::string_view value = has_value ? word.empty() ? argv[i] : std::exchange(word, {}) : std::string_view{};
      if (status s = option(letter, std::string{value}); !s) return s;
    }
  }
  return operands;
}

result<arguments> read_arguments(int argc, char** argv) {
  arguments a;
  a.request.providers = {"qnn"};
  const auto option = [&](char letter, const std::string& value) -> status {
    if (letter == 'e') a.request.providers = {value};
    if (letter == 'p') a.plugin = true;
    if (letter == 'v') log_to_stderr(a.request.session);
    if (letter == 'h') a.help = true;
    if (letter != 'i' && letter != 'C') return {};
    auto pairs = read_pairs(value);
    if (!pairs) return std::move(pairs).error().in(fmt::format("-{}", letter));
    if (letter == 'i') a.request.provider_options = std::move(*pairs);
    else add_config(a, *pairs);
    return {};
  };
  const result<std::vector<std::string>> operands = read_operands(argc, argv, "epiC", "vh", option);
  if (!operands) return operands.error();
  if (a.help || a.plugin) return a;
  if (operands->size() != 1) return bad("needs one list of models, with commas between them");
  a.request.models = read_list(operands->front());
  if (a.request.models.empty()) return bad("names no model");
  return a;
}

}  // namespace

int run_weight_sharing(int argc, char** argv) {
  const result<arguments> a = read_arguments(argc, argv);
  if (!a) {
    say(stderr, "{}", as_it_is{usage});
    return complain(a.error().words());
  }
  if (a->help) {
    say("{}", as_it_is{usage});
    return 0;
  }
  if (a->plugin) {
    complain("-p: providers are types that this program was built with; none can be loaded from a library");
    return 1;
  }
  const result<share_report> done = share(a->request);
  if (!done) {
    fail(done.error());
    return wrong;
  }
  for (const compile_report& each : done->models) say("{}: compiled nodes: {}\n", each.path, each.compiled_nodes);
  return 0;
}

}  // namespace cameo::program
