#include <cameo/core/version.hpp>
#include <cameo/eps/frozen.hpp>
#include <cameo/partition/convex_groups.hpp>
#include <cameo/partition/lower.hpp>

#include <deque>

#include "program.hpp"

namespace CAMEO_NAMESPACE::eps {

using frozen_file::base_provider;
using frozen_file::constants_outside;
using frozen_file::maker;
using frozen_file::opened;
using frozen_file::program;

struct frozen_context::impl {
  frozen_file::builder builder;
  std::deque<std::vector<value_id>> outside;  // per plan: the constants that stay in the model
};
frozen_context::frozen_context() : impl_{std::make_unique<impl>()} {}
frozen_context::~frozen_context() = default;

namespace {

#if defined(__x86_64__)
constexpr std::string_view processor = "x86-64";
#elif defined(__aarch64__)
constexpr std::string_view processor = "aarch64";
#else
constexpr std::string_view processor = "another processor";
#endif

maker here(const frozen_hooks& self) {
  maker made{CAMEO_VERSION, std::string{processor} + ", " + self.packing};
  constexpr std::size_t most = sizeof(frozen_file::header::architecture);
  if (made.architecture.size() > most) made.architecture.resize(most);
  return made;
}

compiled_node as_node(std::shared_ptr<const program> made) {
  return {std::move(made),
          [](const void* state, run_context& c) { return static_cast<const program*>(state)->run(c); }};
}

result<std::shared_ptr<const opened>> open(const frozen_hooks& self, const context_binary& binary) {
  const auto open_it = [&](std::span<const std::byte> bytes) { return opened::open(bytes, here(self), self.copy); };
  auto made = binary.opened<opened>(open_it);
  if (made && self.copy && !(*made)->copy()) {  // a session that maps it has opened it
    result<opened> own = open_it(binary.bytes());
    if (!own) return std::move(own).error();
    made = std::make_shared<const opened>(std::move(*own));
  }
  if (made && self.verify)
    if (status s = (*made)->verify(); !s) return s;
  return made;
}

status differs(const operand& outer, const operand& inner) {
  const auto wrong = [](std::string words) { return status{status_code::invalid_graph, std::move(words)}; };
  if (outer.kind != inner.kind || outer.type != inner.type)
    return wrong("the graph has another type of it than the node");
  if (!outer.has_rank || !inner.has_rank) return {};
  if (outer.shape.rank() != inner.shape.rank())
    return wrong("the graph has it of rank " + std::to_string(inner.shape.rank()) + ", the node of rank " +
                 std::to_string(outer.shape.rank()));
  for (std::size_t d = 0; d < inner.shape.rank(); ++d)
    if (outer.shape[d] >= 0 && inner.shape[d] >= 0 && outer.shape[d] != inner.shape[d])
      return wrong("the graph has " + std::to_string(inner.shape[d]) + " along its axis " + std::to_string(d) +
                   ", the node " + std::to_string(outer.shape[d]));
  return {};
}

/// Compares the inputs and outputs of a node, as its model declares them, with those of its plan: types, ranks, and
/// known sizes.
status check_borders(const draft& net, const node_view& node) {
  const auto check = [&](std::span<const slot> slots, const auto& values) -> status {
    if (slots.size() != values.size())
      return {status_code::invalid_graph, "the graph has another number of inputs or outputs than the node"};
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!values[i] || !values[i].type()) continue;  // its type is unknown
      if (status s = differs(describe(node.in()[values[i].id()]), net.values[slots[i]].info); !s)
        return std::move(s).in(values[i].name());
    }
    return {};
  };
  const auto all = node.inputs();
  std::vector<value_view> inputs;  // without the constants that stay in the model, which read_plan() has checked
  for (std::size_t i = 0; i < std::min(all.size(), net.inputs.size()); ++i) inputs.push_back(all[i]);
  if (status s = check(net.inputs.span(), inputs); !s) return s;
  return check(net.outputs.span(), node.outputs());
}

}  // namespace

result<std::vector<node_group>> frozen_hooks::groups(const graph_view& g) const {
  std::vector<node_id> mine;
  for (node_view node : g.nodes())
    if (node.provider() < 0 && !is_known(g.raw(), node.raw()) && frozen_file::can_hold(node) &&
        detail::kernel_matches(node, base.kernels(), nullptr))
      mine.push_back(node.id());
  std::vector<node_group> made;
  for (std::vector<node_id>& nodes : convex_groups(g, mine)) made.push_back({std::move(nodes), "plan"});
  return made;
}

result<std::vector<compiled_node>> frozen_hooks::compile(std::span<const fused_view> all) const {
  std::vector<compiled_node> made;
  for (const fused_view& group : all) {
    result<std::shared_ptr<const program>> plan = program::compile({base, self}, group.body, round_float16);
    if (!plan) return std::move(plan).error().in(group.name);
    made.push_back(as_node(std::move(*plan)));
  }
  return made;
}

result<context_part> frozen_hooks::store(frozen_context& to, const fused_view& group, const compiled_node& node,
                                         bool weightless) const {
  const auto plan = std::static_pointer_cast<const program>(node.state);
  frozen_file::builder& builder = to.impl_->builder;
  constants_outside outside{group.body.raw()};
  std::vector<std::byte> text = weightless ? plan->text(builder, outside) : plan->text(builder, plan);
  if (status s = builder.add_plan(group.name, std::move(text)); !s) return s;
  context_part part;
  part.constants = to.impl_->outside.emplace_back(std::move(outside.taken));
  const maker by = here(*this);
  part.sdk_version = by.cameo, part.hardware_architecture = by.architecture;
  part.is_secondary = true;  // one context contains the plans of all groups
  return part;
}

status frozen_hooks::write(const frozen_context& context, byte_sink to) const {
  return context.impl_->builder.write(here(*this), to);
}

result<compiled_node> frozen_hooks::restore(const context_binary& binary, const context_node& node) const {
  const result<std::shared_ptr<const opened>> context = open(*this, binary);
  if (!context) return status{context.error()};
  const opened::plan* const plan = (*context)->find(node.graph_name);
  if (!plan) return status_code::not_found;
  result<std::shared_ptr<const program>> made =
      program::restore({base, self}, binary, **context, *plan, node.node, verify);
  if (!made) return std::move(made).error();
  if (status s = check_borders((*made)->net(), node.node); !s) return s;
  return as_node(std::move(*made));
}

void frozen_hooks::identify(frozen_context& context, std::string_view id) { context.impl_->builder.id = id; }

result<std::string> frozen_hooks::identity(const context_binary& binary) const {
  const result<std::shared_ptr<const opened>> context = open(*this, binary);
  if (!context) return status{context.error()};
  return (*context)->id();
}

result<std::vector<std::string>> frozen_hooks::graphs(const context_binary& binary) const {
  const result<std::shared_ptr<const opened>> context = open(*this, binary);
  if (!context) return status{context.error()};
  std::vector<std::string> names;
  for (const opened::plan& each : (*context)->plans()) names.emplace_back(each.name);
  return names;
}

std::string frozen_hooks::compatibility(std::span<const fused_view>) const { return here(*this).words(); }

/// A different text means another processor or another version of cameo: restore() would return an error.
result<compiled_fit> frozen_hooks::fits(std::string_view written) const {
  return written == here(*this).words() ? compiled_fit::optimal : compiled_fit::unsupported;
}

status frozen_hooks::misfit(std::string_view written) const {
  return frozen_file::made_by_another(written, here(*this));
}

}  // namespace CAMEO_NAMESPACE::eps
