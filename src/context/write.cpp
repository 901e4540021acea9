#include "context/write.hpp"
#include "file/messages.hpp"

#include <cameo/context/compatibility.hpp>

#include "context/node.hpp"
#include "context/workspace.hpp"
#include "core/guarded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <map>
#include <set>

namespace CAMEO_NAMESPACE {
namespace {

attribute number(std::string_view name, std::int64_t i) {
  attribute a;
  a.name = name, a.kind = attribute_kind::i, a.i = i;
  return a;
}
attribute text(std::string_view name, std::string_view s) {
  attribute a;
  a.name = name, a.kind = attribute_kind::s, a.s = s;
  return a;
}

/// The bytes of a context. The hook is called twice, first to count them, so that no more memory than needed is
/// allocated, and none for a context that is too large to embed: an ONNX file has at most 2 GB.
result<std::string> bytes_of(const provider& p, const void* builder, bool embed) {
  std::size_t size = 0;
  const auto count = [&](std::span<const std::byte> piece) -> status {
    size += piece.size();
    return {};
  };
  if (status s = p.row->contexts.write(p.self.get(), builder, count); !s) return s;
  if (embed && size > std::size_t{INT_MAX})
    return failed(status_code::invalid_argument,
                  "its context has {} bytes, and a model of ONNX has at most {}: it can't be embedded; store it "
                  "in a file (without --embed, or ep.context_embed_mode=0)",
                  size, INT_MAX);
  std::string bytes;
  bytes.reserve(size);
  const auto append = [&](std::span<const std::byte> piece) -> status {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
  if (status s = p.row->contexts.write(p.self.get(), builder, append); !s) return s;
  return bytes;
}

/// Checks the values that a provider leaves outside a context: each must be a constant of the group, of a type that a
/// compiled node accepts, and be listed once. EP_FAIL if not.
status require_constants(const fused_node& f, std::span<const value_id> all) {
  const graph& body = *f.body;
  const detail::type_mask allowed = compiled_operator().versions.front().types.front().tensors;
  std::set<value_id> seen;
  for (value_id v : all) {
    const value* const constant = index_of(v) < f.values.size() ? body.constant_of(v) : nullptr;
    if (!constant || !seen.insert(v).second)
      return failed(status_code::ep_fail,
                    "left a value outside the context that is not a constant of the group, or one twice");
    if (constant->kind != value_kind::tensor || (detail::bit_of(constant->type) & allowed) == 0)
      return failed(status_code::ep_fail, "leaves '{}' outside the context, which a compiled node can't take: {}",
                    body[v].name, detail::row_of(constant->type).name);
  }
  return {};
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Begins an empty context, with an id if the provider stores one.
status begin(shared_context& context) {
  const detail::context_row& row = context.owner.row->contexts;
  return guarded_hook([&]() -> status {
    context.builder = row.begin();
    std::string id = new_context_id();
    if (row.identify(context.owner.self.get(), context.builder.get(), id)) context.id = std::move(id);
    return {};
  });
}

/// The context for the groups of a provider: that of earlier models if models share one, otherwise a new one.
std::shared_ptr<shared_context> context_for(const provider& of, const context_output& out) {
  auto made = std::make_shared<shared_context>();
  made->owner = of, made->path = context_path_of(out, of.row->long_name);
  if (!out.shared) return made;
  const std::lock_guard lock{out.shared->inside().guard};
  auto& under_way = out.shared->inside().under_way[of.row->long_name];
  if (!under_way) under_way = std::move(made);
  return under_way;
}

}  // namespace

/// Writes a context to its file, or passes its bytes to the callback. The caller has locked the context's guard.
status compiled_model::keep_context(shared_context& context, const context_output& out) {
  const provider& of = context.owner;
  const auto keep_it = [&]() -> status {
    if (out.write) {
      const std::string_view name = file_name(context.path);
      result<std::string> bytes = bytes_of(of, context.builder.get(), false);
      if (!bytes) return std::move(bytes).error();
      status s = out.write(name, std::as_bytes(std::span{bytes->data(), bytes->size()}));
      return s ? std::move(s) : std::move(s).in(fmt::format("context '{}'", name));
    }
    const auto produce = [&](detail::function_ref<status(std::span<const std::byte>)> append) {
      return of.row->contexts.write(of.self.get(), context.builder.get(), append);
    };
    return files_->add(context.path, produce);
  };
  context.is_written = true;
  status done = guarded_hook(keep_it);
  return done ? std::move(done) : std::move(done).in(of.row->long_name);
}

/// Writes a shared context if this is the last model that shares it. The model itself may have no groups in it.
status compiled_model::finish_shared(const provider& of, const context_output& out) {
  if (!out.shared || !out.is_last) return {};
  std::shared_ptr<shared_context> context;
  {
    context_workspace::impl& inside = out.shared->inside();
    const std::lock_guard lock{inside.guard};
    const auto at = inside.under_way.find(of.row->long_name);
    if (at == inside.under_way.end()) return {};
    context = at->second;
    inside.under_way.erase(at);
    if (inside.under_way.empty()) inside.groups = 0;
  }
  const std::lock_guard one_at_a_time{context->guard};
  return keep_context(*context, out);
}

void compiled_model::become_node(const fused_node& f, const shared_context& in, const context_part& part, bool is_main,
                                 std::string_view context, bool embedded) {
  const op_row& op = compiled_operator();
  graph& g = *f.in;
  original& before = originals_.emplace_back(original{&g, f.node, g[f.node], {}});
  for (std::size_t i = 0; i < g.input_count(f.node); ++i) before.inputs.push_back(g.input(f.node, i));
  std::vector<attribute> attributes{
      text("partition_name", part.graph_name.empty() ? std::string_view{f.name} : keep(part.graph_name)),
      number("max_size", part.max_size),
      text("ep_sdk_version", keep(part.sdk_version)),
      text("ep_cache_context", context),
      text("source", part.source.empty() ? in.owner.row->contexts.sources.front().key : keep(part.source)),
      number("main_context", is_main),
      number("embed_mode", embedded)};
  if (!part.hardware_architecture.empty())
    attributes.push_back(text("hardware_architecture", keep(part.hardware_architecture)));
  if (std::string notes = notes_with(part.notes, in.id); !notes.empty())
    attributes.push_back(text("notes", keep(std::move(notes))));
  g.set_attributes(f.node, attributes);
  g[f.node].domain = op.domain, g[f.node].op_type = op.name;
  if (std::none_of(model_.imports.begin(), model_.imports.end(),
                   [&](const opset_import& each) { return each.domain == op.domain; }))
    model_.imports.push_back({op.domain, op.versions.front().since});
}

/// Adds constants of the group to the inputs of the compiled node. A constant that no other node reads is added to the
/// initializers again if a rewrite after partitioning removed it.
void compiled_model::add_constants(const fused_node& f, std::span<const value_id> of_body) {
  if (of_body.empty()) return;
  std::map<const graph*, std::set<value_id>> listed;
  std::vector<value_id> inputs = originals_.back().inputs;
  for (value_id inner : of_body) {
    graph* in = f.in;
    value_id v = inputs.emplace_back(f.values[index_of(inner)]);
    while ((*in)[v].outer != value_id::none) v = (*in)[v].outer, in = in->outer();
    const auto [known, is_new] = listed.try_emplace(in);
    if (is_new) known->second = {in->initializers().begin(), in->initializers().end()};
    if (known->second.insert(v).second) in->add_initializer(v, f.body->constant_of(inner));
  }
  f.in->set_inputs(f.node, inputs);
}

/// Stores the provider's compatibility text in the model's metadata (docs/contexts.md). Errors of the hook are ignored.
void compiled_model::add_compatibility(const provider& p, std::span<const fused_view> groups) {
  const auto call = [&]() -> result<std::string> { return p.row->contexts.compatibility(p.self.get(), groups); };
  result<std::string> fit = guarded_hook(call);
  if (!fit || fit->empty()) return;
  const std::string_view key = keep(fmt::format("{}{}", compatibility_key, p.row->long_name));
  std::erase_if(model_.metadata, [&](const detail::property& each) { return each.first == key; });
  model_.metadata.emplace_back(key, keep(std::move(*fit)));
}

/// Stores the groups with these numbers in a context, appends the part of each group to `parts`, and writes the context
/// unless it is shared or embedded.
status compiled_model::store_groups(shared_context& context, const provider& of, std::span<const fused_node> fused,
                                    std::span<const compiled_node> programs, std::span<const std::size_t> numbers,
                                    const context_output& out, std::vector<context_part>& parts) {
  const provider_row& row = *of.row;
  const std::lock_guard one_at_a_time{context.guard};
  if (context.is_written)
    return failed(status_code::fail,
                  "{}: the context '{}' that models share was written meanwhile; a model came after the last",
                  row.long_name, context.path);
  if (!context.builder)
    if (status s = begin(context); !s) return s;
  for (std::size_t i : numbers) {
    const fused_view group{fused[i].name, graph_view{*fused[i].body}};
    const auto call = [&] {
      return row.contexts.store(of.self.get(), context.builder.get(), group, programs[i], out.weightless);
    };
    result<context_part> part = guarded_hook(call);
    status fine = part ? require_constants(fused[i], part->constants) : std::move(part).error();
    if (!fine) return std::move(fine).in(fused[i].name).in(row.long_name);
    parts.push_back(std::move(*part));
  }
  return out.shared || out.embed ? status{} : keep_context(context, out);
}

/// Stores all groups of provider `p` in its context, and converts them to compiled nodes.
status compiled_model::store(std::size_t p, std::vector<fused_node>& fused, std::span<const compiled_node> programs,
                             const provider& of, const context_output& out) {
  std::vector<std::size_t> mine;
  std::vector<fused_view> groups;
  for (std::size_t i = 0; i < fused.size(); ++i)
    if (fused[i].provider == p && fused[i].body)
      mine.push_back(i), groups.push_back({fused[i].name, graph_view{*fused[i].body}});
  if (mine.empty()) return finish_shared(of, out);
  const std::shared_ptr<shared_context> context = context_for(of, out);
  std::vector<context_part> parts;
  if (status s = store_groups(*context, of, fused, programs, mine, out, parts); !s) return s;
  if (status s = finish_shared(of, out); !s) return s;
  std::string_view written = keep(std::string{file_name(context->path)});
  if (out.embed) {
    result<std::string> bytes = guarded_hook([&] { return bytes_of(of, context->builder.get(), true); });
    if (!bytes) return std::move(bytes).error().in(of.row->long_name);
    written = keep(std::move(*bytes));
  }
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const bool is_main = k == 0 || (!out.embed && !parts[k].is_secondary);
    become_node(fused[mine[k]], *context, parts[k], is_main, is_main ? written : std::string_view{}, out.embed);
    add_constants(fused[mine[k]], parts[k].constants);
  }
  add_compatibility(of, groups);
  return {};
}

std::string context_path_of(const context_output& out, std::string_view long_name) {
  return fmt::format("{}{}_{}.bin", out.folder, out.stem, long_name);
}

bool is_under_way(const context_workspace& shared, std::string_view long_name) {
  const std::lock_guard lock{shared.inside().guard};
  return shared.inside().under_way.contains(long_name);
}

status require_one_folder(const context_output& out, std::span<const provider> providers) {
  if (!out.shared) return {};
  const auto real = [](std::string_view folder) {
    std::error_code error;
    return std::filesystem::canonical(folder.empty() ? "." : folder, error);
  };
  const std::lock_guard lock{out.shared->inside().guard};
  for (const provider& p : providers) {
    const auto at = out.shared->inside().under_way.find(p.row->long_name);
    if (at == out.shared->inside().under_way.end()) continue;
    const std::string_view path = at->second->path, folder = path.substr(0, path.size() - file_name(path).size());
    if (real(folder) != real(out.folder))
      return failed(status_code::invalid_argument,
                    "models that share contexts must be in one folder; '{}' is in '{}', and this one is to be in '{}'",
                    path, folder, out.folder);
  }
  return {};
}

result<std::unique_ptr<compiled_model>> compiled_model::make(model& m, std::vector<fused_node>& fused,
                                                             std::span<const compiled_node> programs,
                                                             std::span<const provider> providers,
                                                             const context_output& out) {
  std::unique_ptr<compiled_model> made{new compiled_model{m, out.files}};
  for (std::size_t p = 0; p < providers.size(); ++p)
    if (status s = made->store(p, fused, programs, providers[p], out); !s) return s;
  std::set<graph*> changed{&m.main()};
  for (const fused_node& f : fused) changed.insert(f.in);
  for (graph* g : changed) g->remove_unused_initializers();
  return made;
}

void compiled_model::restore() {
  is_restored_ = true;
  for (const original& each : originals_) {
    detail::graph_node& now = (*each.in)[each.node];
    now.domain = each.contents.domain, now.op_type = each.contents.op_type;
    now.attributes = each.contents.attributes;
    if (each.inputs.size() == each.in->input_count(each.node)) continue;
    each.in->set_inputs(each.node, each.inputs);
    each.in->remove_unused_initializers();
  }
  model_.imports = std::move(imports_);
  model_.metadata = std::move(metadata_);
}

compiled_model::~compiled_model() {
  if (!is_restored_) static_cast<void>(guarded([&] { return restore(), status{}; }));
}

}  // namespace CAMEO_NAMESPACE
