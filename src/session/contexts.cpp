// Compiled models: read ones run again, and new ones are written, while a model is loaded or instead.
#include <cameo/context/compatibility.hpp>
#include <cameo/context/compiled_nodes.hpp>
#include <cameo/file/atomic_file.hpp>

#include "context/companions.hpp"
#include "context/output_path.hpp"
#include "session/session_impl.hpp"

#include <fmt/format.h>

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

auto appending_to(std::string& bytes) {
  return [&bytes](std::span<const std::byte> piece) -> status {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
}

/// To the caller's string or function.
status write_to_memory(compilation& it, function_ref<status(model_sink)> write) {
  if (auto* const bytes = std::get_if<std::string*>(&it.output)) {
    (*bytes)->clear();
    return write(appending_to(**bytes));
  }
  buffer all{std::get<std::function<status(std::span<const std::byte>)>>(it.output)};
  if (status s = write([&](std::span<const std::byte> piece) { return all.take(piece); }); !s) return s;
  return all.flush();
}

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
  it.fail_if_nothing = compile_only && compile_only->fail_if_nothing_compiled;
  it.always = compile_only != nullptr;
  if (status s = choose_file(it); !s) return s;
  if (status s = choose_contexts(it); !s) return s;
  if (status s = choose_weights(it); !s) return s;
  to_write = std::move(it);
  return {};
}

status session::impl::choose_file(compilation& it) const {
  const auto* const wanted = compile_only ? std::get_if<std::string>(&compile_only->output) : nullptr;
  if (compile_only && !wanted && compile_only->output.index() != 0) {
    it.output = compile_only->output;
    return {};
  }
  if (compile_only && !wanted && net->path.empty())
    return {status_code::fail, "the model came from memory, and no output was set for what is compiled of it"};
  if (wanted && wanted->empty()) return {status_code::invalid_argument, "the output's path is empty"};
  result<std::string> path =
      compiled_model_path(wanted ? std::string_view{*wanted} : config["ep.context_file_path"], net->path);
  if (!path) return std::move(path).error();
  it.path = std::move(*path);
  if (is_source(it.path)) return {status_code::invalid_argument, fmt::format("{}: that is the source", it.path)};
  std::error_code error;
  const bool would_be_lost = std::filesystem::is_regular_file(it.path, error);  // a device or a pipe loses nothing
  if (would_be_lost && (!compile_only || compile_only->fail_if_output_exists))
    return {status_code::fail, fmt::format("{}: exists already; remove it, or choose another place", it.path)};
  it.output = it.path;
  return {};
}

/// Whether a file to be written is the model that is read.
bool session::impl::is_source(const std::string& path) const {
  std::error_code error;
  return !net->path.empty() && std::filesystem::equivalent(path, net->path, error) && !error;
}

status session::impl::choose_contexts(compilation& it) const {
  context_output& contexts = it.contexts;
  contexts.embed = config.is_on("ep.context_embed_mode") || (compile_only && compile_only->embed);
  contexts.write = options.write_context;
  if (compile_only) contexts.files = compile_only->files;
  contexts.folder = folder_of(it.path), contexts.stem = stem_of(it.path);
  const bool was_named = compile_only ? compile_only->output.index() != 0 : !config["ep.context_file_path"].empty();
  if (!was_named) contexts.stem = stem_of(net->path);
  if (compile_only && (!compile_only->binary_folder.empty() || !compile_only->binary_model.empty())) {
    const std::string& folder = compile_only->binary_folder;
    if (folder.empty() || compile_only->binary_model.empty() || !folder.ends_with('/'))
      return {status_code::invalid_argument,
              fmt::format("compile_options::binary_folder '{}' and binary_model '{}': both are needed, and the folder "
                          "ends with '/'",
                          folder, compile_only->binary_model)};
    contexts.folder = folder, contexts.stem = stem_of(compile_only->binary_model);
  }
  if (contexts.stem.empty() && contexts.write)  // a name for the callback, not of a file
    contexts.stem = net->path.empty() ? "model" : stem_of(net->path);
  if (config.is_on("ep.share_ep_contexts")) {
    contexts.shared = workspace.get();
    contexts.is_last = config.is_on("ep.stop_share_ep_contexts");
  }
  return {};
}

/// Where initializers go that stay outside contexts.
status session::impl::choose_weights(compilation& it) const {
  const std::string_view file = compile_only ? std::string_view{compile_only->external_initializers}
                                             : config["ep.context_model_external_initializers_file_name"];
  const auto invalid = [&](std::string_view words) {
    return status{status_code::invalid_argument, fmt::format("initializers to '{}': {}", file, words)};
  };
  if (file.starts_with('/'))
    return {status_code::fail, fmt::format("'{}': the file of initializers lies beside the compiled model; its name "
                                           "is relative to that",
                                           file)};
  if (file.find_first_of("/\\") != file.npos || file == "." || file == "..")
    return invalid("it must be the name of a file beside the compiled model");
  const auto is_taken = [&](std::string_view name) { return !file.empty() && file == name; };
  if (is_taken(it.path.substr(it.path.rfind('/') + 1))) return invalid("that is the compiled model itself");
  if (!file.empty() && is_source(folder_of(it.path) + std::string{file})) return invalid("that is the source");
  for (const provider& p : providers)
    if (is_taken(fmt::format("{}_{}.bin", it.contexts.stem, p.row->long_name))) return invalid("that is a context");
  it.weights = {std::string{file}, 0};
  if (!compile_only) return {};
  it.weights.external_threshold = compile_only->external_threshold;
  it.weights.external_alignment = compile_only->external_alignment;
  if (it.weights.external_alignment & (it.weights.external_alignment - 1))
    return invalid("compile_options::external_alignment is no power of two");
  if (compile_only->external_buffer && file.empty())
    return invalid("compile_options::external_buffer needs a name for what is in it");
  it.weights.place = compile_only->place_initializer;
  if (it.weights.place && !file.empty()) return invalid("and place_initializer; it is one or the other");
  return {};
}

std::string compilation::weights_folder() const { return is_to_memory() ? contexts.folder : folder_of(path); }

/// Before anybody compiles: what can't be kept need not be made.
status session::impl::require_storing() const {
  if (!to_write) return {};
  const compilation& it = *to_write;
  const context_output& contexts = it.contexts;
  if (status s = require_one_folder(contexts, providers); !s) return s;
  if (const auto ort = format_named("ORT"); !fused.empty() && !it.path.empty() && ort && format_of({}, it.path) == *ort)
    return {status_code::invalid_argument,
            fmt::format("{}: a compiled model is an ONNX file, which nodes with contexts are part of; give it a name "
                        "that ends in .onnx (`cameo convert` writes ORT files, of models that are not compiled)",
                        it.path)};
  if (contexts.shared && contexts.embed)
    return {status_code::invalid_argument,
            "ep.share_ep_contexts needs contexts in files; ep.context_embed_mode must be 0"};
  if (!fused.empty() && !contexts.embed && contexts.stem.empty())
    return {status_code::invalid_argument,
            "contexts are to be files, and nobody said where; embed them, or name their folder and model "
            "(compile_options::binary_folder, binary_model)"};
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
  if (!it.is_to_memory() && !contexts.write && !options.read_context)
    if (status s = require_contexts_beside(*net, it.path); !s) return s;
  return require_replaceable_files();
}

/// The files that will be written beside the compiled model: none may be another model's.
status session::impl::require_replaceable_files() const {
  const compilation& it = *to_write;
  const auto require = [&](const companion& c) { return require_replaceable(c, it.path, formats); };
  for (std::size_t p = 0; p < providers.size() && !it.contexts.embed && !it.contexts.write; ++p) {
    const bool any = std::any_of(fused.begin(), fused.end(), [&](const fused_node& f) { return f.provider == p; });
    const std::string_view name = providers[p].row->long_name;
    if (!any || (it.contexts.shared && is_under_way(*it.contexts.shared, name))) continue;
    if (status s = require({context_path_of(it.contexts, name), &providers[p]}); !s) return s;
  }
  const bool to_file = !it.weights.external_data.empty() && !(compile_only && compile_only->external_buffer);
  return to_file ? require({it.weights_folder() + it.weights.external_data}) : status{};
}

/// The programs of a provider's nodes that were compiled already.
status session::impl::restore(std::size_t p) {
  std::vector<node_view> nodes;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < fused.size(); ++i)
    if (fused[i].provider == p && !fused[i].body) nodes.push_back({*fused[i].in, fused[i].node}), numbers.push_back(i);
  if (nodes.empty()) return {};
  context_folder where;
  where.model = net->path;
  where.read = options.read_context;
  const std::string wanted{config["ep.context_file_path"]};
  if (!wanted.empty()) {
    where.path = folder_of(wanted), where.folder = places.contexts;
  } else if (const std::string_view other = config[weights_folder_key]; !other.empty()) {
    where.path = other, where.folder = places.weights;
  } else if (places.beside) {
    where.path = folder_of(net->path), where.folder = places.beside;
  } else {
    where.path = folder_of(net->path);
    if (!net->path.empty()) where.also = real_folder_of(net->path);
  }
  where.known = !wanted.empty() || !net->path.empty() || !where.path.empty();
  result<std::vector<compiled_node>> made =
      restore_contexts(providers[p], nodes, where, config.is_on("ep.share_ep_contexts") ? workspace.get() : nullptr);
  if (!made) return std::move(made).error();
  for (std::size_t i = 0; i < numbers.size(); ++i) programs[numbers[i]] = std::move((*made)[i]);
  return {};
}

status session::impl::write_compiled() {
  if (!to_write) return {};
  compilation& it = *to_write;
  const bool any = !fused.empty();
  if (!any && it.fail_if_nothing) return {status_code::fail, "no provider compiled anything of the model"};
  const bool writes_model = any || it.always;
  if (!writes_model && logs(log_level::warning))
    options.log(log_level::warning, "no provider compiled anything of the model: no compiled model is written");
  if (!writes_model && !it.contexts.shared) return {};
  result<std::unique_ptr<compiled_model>> compiled =
      compiled_model::make(*net, fused, programs, providers, it.contexts);
  if (!compiled) return std::move(compiled).error();
  it.compiled_nodes = (*compiled)->node_count();
  file_batch& files = (*compiled)->files();
  const auto finish = [&] { return it.contexts.files ? status{} : files.commit(); };
  if (!writes_model) return finish();  // of other models, whose context this one completes
  const std::string folder = it.weights_folder();
  if (compile_only && compile_only->external_buffer) {
    compile_only->external_buffer->clear();
    it.weights.external_to = [&](function_ref<status(model_sink)> produce) {
      return produce(appending_to(*compile_only->external_buffer));
    };
  } else if (!it.weights.external_data.empty()) {
    it.weights.external_to = [&](function_ref<status(model_sink)> produce) {
      return files.add(folder + it.weights.external_data, produce);
    };
  }
  const format_row& to = it.path.empty() ? formats.back() : *format_of({}, it.path);
  const auto write = [&](model_sink append) { return to.write_to(*net, append, folder, it.weights); };
  status done = it.is_to_memory() ? write_to_memory(it, write) : files.add(it.path, write);
  return done ? finish() : done;
}

result<std::optional<std::string>> session::compatibility(const session_parts& parts, const std::string& path,
                                                          std::string_view provider) {
  const auto file = file_bytes::map(path);
  if (!file) return status{file.error()};
  impl it;
  it.formats = parts.formats;
  read_options how;
  how.file = *file;
  const result<std::unique_ptr<model>> net = it.format_of((*file)->bytes(), path)->read_file(path, how);
  if (!net) return std::optional<std::string>{};
  return compatibility_of(**net, provider);
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
