// Applies saved optimizations to a draft before kernels are matched. Only programs that use it contain this file.
// transform/groups.hpp does the same for graphs; both make nodes as op/group_actions.hpp describes.
#include <cameo/op/group_actions.hpp>

#include "ort_draft_sink.hpp"
#include "ort_resolver.hpp"

#include <algorithm>
#include <limits>

namespace CAMEO_NAMESPACE {

using ort::wrong;

namespace {

/// A record whose nodes all exist. Nodes are given by their index in the file.
struct found_record {
  group_form form = group_form::in_place;
  std::span<const std::uint32_t> inputs, outputs;  // no_node: absent
  std::uint32_t target = 0, middle = ort::no_node;
  std::string_view makes;  // an op id; empty: none is given
};

}  // namespace

/// The state of a replay in one graph.
struct ort_draft_sink::replaying {
  ort_draft_sink& self;
  scope& in;
  std::span<detail::draft_node> nodes;
  std::span<std::uint32_t> readers = {};      // per slot: number of reads, including the graph's outputs
  std::span<std::string_view> products = {};  // per node: the op id that replaced it, or empty
  detail::arena_vector<std::uint32_t> members{self.memory};
  detail::arena_vector<slot> inputs{self.memory};

  status prepare() {
    if (in.by_index.empty()) {  // a trusted file
      const auto order = ort::sorted(in.nodes, ort::node::index, self.memory, ort::number_less);
      if (!order) return order.error();
      in.by_index = *order;
    }
    const result<std::span<std::uint32_t>> counts = self.memory.take<std::uint32_t>(in.made->values.size() + 1);
    const result<std::span<std::string_view>> ids = self.memory.take<std::string_view>(nodes.size());
    if (!counts || !ids) return status_code::out_of_memory;
    readers = *counts, products = *ids;
    for (const detail::draft_node& n : nodes) {
      for (slot s : n.inputs) ++readers[s];
      for (const draft* sub : n.subgraphs)
        for (const capture& c : sub->captures) readers[c.outer] += 2;  // never the only reader
    }
    const ort::vector_view given = in.source.vector(ort::graph::outputs);
    for (std::size_t i = 0; i < given.size(); ++i)
      if (const std::uint32_t at = ort::find(self.file_checks, in, given.text(i)); at != ort::none)
        readers[in.values[at]] += 2;
    readers[0] = 0;
    return {};
  }

  /// Reads a record. False if one of its nodes does not exist, or has been replaced.
  result<bool> read(const ort::table_view& from, found_record& to) {
    const result<ort::record_view> record = ort::read_record(from, in);
    if (!record) return record.error();
    bool whole = true;
    members.clear();
    for (std::size_t i = 0; i < record->nodes.size(); ++i) {
      const auto index = record->nodes.number<std::uint32_t>(i);
      std::uint32_t node = index == ort::no_node ? ort::no_node : in.node_at(index);
      if (node != ort::no_node && nodes[node].op_type.empty()) node = ort::no_node;
      whole &= index == ort::no_node || node != ort::no_node;
      if (!members.push_back(node)) return status_code::out_of_memory;
    }
    const std::size_t named = to.form == group_form::in_place ? 0 : 1;
    if (record->makes.size() > named)
      return wrong(status_code::fail, "produced_op_ids has ", std::int64_t(record->makes.size()), " entries, needs ",
                   std::int64_t(named));
    if (record->makes.size()) to.makes = record->makes.text(0);
    const std::span<const std::uint32_t> all = members.span();
    const std::size_t first = record->inputs, last = record->outputs;
    to.inputs = all.first(first), to.target = all[first], to.outputs = all.subspan(first + 1, last);
    to.middle = all.size() == first + last + 2 ? all.back() : ort::no_node;
    return whole && to.target != ort::no_node;
  }

  bool only_reader(slot s) const { return s && s < readers.size() && readers[s] == 1; }

  /// True if nothing but this node reads the value, as its first input, and if the node has one output.
  bool continues(slot s, const detail::draft_node& n) const {
    return only_reader(s) && !n.inputs.empty() && n.inputs[0] == s && n.outputs.size() == 1;
  }

  /// True if input `s` of the target is what the record says of it: absent, or made by a node only for the target.
  bool fits_input(const found_record& r, std::uint32_t input, slot s) const {
    if (input == ort::no_node) return !s;
    const detail::draft_node& n = nodes[input];
    return s && input != r.target && n.outputs.size() == 1 && n.outputs[0] == s && only_reader(s) &&
           n.inputs.size() >= 2;
  }

  /// True if the nodes are connected as the form requires, and have no other readers.
  bool fits(const found_record& r) const {
    const detail::draft_node& target = nodes[r.target];
    const std::size_t first = r.form == group_form::choice ? 1 : 0;
    if (target.subgraphs.size() || target.outputs.empty()) return false;
    for (std::size_t i = 0; i < r.inputs.size(); ++i)
      if (!fits_input(r, r.inputs[i], first + i < target.inputs.size() ? target.inputs[first + i] : slot{0}))
        return false;
    if (r.outputs.empty()) return r.middle == ort::no_node;
    if (r.outputs.size() != target.outputs.size() || (r.middle != ort::no_node && r.outputs.size() != 1)) return false;
    for (std::size_t i = 0; i < r.outputs.size(); ++i) {
      if (r.outputs[i] == ort::no_node || r.outputs[i] == r.target) return false;
      slot made = target.outputs[i];
      if (r.middle != ort::no_node) {
        if (!continues(made, nodes[r.middle])) return false;
        made = nodes[r.middle].outputs[0];
      }
      if (!continues(made, nodes[r.outputs[i]])) return false;
    }
    return true;
  }

  // --- the new node ---

  /// Makes a zero point that the file leaves out: as many zeros as there are scales, of the integers' type.
  result<slot> zero(const detail::draft_node& n, bool quantizes) {
    const operand steps = in.made->values[n.inputs[1]].info;
    if (!steps.constant) return slot{0};
    const slot integers = quantizes ? (n.outputs.empty() ? 0 : n.outputs[0]) : n.inputs[0];
    value made = value::tensor(in.made->values[integers].info.type, steps.constant->shape, nullptr);
    made.data = self.memory.allocate(made.bytes() + 1, 16);
    if (!made.data) return status_code::out_of_memory;
    std::memset(made.data, 0, made.bytes());
    draft_value v{"zero_point", {}};
    v.info.kind = type_kind::tensor, v.info.type = made.type, v.info.present = v.info.has_rank = true;
    v.info.shape = made.shape;
    v.info.constant = self.memory.keep(made);
    if (!v.info.constant) return status_code::out_of_memory;
    return in.made->add_value(v);
  }

  result<bool> append(const detail::draft_node& n, const group_move& move, bool quantizes, bool is_target) {
    for (std::size_t i = move.first; i <= move.last; ++i) {
      slot s = i < n.inputs.size() ? n.inputs[i] : 0;
      if (i == 2 && !s && !is_target) {
        const result<slot> made = zero(n, quantizes);
        if (!made) return made.error();
        s = *made;
      }
      if (!inputs.push_back(s)) return status_code::out_of_memory;
    }
    return true;
  }

  /// Appends the inputs that one move takes from the group's nodes. False if the group lacks one of them.
  result<bool> append(const found_record& r, const group_move& move) {
    using member = group_move::member;
    if (move.source == member::target) return append(nodes[r.target], move, false, true);
    if (move.source == member::all_inputs) {
      for (std::uint32_t n : r.inputs) {
        if (n == ort::no_node) return false;
        if (result<bool> appended = append(nodes[n], move, false, false); !appended) return appended;
      }
      return true;
    }
    const bool of_output = move.source == member::output;
    const std::span<const std::uint32_t> from = of_output ? r.outputs : r.inputs;
    const std::uint32_t n = move.number < from.size() ? from[move.number] : ort::no_node;
    if (n != ort::no_node) return append(nodes[n], move, of_output, false);
    if (move.required) return false;
    return of_output || inputs.push_back(0) ? result<bool>{true} : result<bool>{status_code::out_of_memory};
  }

  /// Collects the inputs of the new node. False if the group does not support it.
  result<bool> gather(const found_record& r) {
    inputs.clear();
    const detail::draft_node& target = nodes[r.target];
    if (r.form == group_form::in_place) {
      if (r.inputs.size() != 1 || r.inputs[0] == ort::no_node || !inputs.append(target.inputs)) return false;
      inputs[0] = nodes[r.inputs[0]].inputs[0];
      return true;
    }
    for (const group_move& move : moves_of(r.form)) {
      result<bool> appended = append(r, move);
      if (!appended || !*appended) return appended;
    }
    std::size_t used = inputs.size();
    while (used && !inputs[used - 1]) --used;
    const std::span<const slot> all = inputs.span();
    inputs.clear();
    return inputs.append(all.first(used)) ? result<bool>{true} : result<bool>{status_code::out_of_memory};
  }

  const op_version* newest(const ort::op_name& name) const {
    for (const detail::kernel_table* each : self.providers_)
      if (const op_row* const op = detail::find_op(each->ops, name.domain, name.op_type); op && !op->versions.empty())
        return &op->versions.back();
    return nullptr;
  }

  /// The target's attributes that the new operator has, and those that it needs in addition.
  status attributes_for(const found_record& r, const ort::op_name& name, std::span<const attribute>& to) {
    const detail::draft_node& target = nodes[r.target];
    const op_version* const version = newest(name);
    const auto has = [&](std::string_view wanted) {
      if (!version) return wanted != "opset";
      for (const attribute_rule& rule : version->attributes)
        if (rule.name == wanted) return true;
      return false;
    };
    detail::arena_vector<attribute> all{self.memory};
    if (!all.reserve(target.attributes.size() + 2)) return status_code::out_of_memory;
    for (const attribute& a : target.attributes)
      if (has(a.name) && !all.push_back(a)) return status_code::out_of_memory;
    if (has("opset") && !detail::find_attribute(target.attributes, "opset")) {
      attribute a{"opset", attribute_kind::i};
      a.i = target.since;
      if (!all.push_back(a)) return status_code::out_of_memory;
    }
    if (r.form == group_form::activation) {
      attribute a{"activation", attribute_kind::s}, parameters{"activation_params", attribute_kind::floats};
      a.s = nodes[r.outputs[0]].op_type;
      if (status s = parameters_of(nodes[r.outputs[0]], parameters.floats); !s) return s;
      if (!all.push_back(a) || (!parameters.floats.empty() && !all.push_back(parameters)))
        return status_code::out_of_memory;
    }
    to = all.span();
    return {};
  }

  /// The parameters of an activation: attributes, or limits as further inputs.
  status parameters_of(const detail::draft_node& f, std::span<const float>& to) {
    detail::arena_vector<float> all{self.memory};
    if (!all.reserve(4)) return status_code::out_of_memory;
    for (std::string_view name : {"alpha", "beta", "min", "max"})
      if (const attribute* const a = detail::find_attribute(f.attributes, name))
        if (!all.push_back(a->f)) return status_code::out_of_memory;
    constexpr float most = std::numeric_limits<float>::max();
    for (std::size_t i = 1; f.inputs.size() > 1 && i < 3; ++i) {
      float limit = i == 1 ? -most : most;
      const slot s = i < f.inputs.size() ? f.inputs[i] : 0;
      if (const value* const v = in.made->values[s].info.constant) std::memcpy(&limit, v->data, sizeof limit);
      if (!all.push_back(limit)) return status_code::out_of_memory;
    }
    to = all.span();
    return {};
  }
  /// True if the limits are the same in every run.
  bool has_parameters(const detail::draft_node& f) const {
    for (std::size_t i = 1; i < f.inputs.size(); ++i) {
      const operand& o = in.made->values[f.inputs[i]].info;
      if (f.inputs[i] && (!o.constant || o.constant->type != dtype::f32 || o.constant->shape.count() != 1))
        return false;
    }
    return f.inputs.size() <= 3;
  }

  /// Replaces the target by the new node; the other nodes are removed.
  status replace(const found_record& r) {
    detail::draft_node& target = nodes[r.target];
    if (r.form == group_form::activation && !has_parameters(nodes[r.outputs[0]])) return {};
    const result<bool> fits_form = gather(r);
    if (!fits_form || !*fits_form) return fits_form.error();
    const result<std::span<slot>> kept = self.memory.take<slot>(inputs.size());
    const std::size_t count = r.outputs.empty() ? target.outputs.size() : r.outputs.size();
    const result<std::span<slot>> outputs = self.memory.take<slot>(count);
    if (!kept || !outputs) return status_code::out_of_memory;
    std::copy(inputs.begin(), inputs.end(), kept->begin());
    for (std::size_t i = 0; i < count; ++i)
      (*outputs)[i] = r.outputs.empty() ? target.outputs[i] : nodes[r.outputs[i]].outputs[0];
    if (r.form != group_form::in_place) {
      const result<ort::op_name> name = ort::parse_op_name(r.makes);
      if (!name) return name.error();
      if (status s = attributes_for(r, *name, target.attributes); !s) return s;
      products[r.target] = r.makes;
      target.op_type = name->op_type;
      target.since = int(name->since);
    }
    target.inputs = *kept, target.outputs = *outputs;
    for (std::span<const std::uint32_t> gone : {r.inputs, r.outputs, std::span{&r.middle, 1}})
      for (std::uint32_t n : gone)
        if (n != ort::no_node) nodes[n] = {};
    return {};
  }

  status run(const ort::vector_view& optimizers, std::size_t o) {
    const std::string_view optimizer = optimizers.table(o).text(ort::optimizer::optimizer_name);
    const ort::vector_view records = optimizers.table(o).vector(ort::optimizer::runtime_optimization_records);
    for (std::size_t i = 0; i < records.size(); ++i) {
      bool known = false;
      const std::string_view action = records.table(i).text(ort::record::action_id);
      const group_action* const row = find_group_action(optimizer, action, known);
      if (!known) return {};
      found_record r;
      if (!row) return wrong(status_code::fail, "optimizer '", optimizer, "' has no action '", action, "'");
      r.form = row->form;
      const result<bool> whole = read(records.table(i), r);
      if (!whole) return status{whole.error()}.in("runtime_optimizations");
      if (!*whole || !fits(r)) continue;
      if (r.makes.empty() && r.form != group_form::in_place) {
        // ONNX Runtime lists no operators for these two.
        if (r.form != group_form::parts && action != "MatMul")
          return wrong(status_code::fail, "produced_op_ids of action '", action, "' is empty");
        continue;
      }
      // An example is "QLinearConv" for "Conv".
      if (const result<ort::op_name> name = ort::parse_op_name(r.makes); name)
        if (!name->op_type.ends_with(nodes[r.target].op_type))
          return wrong(status_code::fail, "action '", action, "' does not make '", r.makes, "'");
      if (status s = replace(r); !s) return s;
    }
    return {};
  }

  /// Assigns the remaining nodes to providers, and moves them together.
  status finish(std::span<detail::draft_node>& left) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op_type.empty()) continue;  // replaced
      ort::table_view from = in.nodes.table(i);
      std::string_view domain = from.text(ort::node::domain);
      if (const result<ort::op_name> name = ort::parse_op_name(products[i]); name) domain = name->domain, from = {};
      if (status s = self.choose_provider(from, domain, in, nodes[i]); !s) {
        node_words words{nodes[i].name, {}, nodes[i].op_type};
        for (slot made : nodes[i].outputs)
          if (words.output.empty() && made != 0) words.output = in.made->values[made].name;
        return ort::in_node(std::move(s), words);
      }
      nodes[count++] = nodes[i];
    }
    left = nodes.first(count);
    return {};
  }
};

/// Quantized nodes come first, as in a graph: a convolution with a fused activation cannot be quantized.
status ort_draft_sink::replay_and_sort(scope& in) {
  std::span<detail::draft_node> nodes = in.made->nodes.span();
  const result<ort::vector_view> optimizers = ort::read_optimizers(in, memory);
  if (!optimizers) return optimizers.error();
  replaying work{*this, in, nodes};
  if (status s = work.prepare(); !s) return s;
  std::string_view done;
  for (const group_action& each : group_actions) {
    if (each.optimizer == done) continue;
    done = each.optimizer;
    for (std::size_t o = 0; o < optimizers->size(); ++o)
      if (optimizers->table(o).text(ort::optimizer::optimizer_name) == done)
        if (status s = work.run(*optimizers, o); !s) return s;
  }
  status s = work.finish(nodes);
  return s ? sort_nodes(nodes, in) : std::move(s);
}

const ort_draft_checks replaying_ort_draft_checks{&ort::all_checks, &ort_draft_sink::check_head,
                                                  &ort_draft_sink::replay_and_sort, &ort_draft_sink::match_checked};
const ort_draft_checks replaying_trusted_ort_draft{nullptr, nullptr, &ort_draft_sink::replay_and_sort, nullptr};

}  // namespace CAMEO_NAMESPACE
