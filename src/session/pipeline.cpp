#include <cameo/session/pipeline.hpp>

#include "core/guarded.hpp"
#include "session/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace CAMEO_NAMESPACE {
namespace {

using clock = std::chrono::steady_clock;

/// Splits the text of a shape with `count` dims: "batch,3" becomes "batch" and "3".
std::vector<std::string> dims_in(std::string_view text, std::size_t count) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t comma = std::min(text.find(','), text.size());
    made.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return made;
}

package_value value_of(const io_info& io) {
  package_value made{io.name, {}, {}, io.optional};
  if (io.type.kind == type_kind::unknown) return made;
  const std::size_t open = io.type.is_tensor() && io.type.shape ? io.type_text.find('[') : io.type_text.npos;
  made.type = io.type_text.substr(0, open);
  if (open != io.type_text.npos)
    made.shape =
        dims_in(std::string_view{io.type_text}.substr(open + 1, io.type_text.size() - open - 2), io.type.shape->size());
  return made;
}

package_io interface_of(const std::vector<io_info>& inputs, const std::vector<io_info>& outputs) {
  package_io made;
  for (const io_info& each : inputs) made.inputs.push_back(value_of(each));
  for (const io_info& each : outputs) made.outputs.push_back(value_of(each));
  return made;
}

result<package_io> interface_of(std::span<const detail::format_row> formats, const std::string& path,
                                const read_options& how) {
  const std::span<const std::byte> bytes = how.file->bytes();
  const auto row = std::find_if(formats.begin(), formats.end(),
                                [&](const detail::format_row& f) { return f.recognizes(bytes, path); });
  if (row == formats.end()) return status{status_code::not_implemented, "no linked format reads it"}.in(path);
  const result<std::unique_ptr<model>> net = row->read_file(path, how);
  if (!net) return status{net.error()};
  // The check infers types that the file omits. Its error is ignored: another runtime may have the model's operators.
  static_cast<void>(check_model(**net, op_table{}));
  return interface_of(inputs_of(**net), outputs_of(**net));
}

/// The inputs and outputs of a variant that has a model file.
result<package_io> interface_of(const package& from, const package_variant& v,
                                std::span<const detail::format_row> formats) {
  const auto file = from.read(v, *v.model_file);
  if (!file) return status{file.error()};
  auto folder = from.open_folder_of(v, *v.model_file);
  for (const auto& [key, text] : v.option_paths)
    if (key == weights_folder_key.key) folder = from.open_folder(v, text);
  if (!folder) return status{folder.error()};
  read_options how;
  how.file = *file;
  how.folder = *folder;
  return interface_of(formats, (*file)->path(), how);
}

}  // namespace

struct pipeline::impl {
  std::vector<component_context> selected;
  std::vector<session> sessions;
  connected_io plan;
  std::vector<io_info> inputs, outputs;

  status add(const detail::loader&, const package&, const std::string& component, const session_options*,
             variant_choice);
  void describe();
  result<std::vector<const named_input*>> given(std::span<const named_input>) const;
  result<named_values> run(std::span<const named_input>, const run_settings&) const;
};

package_io interface_of(const session& s) { return interface_of(s.inputs(), s.outputs()); }

status pipeline::impl::add(const detail::loader& with, const package& from, const std::string& component,
                           const session_options* options, variant_choice choose) {
  result<component_context> chosen = with.select(from, component, options ? *options : session_options{}, choose);
  if (!chosen) return std::move(chosen).error();
  result<session> loaded = with.load(*chosen, options);
  if (!loaded) return std::move(loaded).error().in(fmt::format("component '{}'", component));
  selected.push_back(*std::move(chosen));
  sessions.push_back(*std::move(loaded));
  return {};
}

/// Fills in the descriptions of inputs and outputs. An input that several components read is described as in the first.
void pipeline::impl::describe() {
  inputs.resize(plan.io.inputs.size());
  for (std::size_t c = sessions.size(); c-- > 0;)
    for (std::size_t i = plan.sources[c].size(); i-- > 0;)
      if (const connected_io::place& from = plan.sources[c][i]; from.component == connected_io::outside)
        inputs[from.number] = sessions[c].inputs()[i];
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].optional = plan.io.inputs[i].optional;
  for (const connected_io::place& from : plan.outputs)
    outputs.push_back(sessions[from.component].outputs()[from.number]);
}

result<pipeline> detail::loader::load(const package& from, const session_options* options,
                                      variant_choice choose) const {
  return guarded_hook([&]() -> result<pipeline> {
    const auto fails = [&](status s) { return std::move(s).in(from.folder()); };
    if (from.components().empty()) return fails({status_code::invalid_argument, "the package has no components"});
    auto made = std::make_unique<pipeline::impl>();
    std::vector<component_io> parts_io;
    for (const package_component& c : from.components()) {
      if (status s = made->add(*this, from, c.name, options, choose); !s) return s;
      parts_io.push_back({c.name, interface_of(made->sessions.back())});
    }
    const std::optional<package_io> declared = from.io();
    result<connected_io> plan = connect(parts_io, declared ? &*declared : nullptr);
    if (!plan) return fails(std::move(plan).error());
    made->plan = *std::move(plan);
    made->describe();
    return pipeline{std::move(made)};
  });
}

pipeline::pipeline(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
pipeline::pipeline(pipeline&&) noexcept = default;
pipeline& pipeline::operator=(pipeline&&) noexcept = default;
pipeline::~pipeline() = default;

const std::vector<io_info>& pipeline::inputs() const { return impl_->inputs; }
const std::vector<io_info>& pipeline::outputs() const { return impl_->outputs; }
std::size_t pipeline::size() const { return impl_->sessions.size(); }
const session& pipeline::part(std::size_t i) const { return impl_->sessions[i]; }
const component_context& pipeline::selected(std::size_t i) const { return impl_->selected[i]; }

/// The caller's inputs in the pipeline's order; null for an input that was omitted.
result<std::vector<const named_input*>> pipeline::impl::given(std::span<const named_input> all) const {
  std::vector<const named_input*> made(inputs.size());
  const auto invalid = [](std::string words) { return status{status_code::invalid_argument, std::move(words)}; };
  for (const named_input& each : all) {
    const result<std::size_t> i = find_io(inputs, each.key, "the pipeline", "input");
    if (!i) return status{i.error()};
    if (made[*i]) return invalid(fmt::format("input '{}' is given twice", inputs[*i].name));
    made[*i] = &each;
  }
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!made[i] && !inputs[i].optional && inputs[i].type.kind != type_kind::optional)
      return invalid(fmt::format("input '{}' is missing; it needs {}", inputs[i].name, inputs[i].type_text));
  return made;
}

result<named_values> pipeline::run(std::span<const named_input> inputs, const run_settings& settings) const {
  return guarded([&] { return impl_->run(inputs, settings); });
}

result<named_values> pipeline::impl::run(std::span<const named_input> all, const run_settings& settings) const {
  const impl& it = *this;
  const result<std::vector<const named_input*>> given = it.given(all);
  if (!given) return status{given.error()};
  const clock::time_point start = clock::now();
  std::vector<named_values> results;
  for (std::size_t c = 0; c < it.sessions.size(); ++c) {
    const session& part = it.sessions[c];
    std::vector<named_input> takes;
    for (std::size_t i = 0; i < part.inputs().size(); ++i) {
      const connected_io::place& from = it.plan.sources[c][i];
      if (from.component != connected_io::outside) {
        if (const any_value& made = results[from.component][from.number].value)
          takes.emplace_back(part.inputs()[i].name, made);
      } else if ((*given)[from.number]) {
        takes.push_back(*(*given)[from.number]);
      }
    }
    run_settings now = settings;
    if (settings.timeout)
      now.timeout = std::chrono::nanoseconds{settings.timeout->nanoseconds()} - (clock::now() - start);
    result<named_values> done = part.run(takes, now);
    if (!done) return std::move(done).error().in(fmt::format("component '{}'", it.selected[c].component()));
    results.push_back(*std::move(done));
  }
  named_values made;
  for (const connected_io::place& from : it.plan.outputs) made.items.push_back(results[from.component][from.number]);
  return made;
}

result<std::vector<component_io>> interfaces_of(const package& from, std::span<const detail::format_row> formats,
                                                std::vector<std::string>* unread) {
  return guarded_hook([&]() -> result<std::vector<component_io>> {
    std::vector<component_io> made;
    for (const package_component& c : from.components()) {
      const package_variant* first = nullptr;
      component_io io{c.name, {}};
      for (const package_variant& v : c.variants) {
        if (!v.model_file) continue;
        result<package_io> own = interface_of(from, v, formats);
        if (!own && unread)
          unread->push_back(fmt::format("component '{}', variant '{}': {}", c.name, v.name, own.error().words()));
        if (!own) continue;
        if (!first) {
          first = &v, io.io = *std::move(own);
        } else if (status same = same_interface(io.io, *own); !same) {
          return std::move(same).in(fmt::format("component '{}', variants '{}' and '{}'", c.name, first->name, v.name));
        }
      }
      if (first) made.push_back(std::move(io));
    }
    return made;
  });
}

result<package_io> interface_of_file(const std::string& path, std::span<const detail::format_row> formats,
                                     const std::string& weights) {
  return guarded_hook([&]() -> result<package_io> {
    read_options how;
    auto file = detail::file_bytes::map(path);
    if (!file) return std::move(file).error();
    how.file = *std::move(file);
    how.external_data_folder = weights;
    return interface_of(formats, path, how);
  });
}

}  // namespace CAMEO_NAMESPACE
