#include <cameo/file/atomic_file.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/graph/model.hpp>

#include "ort_writer.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

using fields = ort_builder::fields;

/// ONNX Runtime writes constants of these types, but does not load them (docs/ort_format.md).
bool is_refused(dtype type) { return type == dtype::c64 || type == dtype::c128 || type > dtype::f8e5m2fnuz; }

/// The text by which files identify an operator's version.
std::string op_id_text(std::string_view domain, std::string_view op_type, int since) {
  return fmt::format("{}:{}:{}", domain, op_type, since);
}

}  // namespace

result<wire_pieces> ort_writer::write() {
  const ort_builder::table root = builder_.add(builder_.root(), fields{}
                                                                    .offset(ort::session::ort_version)
                                                                    .offset(ort::session::model)
                                                                    .offset(ort::session::kernel_type_str_resolver));
  builder_.text(root[ort::session::ort_version], "6");
  if (status s = write_model(root[ort::session::model]); !s) return s;
  write_resolver(root[ort::session::kernel_type_str_resolver]);
  return builder_.finish();
}

// --- model ---

/// Writes a name. The format allows zero bytes in names, but ONNX Runtime does not.
status ort_writer::write_name(ref to, std::string_view what, std::string_view name) {
  if (const std::size_t zero = name.find('\0'); zero != name.npos)
    return not_in_ort("{} '{}' has a zero byte inside", what, name.substr(0, zero));
  builder_.text(to, name);
  return {};
}

status ort_writer::write_model(ref from) {
  using namespace ort;
  const auto& main = model_.main();
  const auto m = builder_.add(from, fields{}
                                        .number(ort::model::ir_version, model_.ir_version)
                                        .offset(ort::model::opset_import)
                                        .offset(ort::model::producer_name)
                                        .offset(ort::model::producer_version)
                                        .offset(ort::model::domain)
                                        .number(ort::model::model_version, model_.model_version)
                                        .offset(ort::model::doc_string)
                                        .offset(ort::model::graph)
                                        .offset(ort::model::graph_doc_string)
                                        .offset(ort::model::metadata_props, !model_.metadata.empty()));
  builder_.text(m[ort::model::producer_name], model_.producer_name);
  builder_.text(m[ort::model::producer_version], model_.producer_version);
  builder_.text(m[ort::model::domain], model_.domain);
  builder_.text(m[ort::model::doc_string], model_.doc_string);
  builder_.text(m[ort::model::graph_doc_string], main.doc_string);
  const auto opsets = builder_.tables(m[ort::model::opset_import], model_.imports.size());
  for (std::size_t i = 0; i < model_.imports.size(); ++i) {
    const auto o =
        builder_.add(opsets[i], fields{}.offset(opset::domain).number(opset::version, model_.imports[i].version));
    if (status s = write_name(o[opset::domain], "the domain", model_.imports[i].domain); !s) return s;
  }
  if (!model_.metadata.empty()) {
    const auto entries = builder_.tables(m[ort::model::metadata_props], model_.metadata.size());
    for (std::size_t i = 0; i < model_.metadata.size(); ++i) {
      const auto e = builder_.add(entries[i], fields{}.offset(entry::key).offset(entry::value));
      builder_.text(e[entry::key], model_.metadata[i].first);
      builder_.text(e[entry::value], model_.metadata[i].second);
    }
  }
  return write_graph(m[ort::model::graph], main);
}

// --- graphs ---

/// Collects which nodes are nodes of the file, and which are initializers.
status ort_writer::collect(scope& in) {
  in.numbers.assign(in.g.node_capacity(), ort::no_node);
  in.constants.assign(in.g.initializers().begin(), in.g.initializers().end());
  for (node_id n : in.g.order()) {
    const detail::graph_node& node = in.g[n];
    if (node.fused >= 0) return not_in_ort("{}: a provider has compiled it", describe(in.g, node));
    if (node.callee)
      return not_in_ort(
          "{}: it calls a function of the model, which the format can't hold; functions must be opened "
          "before",
          describe(in.g, node));
    if (!node.op || !node.version)
      return failed(status_code::fail, "{}: its operator has not been looked up; see check_model",
                    describe(in.g, node));
    const bool is_constant = detail::has_role(node.op->roles, role::is_constant);
    if (is_constant && !node.outputs.empty() && in.g[node.outputs[0]].constant) {
      in.constants.push_back(node.outputs[0]);
      continue;
    }
    in.numbers[index_of(n)] = std::uint32_t(in.nodes.size());
    in.nodes.push_back(n);
    for (std::size_t i = 0; i < node.input_count; ++i) in.has_absent |= in.g.input(n, i) == value_id::none;
    for (value_id v : node.outputs) in.has_absent |= v == value_id::none;
  }
  return {};
}

status ort_writer::write_graph(ref from, const graph& g) {
  scope in{g};
  if (status s = collect(in); !s) return s;
  const bool has_sparse = std::any_of(in.constants.begin(), in.constants.end(),
                                      [&](value_id v) { return g[v].constant->kind == value_kind::sparse_tensor; });
  const bool keeps = keeps_optimizations(in);
  const auto t = builder_.add(from, fields{}
                                        .offset(ort::graph::initializers)
                                        .offset(ort::graph::node_args)
                                        .offset(ort::graph::nodes)
                                        .number(ort::graph::max_node_index, std::uint32_t(in.nodes.size()))
                                        .offset(ort::graph::node_edges)
                                        .offset(ort::graph::inputs)
                                        .offset(ort::graph::outputs)
                                        .offset(ort::graph::sparse_initializers, has_sparse)
                                        .offset(ort::graph::runtime_optimizations, keeps));
  const auto names = [&](std::span<const value_id> values) {
    std::vector<std::string_view> made;
    for (value_id v : values) made.push_back(g[v].name);
    return made;
  };
  builder_.texts(t[ort::graph::inputs], names(g.inputs()));
  builder_.texts(t[ort::graph::outputs], names(g.outputs()));
  if (status s = write_node_args(t[ort::graph::node_args], in); !s) return s;
  const auto nodes = builder_.tables(t[ort::graph::nodes], in.nodes.size());
  for (std::size_t i = 0; i < in.nodes.size(); ++i)
    if (status s = write_node(nodes[i], in, in.nodes[i]); !s) {
      const detail::graph_node& n = g[in.nodes[i]];
      return n.name.find('\0') == n.name.npos ? std::move(s).in(describe(g, n)) : s;  // the message ends at a zero byte
    }
  write_edges(t[ort::graph::node_edges], in);
  if (keeps) write_optimizations(t[ort::graph::runtime_optimizations], in);
  return write_constants(t[ort::graph::initializers], has_sparse ? t[ort::graph::sparse_initializers] : ref{}, in);
}

status ort_writer::write_constants(ref dense, ref sparse, const scope& in) {
  std::vector<value_id> kinds[2];
  for (value_id v : in.constants) {
    const value& constant = *in.g[v].constant;
    kinds[constant.kind == value_kind::sparse_tensor].push_back(v);
    if (report_ && is_refused(constant.type))
      report_(fmt::format("'{}' is a constant of {}: ONNX Runtime refuses such constants in ORT files", in.g[v].name,
                          detail::row_of(constant.type).name));
  }
  const auto all = builder_.tables(dense, kinds[0].size());
  for (std::size_t i = 0; i < kinds[0].size(); ++i) {
    const detail::graph_value& v = in.g[kinds[0][i]];
    if (status s = write_tensor(all[i], *v.constant, v.name); !s) return s;
  }
  if (kinds[1].empty()) return {};
  const auto others = builder_.tables(sparse, kinds[1].size());
  for (std::size_t i = 0; i < kinds[1].size(); ++i) {
    const detail::graph_value& v = in.g[kinds[1][i]];
    if (status s = write_sparse(others[i], *v.constant, v.name); !s) return s;
  }
  return {};
}

/// Writes the types of all values that this graph uses, including those of outer graphs.
status ort_writer::write_node_args(ref from, const scope& in) {
  std::vector<bool> used(in.g.value_count(), false);
  std::vector<value_id> values;  // in the order of their producers, so that the file does not depend on value numbers
  const auto use = [&](value_id v) {
    if (v == value_id::none || used[index_of(v)]) return;
    used[index_of(v)] = true;
    values.push_back(v);
  };
  for (value_id v : in.g.inputs()) use(v);
  for (value_id v : in.constants) use(v);
  for (node_id n : in.nodes)
    for (value_id v : in.g[n].outputs) use(v);
  for (node_id n : in.nodes) {
    for (std::size_t i = 0; i < in.g[n].input_count; ++i) use(in.g.input(n, i));
    for (std::size_t i = 0; i < in.g[n].capture_count; ++i) use(in.g.capture(n, i));
  }
  for (value_id v : in.g.outputs()) use(v);
  const auto all = builder_.tables(from, values.size() + in.has_absent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const detail::graph_value& v = in.g[values[i]];
    if (v.name.empty()) return failed(status_code::invalid_graph, "a value of graph '{}' has no name", in.g.name);
    const auto info = builder_.add(all[i], fields{}
                                               .offset(ort::value_info::name)
                                               .offset(ort::value_info::doc_string, !v.doc_string.empty())
                                               .offset(ort::value_info::type));
    if (status s = write_name(info[ort::value_info::name], "the name of value", v.name); !s) return s;
    if (!v.doc_string.empty()) builder_.text(info[ort::value_info::doc_string], v.doc_string);
    const bool is_captured = !v.type && v.outer != value_id::none;
    // Texts are borrowed until the file is complete.
    const value_type& type = types_.emplace_back(detail::described_type(is_captured ? (*in.g.outer())[v.outer] : v));
    if (status s = write_type(info[ort::value_info::type], type, v); !s) return s;
  }
  if (in.has_absent)
    builder_.text(builder_.add(all[values.size()], fields{}.offset(ort::value_info::name))[ort::value_info::name], "");
  return {};
}

// --- edges ---

/// Writes edges as ONNX Runtime does: sorted, with explicit inputs before implicit ones, only between nodes of this
/// graph.
void ort_writer::write_edges(ref from, const scope& in) {
  struct end {
    std::uint32_t node;
    std::int32_t source, target;
    auto operator<=>(const end&) const = default;
  };
  static_assert(sizeof(end) == ort::edge_end_bytes);
  std::vector<std::vector<end>> inputs(in.nodes.size()), outputs(in.nodes.size());
  for (std::uint32_t i = 0; i < in.nodes.size(); ++i) {
    const detail::graph_node& node = in.g[in.nodes[i]];
    for (std::uint32_t k = 0; k < node.input_count + node.capture_count; ++k) {
      const value_id v =
          k < node.input_count ? in.g.input(in.nodes[i], k) : in.g.capture(in.nodes[i], k - node.input_count);
      if (v == value_id::none) continue;
      const std::uint32_t producer = in.number_of(in.g[v].producer);
      if (producer == ort::no_node) continue;
      const auto source = std::int32_t(in.g[v].producer_output);
      inputs[i].push_back({producer, source, std::int32_t(k)});
      outputs[producer].push_back({i, source, std::int32_t(k)});
    }
  }
  const auto all = builder_.tables(from, in.nodes.size());
  for (std::uint32_t i = 0; i < in.nodes.size(); ++i) {
    const auto t = builder_.add(all[i], fields{}
                                            .number(ort::node_edges::node_index, i)
                                            .offset(ort::node_edges::input_edges)
                                            .offset(ort::node_edges::output_edges));
    std::sort(inputs[i].begin(), inputs[i].end());
    std::sort(outputs[i].begin(), outputs[i].end());
    builder_.numbers(t[ort::node_edges::input_edges], std::span<const end>{inputs[i]}, 4);
    builder_.numbers(t[ort::node_edges::output_edges], std::span<const end>{outputs[i]}, 4);
  }
}

// --- nodes ---

/// The number of arguments of each formal input.
std::vector<std::int32_t> ort_writer::argument_counts(const scope& in, node_id id) const {
  const detail::graph_node& node = in.g[id];
  const std::span<const parameter> formals = node.version->inputs;
  std::vector<std::int32_t> counts;
  std::size_t left = node.input_count;
  for (const parameter& p : formals) {
    const std::size_t takes = p.option == parameter_option::variadic ? left : std::min<std::size_t>(1, left);
    counts.push_back(std::int32_t(takes));
    left -= takes;
  }
  return counts;
}

status ort_writer::write_node(ref from, const scope& in, node_id id) {
  using namespace ort;
  const detail::graph_node& n = in.g[id];
  const op_version* const expected = n.op->at(model_.opset(n.domain));
  if (expected != n.version)
    return not_in_ort("it was written for opset {} of '{}', and the model imports {}, where the operator differs",
                      n.opset, domain_name(n.domain), model_.opset(n.domain));
  need(op_id_text(n.domain, n.op_type, n.version->since), *n.version);
  const auto t = builder_.add(from, fields{}
                                        .offset(node::name)
                                        .offset(node::doc_string, !n.doc_string.empty())
                                        .offset(node::domain)
                                        .number(node::since_version, std::int32_t(n.version->since))
                                        .number(node::index, in.number_of(id))
                                        .offset(node::op_type)
                                        .offset(node::inputs)
                                        .offset(node::outputs)
                                        .offset(node::attributes)
                                        .offset(node::input_arg_counts)
                                        .offset(node::implicit_inputs));
  const auto name = [&](value_id v) { return v == value_id::none ? std::string_view{} : in.g[v].name; };
  std::vector<std::string_view> inputs, outputs, implicit;
  for (std::size_t i = 0; i < n.input_count; ++i) inputs.push_back(name(in.g.input(id, i)));
  for (std::size_t i = 0; i < n.capture_count; ++i) implicit.push_back(name(in.g.capture(id, i)));
  for (value_id v : n.outputs) outputs.push_back(name(v));
  if (status s = write_name(t[node::name], "the name of node", n.name); !s) return s;
  if (!n.doc_string.empty()) builder_.text(t[node::doc_string], n.doc_string);
  if (status s = write_name(t[node::domain], "the domain", n.domain); !s) return s;
  if (status s = write_name(t[node::op_type], "the operator", n.op_type); !s) return s;
  builder_.texts(t[node::inputs], inputs);
  builder_.texts(t[node::outputs], outputs);
  builder_.texts(t[node::implicit_inputs], implicit);
  const std::vector<std::int32_t> counts = argument_counts(in, id);
  builder_.numbers(t[node::input_arg_counts], std::span{counts});
  return write_attributes(t[node::attributes], n);
}

/// Writes the node's attributes, and the operator's defaults for the others.
status ort_writer::write_attributes(ref from, const detail::graph_node& n) {
  std::vector<attribute> all{n.attributes.begin(), n.attributes.end()};
  for (const attribute_rule& rule : n.version->attributes) {
    if (!rule.has_default || detail::find_attribute(n.attributes, rule.name)) continue;
    attribute& a = all.emplace_back();
    a.name = rule.name;
    a.kind = rule.kind;
    a.f = rule.default_float;
    a.i = rule.default_int;
    a.s = rule.default_string;
  }
  const auto tables = builder_.tables(from, all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (status s = write_attribute(tables[i], all[i], n); !s)
      return std::move(s).in(fmt::format("attribute '{}'", all[i].name));
  return {};
}

status ort_writer::write_attribute(ref from, const attribute& a, const detail::graph_node& n) {
  namespace slots = ort::attribute;
  // The fields of the kinds from `f` to `tensors`, whose numbers in files are those of attribute_kind.
  static constexpr slots::slot kind_slots[] = {slots::f,      slots::i,    slots::s,       slots::t,      slots::g,
                                               slots::floats, slots::ints, slots::strings, slots::tensors};
  const std::size_t row = std::size_t(a.kind) - 1;  // an undefined kind is out of range, too
  if (row >= std::size(kind_slots) || !a.ref_attr_name.empty())
    return not_in_ort("an ORT file can't hold attributes of type {}{}",
                      detail::attribute_kind_rows[std::size_t(a.kind)].name,
                      a.ref_attr_name.empty() ? "" : " of a function");
  fields of;
  of.offset(slots::name).offset(slots::doc_string, !a.doc_string.empty()).number(slots::type, std::int32_t(a.kind));
  if (a.kind == attribute_kind::f) of.number(slots::f, a.f);
  else if (a.kind == attribute_kind::i) of.number(slots::i, a.i);
  else of.offset(kind_slots[row]);
  const auto t = builder_.add(from, of);
  if (status s = write_name(t[slots::name], "the name of attribute", a.name); !s) return s;
  if (!a.doc_string.empty()) builder_.text(t[slots::doc_string], a.doc_string);
  switch (a.kind) {
    case attribute_kind::s: builder_.text(t[slots::s], a.s); break;
    case attribute_kind::floats: builder_.numbers(t[slots::floats], a.floats); break;
    case attribute_kind::ints: builder_.numbers(t[slots::ints], a.ints); break;
    case attribute_kind::strings: builder_.texts(t[slots::strings], a.strings); break;
    case attribute_kind::g:
      if (a.i < 0 || std::size_t(a.i) >= n.subgraphs.size())
        return failed(status_code::invalid_graph, "there is no subgraph {}", a.i);
      return write_graph(t[slots::g], *n.subgraphs[std::size_t(a.i)]);
    case attribute_kind::t:
      if (a.tensors.size() != 1) return failed(status_code::invalid_graph, "it has no tensor");
      return write_tensor(t[slots::t], a.tensors[0], {});
    case attribute_kind::tensors: {
      const auto all = builder_.tables(t[slots::tensors], a.tensors.size());
      for (std::size_t i = 0; i < a.tensors.size(); ++i)
        if (status s = write_tensor(all[i], a.tensors[i], {}); !s) return s;
      break;
    }
    default: break;
  }
  return {};
}

// --- resolver ---

void ort_writer::write_resolver(ref from) {
  using namespace ort;
  struct argument_row {
    std::int8_t is_output;
    std::uint32_t index;
  };
  for (const versioned_op& each : model_.to_come)
    need(op_id_text(each.op->domain, each.op->name, each.version->since), *each.version);
  const auto top = builder_.add(from, fields{}.offset(resolver::op_kernel_type_str_args));
  const auto ops = builder_.tables(top[resolver::op_kernel_type_str_args], ops_.size());
  std::size_t at = 0;
  for (const auto& [id, version] : ops_) {
    std::map<std::string_view, std::vector<argument_row>> types;
    const auto add = [&](std::span<const parameter> parameters, bool are_outputs) {
      for (std::uint32_t i = 0; i < parameters.size(); ++i) {
        const std::string_view type = parameters[i].type_string;
        const bool is_type = type.find('(') != type.npos;  // a type instead of the name of a type constraint:
                                                           // "tensor(int64)"
        types[is_type ? parameters[i].name : type].push_back({std::int8_t(are_outputs), i});
      }
    };
    add(version->inputs, false);
    add(version->outputs, true);
    const auto op = builder_.add(ops[at++], fields{}.offset(op_entry::op_id).offset(op_entry::kernel_type_str_args));
    builder_.text(op[op_entry::op_id], id);
    const auto entries = builder_.tables(op[op_entry::kernel_type_str_args], types.size());
    std::size_t number = 0;
    for (const auto& [type, rows] : types) {
      const auto t =
          builder_.add(entries[number++], fields{}.offset(type_entry::kernel_type_str).offset(type_entry::args));
      builder_.text(t[type_entry::kernel_type_str], type);
      const auto args = builder_.tables(t[type_entry::args], rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i)
        builder_.add(args[i],
                     fields{}.number(argument::arg_type, rows[i].is_output).number(argument::index, rows[i].index));
    }
  }
}

namespace {

status write_to_file(const model& from, const std::string& path,
                     const detail::callback<void(std::string_view)>& report) {
  return guarded([&]() -> status {
    ort_writer writer{from, report};
    const result<wire_pieces> pieces = writer.write();
    return pieces ? write_file_atomically(path, pieces->spans()) : status{pieces.error()}.in(path);
  });
}

result<std::string> write_to_text(const model& from, const detail::callback<void(std::string_view)>& report) {
  return guarded([&]() -> result<std::string> {
    ort_writer writer{from, report};
    const result<wire_pieces> pieces = writer.write();
    if (!pieces) return pieces.error();
    return pieces->joined();
  });
}

}  // namespace

status write_ort(const model& from, const std::string& path) { return write_to_file(from, path, {}); }

result<std::string> write_ort(const model& from) { return write_to_text(from, {}); }

status ort_format::write(const model& from, const std::string& path, const write_options& options) {
  return write_to_file(from, path, options.report);
}

status ort_format::write(const model& from, byte_sink to, const std::string&, const write_options& options) {
  const result<std::string> bytes = write_to_text(from, options.report);
  return bytes ? to(std::as_bytes(std::span{bytes->data(), bytes->size()})) : status{bytes.error()};
}

}  // namespace CAMEO_NAMESPACE
