#include <cameo/format/format.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/partition/lower.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/run/run_plan.hpp>
#include <cameo/session/loader.hpp>
#include <cameo/transform/rules/standard.hpp>

#include "program.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace CAMEO_NAMESPACE::eps::frozen_file {
namespace {

/// Copies types to another model: each symbol of the source becomes a different symbol of the target. Two symbols may
/// have the same name, since a file may declare it for values of different sizes. Only the symbols of copied types are
/// made: a model has about as many symbols as values, and a group needs few of them.
class symbol_copier {
 public:
  symbol_copier(model& to, const model& from) : target_{to}, source_{from} {}

  value_type copy(value_type type) {
    if (type.shape)
      for (dim& d : *type.shape)
        if (d.symbol && d.symbol < source_.symbols.size()) d = dim::named(copy_of(d.symbol));
    if (type.element) type.element = std::make_shared<const value_type>(copy(*type.element));
    return type;
  }

 private:
  std::uint32_t copy_of(std::uint32_t symbol) {
    const auto [at, is_new] = copies_.try_emplace(symbol, 0);
    if (!is_new) return at->second;
    const std::uint32_t first_of_name = target_.symbol(source_.symbols[symbol]);
    return at->second = used_.insert(first_of_name).second ? first_of_name : target_.another_symbol(first_of_name);
  }

  model& target_;
  const model& source_;
  std::unordered_map<std::uint32_t, std::uint32_t> copies_;  // the second model's symbols, by those of the first
  std::unordered_set<std::uint32_t> used_;                   // symbols of the second model that are copies already
};

/// Makes a separate model of the group's body. It refers to the texts, attributes and constants of the body.
std::unique_ptr<model> model_of(const graph& body) {
  const model& from = body.owner();
  auto made = std::make_unique<model>();
  made->ir_version = std::max<std::int64_t>(from.ir_version, 4);
  made->imports = from.imports;
  graph& g = made->main();
  g.name = body.name;
  symbol_copier symbols{*made, from};
  const auto type_of = [&](const detail::graph_value& v) {
    return v.type ? made->keep(symbols.copy(*v.type)) : nullptr;
  };
  for (std::size_t i = 0; i < body.value_count(); ++i)  // so that value_ids are equal in both
    static_cast<void>(g.add_value(body[value_id(i)].name, type_of(body[value_id(i)])));
  for (value_id v : body.inputs()) g.add_input(v);
  for (value_id v : body.initializers()) g.add_initializer(v, body[v].constant);
  std::vector<value_id> inputs;
  for (node_id n : body.order()) {
    const detail::graph_node& node = body[n];
    inputs.clear();
    for (std::size_t i = 0; i < body.input_count(n); ++i) inputs.push_back(body.input(n, i));
    const node_spec spec{node.name,       node.domain, node.op_type, node.overload,
                         node.doc_string, node.opset,  inputs,       node.outputs,
                         node.attributes, {},          node.metadata};
    static_cast<void>(g.add_node(spec));
  }
  for (value_id v : body.outputs()) g.add_output(v);
  return made;
}

/// A format that reads no files. No function body is read, since every node has a kernel.
struct no_format {
  static constexpr std::string_view name = "none";
  static bool recognizes(std::span<const std::byte>, std::string_view) { return true; }
  static result<std::unique_ptr<model>> read(const std::string&, const read_options&) {
    return status_code::not_implemented;
  }
  static result<std::unique_ptr<model>> read(std::span<const std::byte>, std::string_view, const read_options&) {
    return status_code::not_implemented;
  }
};

/// Makes a session that contains the optimized graph. It is never run.
result<session> optimize(const base_provider& base, const graph& body, bool round_float16) {
  const provider alone{&base.row, {std::shared_ptr<const void>{}, base.self}};
  session_options options;
  options.threads = 1;
  options.config = {{"session.disable_prepacking", "1"}, {"session.round_float16", round_float16 ? "1" : "0"}};
  const detail::loader with{{&alone, 1}, detail::format_list<no_format>::rows, rules::standard_transforms::tables()};
  return with.load(model_of(body), options);
}

/// True if a value has the type, the rank and the known sizes for which the plan was made.
bool fits(const value& given, const operand& wanted) {
  if (given.kind != value_kind::tensor || given.type != wanted.type || given.memory != 0) return false;
  if (!wanted.has_rank) return true;
  return std::equal(given.shape.begin(), given.shape.end(), wanted.shape.begin(), wanted.shape.end(),
                    [](std::int64_t size, std::int64_t planned) { return planned < 0 || size == planned; });
}

}  // namespace

status program::make_plan(const base_provider& base, const detail::pack_keeper& packs) {
  const memory_source host = heap_memory();
  if (base.row.memory(base.self).allocate != host.allocate)
    return {status_code::not_implemented, std::string{base.row.name} + " keeps values in separate memory"};
  const node_binder binder{base.row.name, base.self, base.row.bind, 0};
  detail::heap_arena scratch{1 << 14};
  plan_options how;
  how.binders = {&binder, 1}, how.memories = {&host, 1};
  how.scratch = &scratch;
  how.packs = packs;
  how.as_step = true;
  const result<const plan_view*> made = cameo::make_plan(*net_, how, memory_);
  if (!made) return made.error();
  plan_ = *made;
  return {};
}

result<std::shared_ptr<const program>> program::compile(const base_provider& base, const graph_view& body,
                                                        bool round_float16) {
  result<session> optimized = optimize(base, body.raw(), round_float16);
  if (!optimized) return std::move(optimized).error();
  const auto made = std::make_shared<program>();
  made->optimized_.emplace(std::move(*optimized));
  const result<draft*> net = lower(made->optimized_->graph().main(), {}, false, made->memory_);
  if (!net) return net.error();
  made->net_ = *net;
  detail::pack_keeper keeper;
  keeper.self = &made->packs_;
  keeper.packed = [](void* self, const void* data, std::size_t bytes) -> status {
    static_cast<std::vector<packed_constant>*>(self)->push_back({data, bytes});
    return {};
  };
  if (status s = made->make_plan(base, keeper); !s) return s;
  return std::shared_ptr<const program>{made};
}

namespace {

/// Returns the packed constants one after the other.
struct unpacker {
  std::span<const packed_constant> left;

  static result<const void*> find(void* self, std::size_t bytes) {
    std::span<const packed_constant>& left = static_cast<unpacker*>(self)->left;
    if (left.empty() || left.front().bytes != bytes)
      return status{status_code::invalid_graph, "the context is damaged: packed weights of another size"};
    const void* const found = left.front().data;
    left = left.subspan(1);
    return found;
  }
};

}  // namespace

result<std::shared_ptr<const program>> program::restore(const base_provider& base, const context_binary& binary,
                                                        const opened& from, const opened::plan& plan,
                                                        const node_view& node, bool verify) {
  const auto made = std::make_shared<program>();
  if (from.copy()) made->copy_ = from.copy();
  else made->binary_ = binary;
  result<plan_content> content = read_plan(plan.bytes, from, base, node, verify, made->memory_);
  if (!content) return std::move(content).error();
  made->net_ = content->net;
  made->packs_ = std::move(content->packs);
  if (content->is_weightless) {
    if (status s = made->make_plan(base, {}); !s) return s;
    return std::shared_ptr<const program>{made};
  }
  unpacker all{made->packs_};
  detail::pack_keeper keeper;
  keeper.self = &all;
  keeper.find = unpacker::find;
  if (status s = made->make_plan(base, keeper); !s) return s;
  if (!all.left.empty())
    return status{status_code::invalid_graph, "the context is damaged: packed weights that no kernel takes"};
  return std::shared_ptr<const program>{made};
}

/// By slot: true for a constant that kernels read unpacked, in runs or when they are bound.
std::vector<bool> program::slots_read_raw() const {
  std::vector<bool> raw(std::max<std::size_t>(net_->values.size(), 1));
  for (const plan_step& step : plan_->steps)
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const bool is_packed = std::any_of(step.hints.begin(), step.hints.end(), [&](const detail::output_hint& h) {
        return h.kind == detail::output_hint::use::packs && h.input == i;
      });
      if (!is_packed) raw[step.inputs[i]] = true;
    }
  for (slot s : plan_->outputs) raw[s] = true;
  return raw;
}

std::vector<std::byte> program::text(builder& to, std::shared_ptr<const program> self) const {
  return write_plan(*net_, slots_read_raw(), packs_, self, to, nullptr);
}
std::vector<std::byte> program::text(builder& to, constants_outside& outside) const {
  return write_plan(*net_, {}, {}, nullptr, to, &outside);
}

status program::run(run_context& c) const {
  for (std::size_t i = 0; i < net_->inputs.size(); ++i)
    if (const draft_value& wanted = net_->values[net_->inputs[i]]; !fits(c.input(i), wanted.info))
      return status{status_code::invalid_argument, "not of the type and shape that the compiled graph takes"}.in(
          wanted.name);
  return run_plan(c, *plan_);
}

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
