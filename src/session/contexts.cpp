// Writes compiled models, while a model is loaded or for runtime::compile, and reads the compatibility texts of written
// ones.
#include <cameo/context/compatibility.hpp>
#include <cameo/context/compiled_nodes.hpp>
#include <cameo/file/atomic_file.hpp>

#include "context/companions.hpp"
#include "context/output_path.hpp"
#include "file/messages.hpp"
#include "session/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t buffered = std::size_t{64} << 10;  // the size of the blocks that a caller's function receives

/// Passes bytes to a function in blocks of 64 KiB.
class buffer {
 public:
  explicit buffer(const detail::callback<status(std::span<const std::byte>)>& receiver) : receiver_{receiver} {}
  status take(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t taken = std::min(buffered - held_.size(), bytes.size());
      held_.insert(held_.end(), bytes.begin(), bytes.begin() + std::ptrdiff_t(taken));
      bytes = bytes.subspan(taken);
      if (held_.size() == buffered)
        if (status s = flush(); !s) return s;
    }
    return {};
  }
  status flush() {
    if (held_.empty()) return {};
    status done = receiver_(held_);
    held_.clear();
    return done;
  }

 private:
  const detail::callback<status(std::span<const std::byte>)>& receiver_;
  std::vector<std::byte> held_;
};

auto appending_to(std::string& bytes) {
  return [&bytes](std::span<const std::byte> piece) -> status {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
}

/// Writes the model to the caller's string or function.
status write_to_memory(compilation& it, detail::function_ref<status(byte_sink)> write) {
  if (it.output.bytes) {
    it.output.bytes->clear();
    return write(appending_to(*it.output.bytes));
  }
  buffer all{it.output.function};
  if (status s = write([&](std::span<const std::byte> piece) { return all.take(piece); }); !s) return s;
  return all.flush();
}

/// Returns FAIL if a regular file exists that must not be replaced. Writing to a device or a pipe replaces nothing.
status require_new(const std::string& path, bool must_be_new, bool may_be_allowed) {
  std::error_code error;
  if (!must_be_new || !std::filesystem::is_regular_file(path, error)) return {};
  return failed(
      status_code::fail, "{}: exists already; remove it, choose another path{}", path,
      may_be_allowed ? ", or allow that it is replaced (--force, compile_options::fail_if_output_exists)" : "");
}

/// Decides where a compiled model, its contexts and its initializers are written.
class output_choice {
 public:
  output_choice(const load_settings& how, std::span<const provider> providers, const model& net)
      : how_{how}, only_{how.compile_only}, providers_{providers}, net_{net} {}

  result<compilation> make() {
    compilation it;
    it.fail_if_nothing = only_ && only_->fail_if_nothing_compiled;
    it.always = only_ != nullptr;
    if (status s = choose_file(it); !s) return s;
    if (status s = choose_contexts(it); !s) return s;
    if (status s = choose_weights(it); !s) return s;
    return it;
  }

 private:
  status choose_file(compilation& it) const {
    const std::string* const wanted = only_ && only_->output.path ? &*only_->output.path : nullptr;
    if (only_ && only_->output.is_memory()) {
      it.output = only_->output;
      return {};
    }
    if (only_ && !wanted && net_.path.empty())
      return {status_code::fail, "the model came from memory, and no output was set for the compiled model"};
    if (wanted && wanted->empty()) return {status_code::invalid_argument, "the output's path is empty"};
    result<std::string> path = compiled_model_path(
        wanted ? std::string_view{*wanted} : how_.config[config_key<"ep.context_file_path">], net_.path);
    if (!path) return std::move(path).error();
    it.path = std::move(*path);
    if (is_source(it.path))
      return failed(status_code::invalid_argument,
                    "{}: the compiled model would replace the model that it is made from; give it another name",
                    it.path);
    it.must_be_new = !only_ || only_->fail_if_output_exists;
    it.output = it.path;
    return require_new(it.path, it.must_be_new, only_ != nullptr);
  }

  /// True if a file to be written is the model's file.
  bool is_source(const std::string& path) const {
    std::error_code error;
    return !net_.path.empty() && std::filesystem::equivalent(path, net_.path, error) && !error;
  }

  status choose_contexts(compilation& it) const {
    context_output& contexts = it.contexts;
    contexts.embed = how_.config.is_on(config_key<"ep.context_embed_mode">) || (only_ && only_->embed);
    contexts.weightless = how_.config.is_weightless();
    contexts.write = how_.options.write_context;
    if (only_) contexts.files = only_->files;
    contexts.folder = folder_of(it.path), contexts.stem = stem_of(it.path);
    const bool was_named =
        only_ ? !only_->output.is_nothing() : !how_.config[config_key<"ep.context_file_path">].empty();
    if (!was_named) contexts.stem = stem_of(net_.path);
    if (only_ && (!only_->binary_folder.empty() || !only_->binary_model.empty())) {
      const std::string& folder = only_->binary_folder;
      if (folder.empty() || only_->binary_model.empty() || !folder.ends_with('/'))
        return failed(status_code::invalid_argument,
                      "compile_options::binary_folder '{}' and binary_model '{}': both are needed, and the folder "
                      "ends with '/'",
                      folder, only_->binary_model);
      contexts.folder = folder, contexts.stem = stem_of(only_->binary_model);
    }
    if (contexts.stem.empty() && contexts.write)  // the callback needs a name, though there is no file
      contexts.stem = net_.path.empty() ? "model" : stem_of(net_.path);
    if (how_.config.is_on(config_key<"ep.share_ep_contexts">)) {
      contexts.shared = how_.workspace.get();
      contexts.is_last = how_.config.is_on(config_key<"ep.stop_share_ep_contexts">);
    }
    return {};
  }

  /// Decides where initializers outside contexts are written.
  status choose_weights(compilation& it) const {
    const std::string_view file = only_ ? std::string_view{only_->external_initializers}
                                        : how_.config[config_key<"ep.context_model_external_initializers_file_name">];
    const auto invalid = [&](std::string_view words) {
      return failed(status_code::invalid_argument, "initializers cannot be written to '{}': {}", file, words);
    };
    if (file.starts_with('/'))
      return failed(status_code::fail,
                    "'{}': the file of initializers is in the compiled model's folder; its name is relative to that",
                    file);
    if (file.find_first_of("/\\") != file.npos || file == "." || file == "..")
      return invalid("it must be the name of a file beside the compiled model");
    const auto is_taken = [&](std::string_view name) { return !file.empty() && file == name; };
    if (is_taken(it.path.substr(it.path.rfind('/') + 1))) return invalid("the compiled model itself has that name");
    if (!file.empty() && is_source(folder_of(it.path) + std::string{file}))
      return invalid("the model that is compiled has that name");
    for (const provider& p : providers_)
      if (is_taken(fmt::format("{}_{}.bin", it.contexts.stem, p.row->long_name)))
        return invalid("a context has that name");
    it.weights = {std::string{file}, 0};
    if (!only_) return {};
    it.weights.external_threshold = only_->external_threshold;
    it.weights.external_alignment = only_->external_alignment;
    if (it.weights.external_alignment & (it.weights.external_alignment - 1))
      return invalid("compile_options::external_alignment is not a power of two");
    if (only_->external_buffer && file.empty())
      return invalid("compile_options::external_buffer needs a name for its contents");
    it.weights.place = only_->place_initializer;
    if (it.weights.place && !file.empty()) return invalid("place_initializer is set, too; set one of the two");
    return {};
  }

  const load_settings& how_;
  const compile_options* only_;
  std::span<const provider> providers_;
  const model& net_;
};

/// The files that will be written beside the compiled model.
std::vector<companion> companions_of(const load_settings& how, std::span<const provider> providers,
                                     const compilation& it, const std::vector<fused_node>& fused) {
  std::vector<companion> made;
  for (std::size_t p = 0; p < providers.size() && !it.contexts.embed && !it.contexts.write; ++p) {
    const bool any = std::any_of(fused.begin(), fused.end(), [&](const fused_node& f) { return f.provider == p; });
    const std::string_view name = providers[p].row->long_name;
    if (!any || (it.contexts.shared && is_under_way(*it.contexts.shared, name))) continue;
    made.push_back({context_path_of(it.contexts, name), providers[p]});
  }
  const bool to_file = !it.weights.external_data.empty() && !(how.compile_only && how.compile_only->external_buffer);
  if (to_file) made.push_back({it.weights_folder() + it.weights.external_data});
  return made;
}

/// Returns an error if one of the files exists and belongs to another model.
status require_all_replaceable(const std::vector<companion>& all, const std::string& output,
                               std::span<const detail::format_row> formats) {
  for (const companion& each : all)
    if (status s = require_replaceable(each, output, formats); !s) return s;
  return {};
}

/// Returns INVALID_ARGUMENT unless the compiled model is to be an ONNX file.
status require_onnx(const load_settings& how, const compilation& it) {
  const result<const detail::format_row*> ort = how.format_named("ORT");
  if (it.path.empty() || !ort || &format_of(how.formats, {}, it.path) != *ort) return {};
  return failed(status_code::invalid_argument,
                "{}: a compiled model is an ONNX file, because ORT files can't contain contexts; give it a name "
                "that ends in .onnx (`cameo convert` writes ORT files, of models that are not compiled)",
                it.path);
}

/// Repeats the checks of the files at the commit, because another compiler may have written them meanwhile.
void check_at_commit(file_batch& files, const load_settings& how, const compilation& it, bool writes_model) {
  files.require([path = it.is_to_memory() ? std::string{} : it.path, must_be_new = it.must_be_new && writes_model,
                 is_allowed = how.compile_only != nullptr, companions = it.companions,
                 formats = std::vector<detail::format_row>{how.formats.begin(), how.formats.end()}]() -> status {
    if (status s = require_new(path, must_be_new, is_allowed); !s) return s;
    return require_all_replaceable(companions, path, formats);
  });
}

/// Adds the model, which has its contexts, and its external initializers to the files, or writes them to memory.
status write_model(file_batch& files, const load_settings& how, const model& net, compilation& it) {
  const std::string folder = it.weights_folder();
  if (std::string* const receiver = how.compile_only ? how.compile_only->external_buffer : nullptr) {
    receiver->clear();
    it.weights.external_to = [receiver](detail::function_ref<status(byte_sink)> produce) {
      return produce(appending_to(*receiver));
    };
  } else if (!it.weights.external_data.empty()) {
    it.weights.external_to = [&](detail::function_ref<status(byte_sink)> produce) {
      return files.add(folder + it.weights.external_data, produce);
    };
  }
  const detail::format_row& format = it.path.empty() ? how.formats.back() : format_of(how.formats, {}, it.path);
  const auto write = [&](byte_sink append) { return format.write_to(net, append, folder, it.weights); };
  return it.is_to_memory() ? write_to_memory(it, write)
         : it.must_be_new  ? files.add_new(it.path, write)
                           : files.add(it.path, write);
}

}  // namespace

std::string compilation::weights_folder() const { return is_to_memory() ? contexts.folder : folder_of(path); }

result<std::optional<compilation>> choose_output(const load_settings& how, std::span<const provider> providers,
                                                 const model& net) {
  std::vector<std::string> warnings;
  const bool must_fit = how.config.is_on(config_key<"session.fail_on_suboptimal_compiled_model">);
  if (status s = require_fit(net, providers, must_fit, warnings); !s) return s;
  for (const std::string& words : warnings) how.warn(words);
  if (!how.compile_only && !how.config.is_on(config_key<"ep.context_enable">)) return std::optional<compilation>{};
  return output_choice{how, providers, net}.make().transform(
      [](compilation&& made) { return std::optional<compilation>{std::move(made)}; });
}

status require_storing(const load_settings& how, std::span<const provider> providers, compilation& it,
                       const std::vector<fused_node>& fused, const model& net) {
  const context_output& contexts = it.contexts;
  if (status s = require_one_folder(contexts, providers); !s) return s;
  if (!fused.empty())
    if (status s = require_onnx(how, it); !s) return s;
  if (contexts.shared && contexts.embed)
    return {status_code::invalid_argument,
            "ep.share_ep_contexts needs contexts in files; ep.context_embed_mode must be 0"};
  if (!fused.empty() && !contexts.embed && contexts.stem.empty())
    return {status_code::invalid_argument,
            "contexts are to be files, but their folder is not set; embed them, or set the folder and the model's name "
            "(compile_options::binary_folder, binary_model)"};
  for (const fused_node& f : fused) {
    const provider_row& row = *providers[f.provider].row;
    if (!f.body)
      return failed(status_code::invalid_graph,
                    "node '{}' was compiled for {} already; compile the model that it was made from", f.name,
                    row.long_name);
    if (row.contexts.sources.empty())
      return failed(status_code::not_implemented,
                    "{} compiles '{}' but can't store contexts, so a compiled model can't contain it", row.long_name,
                    f.name);
    if (contexts.weightless && !row.contexts.can_be_weightless)
      return failed(status_code::not_implemented,
                    "{} compiles '{}', and its contexts always contain the constants: set ep.enable_weightless to 0",
                    row.long_name, f.name);
  }
  if (!it.is_to_memory() && !contexts.write && !how.options.read_context)
    if (status s = require_contexts_beside(net, it.path); !s) return s;
  it.companions = companions_of(how, providers, it, fused);
  return require_all_replaceable(it.companions, it.path, how.formats);
}

status write_compiled(const load_settings& how, std::span<const provider> providers, placed_nodes& placed,
                      const compiled_groups& groups, model& net, compilation& it) {
  const bool any = !placed.fused.empty();
  if (!any && it.fail_if_nothing) {
    std::string names;
    for (const provider& each : providers) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.row->name);
    return failed(status_code::fail, "no provider compiled anything of the model; the providers are {}", names);
  }
  const bool writes_model = any || it.always;
  if (!writes_model) how.warn("no provider compiled anything of the model: no compiled model is written");
  if (!writes_model && !it.contexts.shared) return {};
  result<std::unique_ptr<compiled_model>> compiled =
      compiled_model::make(net, placed.fused, groups.programs, providers, it.contexts);
  if (!compiled) return std::move(compiled).error();
  it.compiled_nodes = (*compiled)->node_count();
  file_batch& files = (*compiled)->files();
  check_at_commit(files, how, it, writes_model);
  if (writes_model)  // otherwise only the context is written, which this model completes for others
    if (status s = write_model(files, how, net, it); !s) return s;
  (*compiled)->restore();
  return it.contexts.files ? status{} : files.commit();
}

namespace {

/// The compatibility text of a model. Bytes that are not a model have none, but running out of memory is an error.
result<std::optional<std::string>> compatibility_in(const result<std::unique_ptr<model>>& net,
                                                    std::string_view provider) {
  if (net) return compatibility_of(**net, provider);
  if (net.error().code() == status_code::out_of_memory) return net.error();
  return std::optional<std::string>{};
}

}  // namespace

result<std::optional<std::string>> detail::loader::compatibility(std::string_view path,
                                                                 std::string_view provider) const {
  return guarded_hook([&]() -> result<std::optional<std::string>> {
    const std::string named{path};
    const auto file = detail::file_bytes::map(named);
    if (!file) return status{file.error()};
    read_options how;
    how.file = *file;
    const detail::format_row& format = format_of(formats, (*file)->bytes(), named);
    return compatibility_in(format.read_file(named, how), provider);
  });
}

result<std::optional<std::string>> detail::loader::compatibility(std::span<const std::byte> bytes,
                                                                 std::string_view provider) const {
  return guarded_hook(
      [&] { return compatibility_in(format_of(formats, bytes, {}).read_bytes(bytes, "model", {}), provider); });
}

result<compiled_fit> detail::loader::fit(std::span<const std::string_view> names, std::string_view written) const {
  return guarded_hook([&]() -> result<compiled_fit> {
    const provider* found = nullptr;
    for (std::string_view name : names) {
      const auto at = std::find_if(providers.begin(), providers.end(),
                                   [&](const provider& p) { return p.row->name == name || p.row->long_name == name; });
      if (at == providers.end())
        return failed(status_code::invalid_argument, "there is no provider '{}' in this runtime", name);
      if (found && found != &*at)
        return failed(status_code::invalid_argument, "{} and {} are different providers; name one at a time",
                      found->row->long_name, at->row->long_name);
      found = &*at;
    }
    if (!found) return status{status_code::invalid_argument, "no provider was named"};
    return fit_of(*found, written);
  });
}

}  // namespace CAMEO_NAMESPACE
