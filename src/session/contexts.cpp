// Compiled models: read ones run again, and new ones are written, while a model is loaded or instead.
#include <cameo/context/compatibility.hpp>
#include <cameo/file/atomic_file.hpp>

#include "context/output_path.hpp"
#include "session/session_impl.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace cameo::inline CAMEO_ABI {
namespace {

constexpr std::size_t buffered = std::size_t{64} << 10;  // what a function that takes a model gets at a time

/// Collects small pieces; a large one goes on in parts.
class buffer {
 public:
  explicit buffer(const std::function<status(std::span<const std::byte>)>& to) : to_{to} {}
  status take(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t room = std::min(buffered - held_.size(), bytes.size());
      held_.insert(held_.end(), bytes.begin(), bytes.begin() + std::ptrdiff_t(room));
      bytes = bytes.subspan(room);
      if (held_.size() == buffered)
        if (status s = flush(); !s) return s;
    }
    return {};
  }
  status flush() {
    if (held_.empty()) return {};
    status done = to_(held_);
    held_.clear();
    return done;
  }

 private:
  const std::function<status(std::span<const std::byte>)>& to_;
  std::vector<std::byte> held_;
};

std::string real_folder_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? std::string{} : real.parent_path().string();
}

}  // namespace

/// Whether a compiled model is to be written, and where; known, and checked, before anybody compiles.
status session::impl::choose_output() {
  std::vector<std::string> warnings;
  if (status s = require_fit(*net, providers, config.is_on("session.fail_on_suboptimal_compiled_model"), warnings); !s)
    return s;
  for (const std::string& words : warnings)
    if (logs(log_level::warning)) options.log(log_level::warning, words);
  if (!compile_only && !config.is_on("ep.context_enable")) return {};
  compilation it;
  const auto* const wanted = compile_only ? std::get_if<std::string>(&compile_only->output) : nullptr;
  const bool to_file = !compile_only || wanted || compile_only->output.index() == 0;
  if (to_file) {
    if (compile_only && !wanted && net->path.empty())
      return {status_code::fail, "the model came from memory, and no output was set for what is compiled of it"};
    if (wanted && wanted->empty()) return {status_code::invalid_argument, "the output's path is empty"};
    result<std::string> path =
        compiled_model_path(wanted ? std::string_view{*wanted} : config["ep.context_file_path"], net->path);
    if (!path) return std::move(path.error());
    it.path = std::move(*path);
    std::error_code error;
    if (std::filesystem::exists(it.path, error) && (!compile_only || compile_only->fail_if_output_exists))
      return {status_code::fail, fmt::format("{}: exists already; remove it, or choose another place", it.path)};
    it.output = it.path;
  } else {
    it.output = compile_only->output;
  }
  const std::string_view external = compile_only ? std::string_view{compile_only->external_initializers}
                                                 : config["ep.context_model_external_initializers_file_name"];
  if (external.starts_with('/'))
    return {status_code::fail, fmt::format("'{}': the file of initializers lies beside the compiled model; its name "
                                           "is relative to that",
                                           external)};
  it.weights = {std::string{external}, compile_only ? compile_only->external_threshold : 0};
  it.fail_if_nothing = compile_only && compile_only->fail_if_nothing_compiled;
  it.always = compile_only != nullptr;
  context_output& contexts = it.contexts;
  contexts.embed = compile_only ? compile_only->embed || config.is_on("ep.context_embed_mode")
                                : config.is_on("ep.context_embed_mode");
  contexts.write = options.write_context;
  contexts.folder = folder_of(it.path), contexts.stem = stem_of(it.path);
  if (!compile_only && config["ep.context_file_path"].empty()) contexts.stem = stem_of(net->path);
  if (compile_only && (!compile_only->binary_folder.empty() || !compile_only->binary_model.empty())) {
    const std::string& folder = compile_only->binary_folder;
    if (folder.empty() || compile_only->binary_model.empty() || !folder.ends_with('/'))
      return {status_code::invalid_argument,
              fmt::format("compile_options::binary_folder '{}' and binary_model '{}': both are needed, and the folder "
                          "ends with '/'",
                          folder, compile_only->binary_model)};
    contexts.folder = folder, contexts.stem = stem_of(compile_only->binary_model);
  }
  if (config.is_on("ep.share_ep_contexts")) {
    contexts.shared = workspace.get();
    contexts.is_last = config.is_on("ep.stop_share_ep_contexts");
  }
  to_write = std::move(it);
  return {};
}

/// Before anybody compiles: what can't be kept need not be made.
status session::impl::require_storing() const {
  if (!to_write) return {};
  for (const fused_node& f : fused) {
    const provider_row& row = *providers[f.provider].row;
    if (!f.body)
      return {status_code::invalid_graph,
              fmt::format("node '{}' was compiled for {} already; compile the model that it was made from", f.name,
                          row.long_name)};
    if (row.contexts.sources.empty())
      return {status_code::not_implemented,
              fmt::format("{} compiles '{}', and keeps no contexts: there is no compiled model with it", row.long_name,
                          f.name)};
  }
  return {};
}

/// The programs of a provider's nodes that were compiled already.
status session::impl::restore(std::size_t p) {
  std::vector<node_view> nodes;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < fused.size(); ++i)
    if (fused[i].provider == p && !fused[i].body) nodes.push_back({*fused[i].in, fused[i].node}), numbers.push_back(i);
  if (nodes.empty()) return {};
  context_folder where;
  where.read = options.read_context;
  const std::string wanted{config["ep.context_file_path"]};
  if (!wanted.empty()) {
    where.folder = folder_of(wanted);
  } else if (const std::string_view other = config["session.model_external_initializers_file_folder_path"];
             !other.empty()) {
    where.folder = other;
  } else {
    where.folder = folder_of(net->path);
    if (!net->path.empty()) where.also = real_folder_of(net->path);
  }
  where.known = !wanted.empty() || !net->path.empty() || !where.folder.empty();
  result<std::vector<compiled_node>> made =
      restore_contexts(providers[p], nodes, where, config.is_on("ep.share_ep_contexts") ? workspace.get() : nullptr);
  if (!made) return std::move(made.error());
  for (std::size_t i = 0; i < numbers.size(); ++i) programs[numbers[i]] = std::move((*made)[i]);
  return {};
}

status session::impl::write_compiled() {
  if (!to_write) return {};
  compilation& it = *to_write;
  const bool any = !fused.empty();
  if (!any && it.fail_if_nothing) return {status_code::fail, "no provider compiled anything of the model"};
  if (!any && !it.always) {
    if (logs(log_level::warning))
      options.log(log_level::warning, "no provider compiled anything of the model: no compiled model is written");
    return {};
  }
  result<std::unique_ptr<compiled_model>> compiled =
      compiled_model::make(*net, fused, programs, providers, it.contexts);
  if (!compiled) return std::move(compiled.error());
  const format_row& to = it.path.empty() ? formats.back() : *format_of({}, it.path);
  const std::string& folder = it.contexts.folder;
  status done;
  if (std::holds_alternative<std::string>(it.output)) {
    done = to.write_file(*net, it.path, it.weights);
  } else if (auto* const bytes = std::get_if<std::string*>(&it.output)) {
    (*bytes)->clear();
    const auto append = [&](std::span<const std::byte> piece) -> status {
      (*bytes)->append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return {};
    };
    done = to.write_to(*net, append, folder, it.weights);
  } else {
    buffer all{std::get<std::function<status(std::span<const std::byte>)>>(it.output)};
    done = to.write_to(
        *net, [&](std::span<const std::byte> piece) { return all.take(piece); }, folder, it.weights);
    if (done) done = all.flush();
  }
  if (!done) (*compiled)->discard_files();
  it.compiled_nodes = (*compiled)->node_count();
  return done;
}

result<std::optional<std::string>> session::compatibility(const session_parts& parts, const std::string& path,
                                                          std::string_view provider) {
  const auto file = file_bytes::map(path);
  if (!file) return status{file.error()};
  return compatibility(parts, (*file)->bytes(), provider);
}

result<std::optional<std::string>> session::compatibility(const session_parts& parts, std::span<const std::byte> bytes,
                                                          std::string_view provider) {
  impl it;
  it.formats = parts.formats;
  const result<std::unique_ptr<model>> net = it.format_of(bytes, {})->read_bytes(bytes, "model", {});
  if (!net) return std::optional<std::string>{};
  return compatibility_of(**net, provider);
}

result<compiled_fit> session::fit(const session_parts& parts, std::span<const std::string_view> names,
                                  std::string_view written) {
  const provider* found = nullptr;
  for (std::string_view name : names) {
    const auto at = std::find_if(parts.providers.begin(), parts.providers.end(),
                                 [&](const provider& p) { return p.row->name == name || p.row->long_name == name; });
    if (at == parts.providers.end())
      return status{status_code::invalid_argument, fmt::format("there is no provider '{}' in this runtime", name)};
    if (found && found != &*at)
      return status{status_code::invalid_argument, fmt::format("{} and {} are different providers; ask one at a time",
                                                               found->row->long_name, at->row->long_name)};
    found = &*at;
  }
  if (!found) return status{status_code::invalid_argument, "no provider was named"};
  return fit_of(*found, written);
}

}  // namespace cameo::inline CAMEO_ABI
