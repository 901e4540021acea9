// The provider: converts a plugin's claims to groups, its compute objects to programs, and its contexts to cameo's.
#include <cameo/eps/ort_plugin_host.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/partition/convex_groups.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "library.hpp"

namespace CAMEO_NAMESPACE::eps {

using namespace ort_plugin_host_detail;

namespace {

/// The name of groups to which constants are passed in each run. The plugin keeps the constants of the others.
constexpr std::string_view with_constants = "constants";

struct plugin_program {
  plugin_program() = default;
  ~plugin_program() {
    if (info && state) static_cast<void>(invoke(runs_on->plugin().name(), info->ReleaseState, info, state));
    if (info) runs_on->release(info);
  }

  status begin() {
    info = nullptr;
    result<ort::ort_node_compute_info*> made = runs_on->compile(*graph, *fused, &context);
    if (!made) return std::move(made).error();
    info = *made;
    return invoke(runs_on->plugin().name(), info->CreateState, info, &about, &state);
  }

  status run(run_context& c) const {
    ort::ort_kernel_context now{&c, {}, {}, {}};
    now.inputs.reserve(fused->inputs.size());
    for (std::size_t next = 0; const ort::ort_value_info* each : fused->inputs)
      now.inputs.push_back({each->is_constant ? each->constant.tensor : c.input(positions[next++]), {}});
    now.outputs.resize(fused->outputs.size());
    now.made.resize(fused->outputs.size());
    if (status s = invoke(runs_on->plugin().name(), info->Compute, info, state, &now); !s) return s;
    for (std::size_t i = 0; i < now.made.size(); ++i)
      if (c.has_output(i) && !now.made[i])
        return {status_code::ep_fail, fmt::format("{} did not make output '{}' of '{}'", runs_on->plugin().name(),
                                                  fused->outputs[i]->name, fused->name)};
    return {};
  }

  std::shared_ptr<execution> runs_on;
  std::unique_ptr<ort::ort_graph> graph;
  std::unique_ptr<ort::ort_node> fused, context;
  std::vector<std::size_t> positions;  // of inputs that are not constants, among those of a run
  ort::ort_compute_context about;
  ort::ort_node_compute_info* info = nullptr;
  void* state = nullptr;
};

struct shared_program {
  std::shared_ptr<const plugin_program> program;
  status run(run_context& c) const { return program->run(c); }
};

/// Compiles a graph. `inputs` are the values of the graph that each run passes, in the same order. `constants`: the
/// node has constants as inputs, too.
result<compiled_node> program_of(const std::shared_ptr<execution>& by, std::unique_ptr<ort::ort_graph> from,
                                 std::string_view name, const std::vector<const ort::ort_value_info*>& inputs,
                                 bool constants) {
  auto made = std::make_shared<plugin_program>();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] && !inputs[i]->is_constant) made->positions.push_back(i);
  made->fused = ort::fused_node_of(*from, name, inputs, constants);
  made->runs_on = by, made->graph = std::move(from), made->about.name = name;
  if (status s = made->begin(); !s) return s;
  return compiled(shared_program{std::move(made)});
}

/// The constants among the inputs of a context's node.
struct left_constants {
  std::vector<value_id> all;
  bool are_last = true;  // no other input comes after a constant
};
/// Finds the constants. EP_FAIL unless the other inputs and the outputs are those of the group in the same order, since
/// they are identified by their position.
result<left_constants> constants_of(const plugin_program& made, const fused_view& group) {
  const graph& body = group.body.raw();
  std::vector<std::string> inputs, outputs, given;
  left_constants left;
  for (value_view v : group.body.inputs())
    if (!body.constant_of(v.id())) inputs.emplace_back(v.name());
  for (value_view v : group.body.outputs()) outputs.emplace_back(v.name());
  for (const std::string& each : made.context->input_names) {
    const value_id v = body.find(each);
    const bool is_new = std::find(left.all.begin(), left.all.end(), v) == left.all.end();
    if (v != value_id::none && body.constant_of(v) && is_new) left.all.push_back(v);
    else given.push_back(each), left.are_last = left.are_last && left.all.empty();
  }
  if (given == inputs && made.context->output_names == outputs) return left;
  return status{
      status_code::ep_fail,
      fmt::format("{} gave '{}' a context with other inputs or outputs than the nodes that it is made of, or in "
                  "another order",
                  made.runs_on->plugin().name(), group.name)};
}

/// Parses option `options`, "KEY=VALUE;KEY=VALUE".
result<detail::text_pairs> split_options(std::string_view words) {
  detail::text_pairs made;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(';'), words.size()), equals = words.substr(0, end).find('=');
    if (equals == words.npos || equals == 0)
      return status{status_code::invalid_argument,
                    fmt::format("option 'options' is KEY=VALUE, separated by ';', and not '{}'", words.substr(0, end))};
    made.emplace_back(words.substr(0, equals), words.substr(equals + 1, end - equals - 1));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return made;
}

/// The start of a file of several contexts. The name and the bytes of each context follow, each after its length as a
/// 64-bit number.
constexpr std::string_view magic = "cameo plugin contexts 1\n";

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Takes a text that follows its length; false at the end, or if the length is too large.
bool take_piece(std::string_view& from, std::string_view& piece) {
  std::uint64_t length = 0;
  if (from.size() < sizeof length) return false;
  std::memcpy(&length, from.data(), sizeof length);
  from.remove_prefix(sizeof length);
  if (length > from.size()) return false;
  piece = from.substr(0, length);
  from.remove_prefix(length);
  return true;
}
std::string with_length(std::string_view piece) {
  const std::uint64_t length = piece.size();
  return std::string{reinterpret_cast<const char*>(&length), sizeof length}.append(piece);
}

/// Makes a model of one compiled node with an embedded context. `source` replaces the source of a context whose plugin
/// gave none.
result<std::unique_ptr<model>> model_of(const context_node& from, std::string_view context, std::string_view source) {
  auto m = std::make_unique<model>();
  m->ir_version = 10;
  const detail::graph_node& node = from.node.raw();
  m->imports = {{node.domain, node.opset}};
  m->symbols = from.node.in().owner().symbols;
  graph& g = m->main();
  g.name = from.graph_name;
  std::vector<value_id> inputs, outputs;
  const auto add = [&](const value_view& v) {
    return v ? g.add_value(v.name(), v.type() ? m->keep(*v.type()) : nullptr) : value_id::none;
  };
  for (const value_view v : from.node.inputs()) {
    inputs.push_back(add(v));
    const value* const constant = v ? from.node.in().constant_of(v.id()) : nullptr;  // only in a weightless context
    if (constant) g.add_initializer(inputs.back(), constant);
    else if (v) g.add_input(inputs.back());
  }
  for (const value_view v : from.node.outputs()) {
    outputs.push_back(add(v));
    if (v) g.add_output(outputs.back());
  }
  std::vector<attribute> attributes;
  for (const attribute& each : node.attributes)
    if (each.name != "ep_cache_context" && each.name != "embed_mode" && each.name != "main_context")
      attributes.push_back(each);
  for (attribute& each : attributes)
    if (each.name == "source" && each.s == ort_plugin_host::long_name) each.s = source;
  attribute bytes, one;
  bytes.name = "ep_cache_context", bytes.kind = attribute_kind::s, bytes.s = context;
  one.kind = attribute_kind::i, one.i = 1;
  attributes.push_back(bytes);
  for (const char* each : {"embed_mode", "main_context"}) one.name = each, attributes.push_back(one);
  node_spec spec;
  spec.name = node.name, spec.domain = node.domain, spec.op_type = node.op_type, spec.opset = node.opset;
  spec.inputs = inputs, spec.outputs = outputs, spec.attributes = attributes;
  g.add_node(spec);
  if (status s = check_model(*m, op_table{}); !s) return s;
  return m;
}

result<std::shared_ptr<execution>> running(const ort_plugin_host& p, lazy_execution& state) {
  const std::lock_guard lock{state.guard};
  if (state.made) return state.made;
  const result<const ort_plugin_host_detail::library*> found =
      ort_plugin_host_detail::library::load(p.library, p.registered);
  if (!found) return found.error();
  result<std::shared_ptr<execution>> made =
      execution::make(**found, p.plugin_options, p.hardware, p.contexts, p.contexts && p.weightless);
  if (made) state.made = *made;
  return made;
}

}  // namespace

result<std::vector<provider_device>> ort_plugin_host::devices() const {
  std::vector<provider_device> made;
  if (library.empty()) return made;
  const result<const ort_plugin_host_detail::library*> found =
      ort_plugin_host_detail::library::load(library, registered);
  if (!found) return found.error();
  std::unique_ptr<ort::ort_hardware_device> more;
  if (!hardware.empty()) {
    auto named = hardware_named(hardware);
    if (!named) return std::move(named).error();
    more = *std::move(named);
  }
  const auto all = (*found)->devices(more.get());
  if (!all) return all.error();
  for (const auto& each : *all) {
    provider_device& to = made.emplace_back();
    to.name = each->name, to.hardware = each->hardware->description;
    to.metadata.assign(each->metadata.pairs.begin(), each->metadata.pairs.end());
  }
  return made;
}

result<ort_plugin_host> ort_plugin_host::configured(const provider_options& wanted) const {
  ort_plugin_host made = *this;
  if (wanted.is_set("library")) made.library = wanted["library"];
  if (wanted.is_set("hardware")) made.hardware = wanted["hardware"];
  if (wanted.is_set("name")) made.registered = wanted["name"];
  if (wanted.is_set("contexts")) made.contexts = wanted["contexts"] == "1";
  if (wanted.is_set("weightless")) made.weightless = wanted["weightless"] == "1";
  result<detail::text_pairs> own = split_options(wanted["options"]);
  if (!own) return std::move(own).error();
  for (auto& each : *own) made.plugin_options.push_back(std::move(each));
  if (!made.hardware.empty())
    if (const auto named = hardware_named(made.hardware); !named) return named.error();
  made.state_ = std::make_shared<lazy_execution>();
  return made;
}

result<std::vector<node_group>> ort_plugin_host::groups(const graph_view& g) const {
  return groups_in(g, data_layout::nchw);
}

/// The plugin's groups, divided into groups that no path leaves and reenters, as ONNX Runtime divides them.
result<std::vector<node_group>> ort_plugin_host::groups_in(const graph_view& g, data_layout layout) const {
  std::vector<node_group> made;
  if (library.empty() || !state_) return made;
  const result<std::shared_ptr<execution>> by = running(*this, *state_);
  if (!by) return by.error();
  if ((*by)->layout() != layout) return made;
  const std::unique_ptr<ort::ort_graph> graph = ort::graph_of(g);
  result<std::vector<ort::ort_support_info::group>> found = (*by)->claims(*graph);
  if (!found) return std::move(found).error();
  for (ort::ort_support_info::group& each : *found)
    for (std::vector<node_id>& nodes : convex_groups(g, each.nodes))
      made.push_back({std::move(nodes), each.drops_constants ? "group" : std::string{with_constants}});
  return made;
}

result<std::vector<compiled_node>> ort_plugin_host::compile(std::span<const fused_view> groups) const {
  const result<std::shared_ptr<execution>> by = running(*this, *state_);
  if (!by) return by.error();
  std::vector<compiled_node> made;
  for (const fused_view& each : groups) {
    const bool constants = each.name.find(fmt::format("_{}_", with_constants)) != each.name.npos;
    std::unique_ptr<ort::ort_graph> graph = ort::graph_of(each.body);
    const std::vector<const ort::ort_value_info*> inputs = graph->inputs;
    result<compiled_node> program = program_of(*by, std::move(graph), each.name, inputs, constants);
    if (!program) return std::move(program).error();
    made.push_back(*std::move(program));
  }
  return made;
}

result<context_part> ort_plugin_host::store(context_builder& to, const fused_view& group,
                                            const compiled_node& program) const {
  const plugin_program& made = *static_cast<const shared_program*>(program.state.get())->program;
  const ort::ort_node* const node = made.context.get();
  if (!node)
    return status{status_code::not_implemented,
                  fmt::format("the plugin gave no context for '{}'; option 'contexts' requests contexts", group.name)};
  const auto text = [&](std::string_view name) {
    for (const ort::ort_attribute* each : node->listed)
      if (each->name == name && each->kind == ort::ort_attribute_kind::s) return each->bytes;
    return std::string{};
  };
  const auto number = [&](std::string_view name, std::int64_t otherwise) {
    for (const ort::ort_attribute* each : node->listed)
      if (each->name == name && each->kind == ort::ort_attribute_kind::i)
        std::memcpy(&otherwise, each->bytes.data(), sizeof otherwise);
    return otherwise;
  };
  if (number("embed_mode", 1) != 1 || number("main_context", 1) != 1)
    return status{status_code::not_implemented,
                  fmt::format("the plugin gave no bytes of the context for '{}'", group.name)};
  if (const result<left_constants> left = constants_of(made, group); !left) return left.error();
  to.contexts.emplace_back(group.name, text("ep_cache_context"));
  context_part part;
  part.sdk_version = text("ep_sdk_version"), part.hardware_architecture = text("hardware_architecture");
  part.notes = text("notes"), part.max_size = number("max_size", 0);
  part.graph_name = text("partition_name");
  // A source that this provider does not list is left out, because no provider would claim the node later.
  const std::string source = text("source");
  if (std::any_of(std::begin(sources), std::end(sources),
                  [&](const context_source& each) { return each.matches(source); }))
    part.source = source;
  return part;
}

result<context_part> ort_plugin_host::store_weightless(context_builder& to, const fused_view& group,
                                                       const compiled_node& program) const {
  result<context_part> part = store(to, group, program);
  if (!part) return part;
  const plugin_program& made = *static_cast<const shared_program*>(program.state.get())->program;
  result<left_constants> left = constants_of(made, group);
  const bool takes_constants = std::any_of(made.fused->inputs.begin(), made.fused->inputs.end(),
                                           [](const ort::ort_value_info* each) { return each->is_constant; });
  if (!left || !left->are_last || (!takes_constants && !made.graph->initializers.empty()))
    return status{status_code::not_implemented,
                  fmt::format("{} keeps the constants of '{}' by itself, or puts them before other inputs; set "
                              "ep.enable_weightless to 0",
                              made.runs_on->plugin().name(), group.name)};
  part->constants = to.constants.emplace_back(std::move(left->all));
  return part;
}

status ort_plugin_host::write(const context_builder& from, byte_sink to) const {
  const auto give = [&](std::string_view words) { return to(std::as_bytes(std::span{words})); };
  if (from.contexts.size() == 1) return give(from.contexts[0].second);
  if (status s = give(magic); !s) return s;
  for (const auto& [name, bytes] : from.contexts) {
    if (status s = give(with_length(name)); !s) return s;
    if (status s = give(with_length(bytes)); !s) return s;
  }
  return {};
}

result<compiled_node> ort_plugin_host::restore(const context_binary& binary, const context_node& node) const {
  if (!state_) return status{status_code::invalid_graph, "it needs the plugin that made it; set option 'library'"};
  std::string_view context = view_of(binary.bytes());
  if (context.starts_with(magic)) {
    context.remove_prefix(magic.size());
    for (std::string_view name;;) {
      if (!take_piece(context, name)) return status_code::not_found;
      std::string_view bytes;
      if (!take_piece(context, bytes)) return status{status_code::invalid_graph, "the list of contexts is damaged"};
      if (name == node.graph_name || name == node.node.name()) {
        context = bytes;
        break;
      }
    }
  }
  const result<std::shared_ptr<execution>> by = running(*this, *state_);
  if (!by) return by.error();
  const result<std::unique_ptr<model>> m = model_of(node, context, (*by)->plugin().name());
  if (!m) return m.error();
  std::unique_ptr<ort::ort_graph> graph = ort::graph_of(graph_view{(*m)->main()});
  const auto claims = (*by)->claims(*graph);
  if (!claims) return claims.error();
  if (claims->size() != 1)
    return status{status_code::invalid_graph, fmt::format("{} does not take the context", (*by)->plugin().name())};
  const std::vector<const ort::ort_value_info*> inputs = graph->order[0]->inputs;
  return program_of(*by, std::move(graph), node.node.name(), inputs, !claims->front().drops_constants);
}

}  // namespace CAMEO_NAMESPACE::eps
