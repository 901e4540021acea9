#include <cameo/core/booleans.hpp>
#include <cameo/kernel/node_check.hpp>

#include "plan_stream.hpp"
#include "program.hpp"

namespace CAMEO_NAMESPACE::eps::frozen_file {
namespace {

status wrong(std::string what) { return {status_code::invalid_graph, "the context is damaged: " + std::move(what)}; }

const op_version* version_at(const op_row& op, std::int32_t since) {
  for (const op_version& v : op.versions)
    if (v.since == since) return &v;
  return nullptr;
}

/// Kernels that check nodes may read constants, but a constant whose elements are only packed is absent.
const value* if_there(void*, std::size_t, const value& v) { return v.data || v.bytes() == 0 ? &v : nullptr; }

class reader {
 public:
  reader(std::span<const std::byte> text, const opened& from, const base_provider& base, const node_view& node,
         bool verify, arena& memory)
      : in_{text}, container_{from}, base_{base}, node_{node}, verify_{verify}, memory_{memory} {}

  result<plan_content> run() {
    void* const place = memory_.allocate(sizeof(draft), alignof(draft));
    if (!place) return status_code::out_of_memory;
    net_ = ::new (place) draft{memory_};
    if (status s = read_values(); !s) return s;
    if (status s = read_inputs(); !s) return s;
    if (status s = read_outputs(); !s) return s;
    const std::size_t nodes = in_.count(24);
    if (!net_->nodes.reserve(nodes)) return status_code::out_of_memory;
    for (std::size_t i = 0; i < nodes; ++i)
      if (status s = read_node(); !s) return s;
    for (slot s : net_->outputs)
      if (!is_known(s)) return wrong("an output that no node makes");
    if (status s = require_inputs_outside(); !s) return s;
    plan_content made{net_};
    if (status s = read_packs(made); !s) return s;
    if (!in_.ok() || !in_.at_end()) return wrong("a plan that ends too early or too late");
    return made;
  }

 private:
  status read_packs(plan_content& to) {
    plan_reader ahead = in_;
    to.is_weightless = ahead.number<std::uint32_t>() == packs_again;
    if (to.is_weightless) in_ = ahead;
    if (to.is_weightless && any_absent_) return wrong("a weightless plan with missing constants");
    if (!to.is_weightless && outside_count_ > 0) return wrong("a plan with constants outside and packed ones");
    const std::size_t count = to.is_weightless ? 0 : in_.count(sizeof(std::uint32_t));
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = in_.number<std::uint32_t>();
      if (number >= container_.blob_count()) return wrong("a packed constant that is not one of its blobs");
      to.packs.push_back({container_.blob(number).data(), container_.blob(number).size()});
    }
    return {};
  }

  // --- values ---

  status read_values() {
    const std::size_t count = in_.count(8);
    if (!net_->values.reserve(count + 1)) return status_code::out_of_memory;
    known_.assign(count + 1, false);
    if (!net_->values.push_back({})) return status_code::out_of_memory;
    for (std::size_t i = 1; i <= count; ++i) {
      draft_value v;
      v.name = in_.text();
      if (status s = read_info(v.info); !s) return std::move(s).in(v.name);
      known_[i] = v.info.constant != nullptr;
      if (!net_->values.push_back(v)) return status_code::out_of_memory;
    }
    return {};
  }

  status read_info(operand& to) {
    const auto kind = in_.number<std::uint8_t>();
    const auto type = in_.number<std::uint8_t>();
    const auto is_constant = in_.number<std::uint8_t>(), has_rank = in_.number<std::uint8_t>();
    to.present = true;
    to.kind = type_kind(kind);
    if (to.kind != type_kind::tensor) return wrong("a value that is not a tensor");
    if (is_constant > constant_outside || has_rank > 1) return wrong("a value that is neither a constant nor none");
    if (is_constant) {
      result<value> made = is_constant == constant_outside ? read_outside() : read_constant();
      if (!made) return made.error();
      to.constant = memory_.keep(*made);
      if (!to.constant) return status_code::out_of_memory;
      to.type = made->type, to.has_rank = true, to.shape = made->shape;
      return {};
    }
    if (!is_element(type)) return wrong("elements of no type");
    to.type = dtype(type), to.has_rank = has_rank != 0;
    return has_rank ? read_dims(to.shape, -1) : status{};
  }
  static bool is_element(std::uint8_t type) { return type > 0 && type < std::uint8_t(dtype::count); }

  status read_dims(extents& to, std::int64_t least) {
    const auto rank = in_.number<std::uint8_t>();
    if (rank > max_rank) return wrong("a tensor of too high a rank");
    for (std::size_t i = 0; i < rank; ++i) {
      const auto d = in_.number<std::int64_t>();
      if (d < least) return wrong("a negative size");
      to.push_back(d);
    }
    return {};
  }

  result<value> read_constant() {
    const auto type = in_.number<std::uint8_t>();
    extents shape;
    if (!is_element(type)) return wrong("a constant of no type");
    if (status s = read_dims(shape, 0); !s) return s;
    std::int64_t count = 0;
    std::uint64_t bytes = 0;
    if (!in_.ok() || !shape.checked_count(count) || !detail::checked_bytes(dtype(type), std::uint64_t(count), bytes))
      return wrong("a constant that is too large");
    if (dtype(type) == dtype::string) return read_strings(shape, std::size_t(count));
    const auto number = in_.number<std::uint32_t>();
    if (number > container_.blob_count()) return wrong("a constant that is not one of its blobs");
    any_absent_ |= number == 0 && bytes > 0;
    if (number == 0) return value::tensor(dtype(type), shape, nullptr);
    const std::span<const std::byte> blob = container_.blob(number - 1);
    if (blob.size() != bytes) return wrong("a constant of another size than its blob");
    if (dtype(type) == dtype::boolean && !is_boolean(number - 1)) return wrong("a bool that is neither 0 nor 1");
    return value::tensor(dtype(type), shape, blob.data());
  }

  // --- constants of the model ---

  /// Reads a constant of the model, and compares its description in the plan with the node's input.
  result<value> read_outside() {
    const auto input = in_.number<std::uint32_t>();
    const auto type = in_.number<std::uint8_t>();
    extents shape;
    if (status s = read_dims(shape, 0); !s) return s;
    const auto checksum = in_.number<std::uint64_t>();
    if (!in_.ok() || !is_element(type) || dtype(type) == dtype::string) return wrong("a constant of no type");
    if (input >= node_.input_count()) return changed("input " + std::to_string(input), "is missing");
    const value_view v = node_.input(input);
    const value* const c = v ? node_.in().constant_of(v.id()) : nullptr;
    const std::string name = "input '" + std::string{v ? v.name() : std::string_view{}} + "'";
    if (!c || c->kind != value_kind::tensor || c->memory != 0) return changed(name, "is not a constant");
    if (c->type != dtype(type) || c->shape != shape) return changed(name, "is a constant of another type or shape");
    if (verify_ && checksum_of({static_cast<const std::byte*>(c->data), c->bytes()}) != checksum)
      return changed(name, "has other numbers than when the model was compiled");
    outside_.resize(node_.input_count());
    outside_count_ += !outside_[input];
    outside_[input] = true;
    return *c;
  }
  static status changed(const std::string& what, std::string_view how) {
    return {
        status_code::invalid_graph,
        what + " " + std::string{how} + "; the context leaves its constants in the model that it was compiled with"};
  }

  /// Checks that the node's inputs are those of the plan, followed by exactly the constants of the model.
  status require_inputs_outside() {
    const std::size_t own = net_->inputs.size();
    for (std::size_t i = 0; i < std::min(own, outside_.size()); ++i)
      if (outside_[i]) return wrong("an input that is a constant as well");
    if (node_.input_count() != own + outside_count_)
      return {status_code::invalid_graph, "the graph has another number of inputs or outputs than the node"};
    return {};
  }

  /// True if a blob contains only bools. Each blob is checked once, however often a plan uses it.
  bool is_boolean(std::uint32_t number) {
    booleans_.resize(container_.blob_count());
    if (!booleans_[number]) booleans_[number] = are_booleans(container_.blob(number));
    return booleans_[number];
  }

  result<value> read_strings(const extents& shape, std::size_t count) {
    if (!in_.can_hold(count, sizeof(std::uint32_t))) return wrong("more texts than it has bytes for");
    const result<std::span<std::string_view>> texts = memory_.take<std::string_view>(count);
    if (!texts) return texts.error();
    for (std::string_view& each : *texts) each = in_.text();
    return value::tensor(dtype::string, shape, texts->data());
  }

  // --- inputs and outputs ---

  bool is_known(slot s) const { return known_[s]; }

  result<std::span<slot>> read_slots(bool may_be_absent) {
    const std::size_t count = in_.count(sizeof(slot));
    const result<std::span<slot>> slots = memory_.take<slot>(count);
    if (!slots) return slots.error();
    for (slot& s : *slots) {
      s = in_.number<slot>();
      if (s >= net_->values.size() || (s == 0 && !may_be_absent)) return wrong("a value that is not there");
    }
    return *slots;
  }

  status read_inputs() {
    const result<std::span<slot>> slots = read_slots(false);
    if (!slots) return slots.error();
    for (slot s : *slots) {
      if (is_known(s)) return wrong("an input that is known already");
      known_[s] = true;
      net_->values[s].is_input = true;
      if (!net_->inputs.push_back(s)) return status_code::out_of_memory;
    }
    return {};
  }
  status read_outputs() {
    const result<std::span<slot>> slots = read_slots(false);
    if (!slots) return slots.error();
    for (slot s : *slots) {
      net_->values[s].is_output = true;
      if (!net_->outputs.push_back(s)) return status_code::out_of_memory;
    }
    return {};
  }

  // --- nodes ---

  status read_node() {
    detail::draft_node node;
    node.name = in_.text();
    const std::string_view domain = in_.text();
    node.op_type = in_.text();
    node.since = in_.number<std::int32_t>();
    const result<std::span<slot>> inputs = read_slots(true);
    if (!inputs) return inputs.error();
    const result<std::span<slot>> outputs = read_slots(true);
    if (!outputs) return outputs.error();
    for (slot s : *inputs)
      if (s && !is_known(s)) return wrong("a value that is read before it is made").in(node.name);
    for (slot s : *outputs) {
      if (s && is_known(s)) return wrong("a value that is made twice").in(node.name);
      known_[s] = s != 0;
    }
    node.inputs = *inputs, node.outputs = *outputs;
    if (status s = read_attributes(node); !s) return std::move(s).in(node.name);
    if (!in_.ok()) return wrong("a plan that ends too early");
    if (status s = find_kernel(domain, node); !s) return std::move(s).in(node.op_type).in(node.name);
    return net_->nodes.push_back(node) ? status{} : status{status_code::out_of_memory};
  }

  status read_attributes(detail::draft_node& node) {
    const std::size_t count = in_.count(8);
    const result<std::span<attribute>> made = memory_.take<attribute>(count);
    if (!made) return made.error();
    for (attribute& a : *made) {
      a.name = in_.text();
      if (status s = read_attribute(a); !s) return std::move(s).in(a.name);
    }
    node.attributes = *made;
    return {};
  }

  status read_attribute(attribute& a) {
    a.kind = attribute_kind(in_.number<std::uint8_t>());
    switch (a.kind) {
      case attribute_kind::f: a.f = in_.number<float>(); return {};
      case attribute_kind::i: a.i = in_.number<std::int64_t>(); return {};
      case attribute_kind::s: a.s = in_.text(); return {};
      case attribute_kind::floats: a.floats = in_.numbers<float>(); return {};
      case attribute_kind::ints: a.ints = in_.numbers<std::int64_t>(); return {};
      case attribute_kind::strings: {
        const std::size_t count = in_.count(sizeof(std::uint32_t));
        const result<std::span<std::string_view>> texts = memory_.take<std::string_view>(count);
        if (!texts) return texts.error();
        for (std::string_view& each : *texts) each = in_.text();
        a.strings = *texts;
        return {};
      }
      case attribute_kind::t:
      case attribute_kind::tensors: {
        const std::size_t count = in_.count(2);
        if (a.kind == attribute_kind::t && count != 1) return wrong("an attribute of not one tensor");
        const result<std::span<value>> tensors = memory_.take<value>(count);
        if (!tensors) return tensors.error();
        for (value& each : *tensors) {
          const result<value> tensor = read_constant();
          if (!tensor) return tensor.error();
          if (!tensor->data && tensor->bytes() > 0) return wrong("an attribute whose elements are not there");
          each = *tensor;
        }
        a.tensors = *tensors;
        return {};
      }
      default: return wrong("an attribute of a kind that it can't have");
    }
  }

  /// Finds the kernel. The node is checked against its operator, since the types come from the file and kernels rely on
  /// them.
  status find_kernel(std::string_view domain, detail::draft_node& node) {
    const detail::kernel_table& kernels = base_.row.kernels();
    node.op = detail::find_op(kernels.ops, domain, node.op_type);
    const op_version* const version = node.op ? version_at(*node.op, node.since) : nullptr;
    if (!version || holds_maps(*version)) return wrong("an operator that " + std::string{base_.row.name} + " lacks");
    operands_.clear();
    for (std::span<const slot> slots : {node.inputs, node.outputs})
      for (slot s : slots) operands_.push_back(s ? net_->values[s].info : operand{});
    const std::span<const operand> all{operands_};
    const detail::node_signature signature{node.op->id, node.since, all.first(node.inputs.size()),
                                           all.subspan(node.inputs.size())};
    if (status s = check_node(*version, node.op->roles, signature, node.attributes); !s) return s;
    const verdict found = match(signature, kernels);
    char line[160];
    if (!found) return wrong(std::string{base_.row.name} + std::string{explain(found, line)});
    if (found.row->choosy) {
      detail::arena_vector<detail::output_hint> hints{memory_};
      bind_context context{.op_type = node.op_type,
                           .node_name = node.name,
                           .since = node.since,
                           .attributes = node.attributes,
                           .inputs = signature.inputs,
                           .outputs = signature.outputs,
                           .state = memory_,
                           .hints = hints,
                           .constants = {nullptr, if_there, if_there}};
      if (!found.row->bind(context, true)) return wrong("a node that " + std::string{base_.row.name} + " declines");
    }
    node.row = found.row;
    return {};
  }

  plan_reader in_;
  const opened& container_;
  const base_provider& base_;
  const node_view& node_;
  bool verify_;
  arena& memory_;
  std::vector<bool> outside_;  // by input of the node: the constant is the model's
  std::size_t outside_count_ = 0;
  bool any_absent_ = false;
  draft* net_ = nullptr;
  std::vector<bool> known_;  // by slot: an input, a constant, or made by a node before
  std::vector<operand> operands_;
  std::vector<bool> booleans_;  // by blob: true if it was found to contain only bools
};

}  // namespace

result<plan_content> read_plan(std::span<const std::byte> text, const opened& from, const base_provider& base,
                               const node_view& node, bool verify, arena& memory) {
  return reader{text, from, base, node, verify, memory}.run();
}

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
