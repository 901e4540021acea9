#include "memory_reserve.hpp"
#include "onnx_writing.hpp"

#include <cameo/file/atomic_file.hpp>

#include <google/protobuf/io/coded_stream.h>

#include <climits>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::int64_t default_ir_version = 10;

/// The name of a value in files: a capture has the name of the captured value.
std::string_view name_of(const graph* g, value_id v) {
  if (v == value_id::none) return {};
  while ((*g)[v].outer != value_id::none && g->outer()) {
    v = (*g)[v].outer;
    g = g->outer();
  }
  return (*g)[v].name;
}

/// Restores the uninterpreted fields of a message. Their depth is unlimited here: the reader has limited it.
void restore(std::string_view unknown, pb::Message& to) {
  if (unknown.empty()) return;
  pb::io::CodedInputStream bytes{reinterpret_cast<const std::uint8_t*>(unknown.data()), int(unknown.size())};
  bytes.SetRecursionLimit(INT_MAX);
  (void)to.ParsePartialFromCodedStream(&bytes);
}

/// The i-th element of a repeated field, which may have rests of elements already.
template <class Message>
Message& at_or_add(pb::RepeatedPtrField<Message>& all, std::size_t i) {
  return i < std::size_t(all.size()) ? *all.Mutable(int(i)) : *all.Add();
}

void set_properties(std::span<const detail::property> from, pb::RepeatedPtrField<onnx::StringStringEntryProto>& to) {
  for (const auto& [key, words] : from) {
    auto& entry = *to.Add();
    entry.set_key(std::string{key});
    entry.set_value(std::string{words});
  }
}

/// Sets properties of a message whose installed version lacks the field.
void add_properties(std::span<const detail::property> from, int number, pb::UnknownFieldSet& to) {
  pb::RepeatedPtrField<onnx::StringStringEntryProto> entries;
  set_properties(from, entries);
  for (const auto& entry : entries) to.AddLengthDelimited(number, entry.SerializeAsString());
}

template <class Tensor>
void write_tensor_type(const value_type& type, const model& owner, Tensor& to) {
  to.set_elem_type(int(type.type));
  if (!type.shape) return to.clear_shape();
  auto& shape = *to.mutable_shape();
  while (std::size_t(shape.dim_size()) > type.shape->size()) shape.mutable_dim()->RemoveLast();
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    auto& d = std::size_t(shape.dim_size()) > i ? *shape.mutable_dim(int(i)) : *shape.add_dim();
    const dim& from = (*type.shape)[i];
    if (from.known()) d.set_dim_value(from.size);
    else if (from.symbol && from.symbol < owner.symbols.size()) d.set_dim_param(owner.symbols[from.symbol]);
  }
}

/// Writes a type into the message that rest_of_type() made.
void write_type(const value_type& type, const model& owner, onnx::TypeProto& to) {
  if (!type.denotation.empty()) to.set_denotation(type.denotation);
  const value_type unknown;
  const value_type& of = type.element ? *type.element : unknown;
  switch (type.kind) {
    case type_kind::tensor: return write_tensor_type(type, owner, *to.mutable_tensor_type());
    case type_kind::sparse_tensor: return write_tensor_type(type, owner, *to.mutable_sparse_tensor_type());
    case type_kind::sequence: return write_type(of, owner, *to.mutable_sequence_type()->mutable_elem_type());
    case type_kind::optional: return write_type(of, owner, *to.mutable_optional_type()->mutable_elem_type());
    case type_kind::map:
      to.mutable_map_type()->set_key_type(int(type.type));
      return write_type(of, owner, *to.mutable_map_type()->mutable_value_type());
    case type_kind::unknown:
    case type_kind::opaque:  // the rest of the message has all that is known
      return;
  }
}

class onnx_writer {
 public:
  onnx_writer(const model& from, tensor_writer& tensors) : model_{from}, tensors_{tensors} {}

  status write(onnx::ModelProto& to) {
    to.set_ir_version(model_.ir_version > 0 ? model_.ir_version : default_ir_version);
    if (model_.model_version) to.set_model_version(model_.model_version);
    if (!model_.producer_name.empty()) to.set_producer_name(std::string{model_.producer_name});
    if (!model_.producer_version.empty()) to.set_producer_version(std::string{model_.producer_version});
    if (!model_.domain.empty()) to.set_domain(std::string{model_.domain});
    if (!model_.doc_string.empty()) to.set_doc_string(std::string{model_.doc_string});
    write_imports(model_.imports, *to.mutable_opset_import());
    set_properties(model_.metadata, *to.mutable_metadata_props());
    for (const function& f : model_.functions)
      if (status s = write_function(f, *to.add_functions()); !s) return std::move(s).in(f.name);
    return write_graph(model_.main(), *to.mutable_graph());
  }

 private:
  static void write_imports(std::span<const opset_import> from, pb::RepeatedPtrField<onnx::OperatorSetIdProto>& to) {
    for (const opset_import& import : from) {
      auto& added = *to.Add();
      added.set_domain(std::string{import.domain});
      added.set_version(import.version);
    }
  }

  status write_function(const function& from, onnx::FunctionProto& to) {
    restore(from.unknown, to);
    pb::UnknownFieldSet& newer = *to.mutable_unknown_fields();
    to.set_name(std::string{from.name});
    to.set_domain(std::string{from.domain});
    if (!from.doc_string.empty()) to.set_doc_string(std::string{from.doc_string});
    if (!from.overload.empty()) newer.AddLengthDelimited(13, std::string{from.overload});
    write_imports(from.imports, *to.mutable_opset_import());
    for (std::string_view name : from.attribute_names) to.add_attribute(std::string{name});
    for (const attribute& a : from.attribute_defaults) {
      onnx::AttributeProto message;
      if (status s = write_attribute(a, {}, message); !s) return s;
      newer.AddLengthDelimited(11, message.SerializeAsString());
    }
    add_properties(from.metadata, 14, newer);
    if (!from.body) return status_code::ok;
    const graph& g = *from.body;
    for (value_id v : g.inputs()) to.add_input(std::string{g[v].name});
    for (value_id v : g.outputs()) to.add_output(std::string{name_of(&g, v)});
    if (!g.initializers().empty())
      return {status_code::invalid_graph, "the body of a function cannot have initializers in a file"};
    for (std::size_t i = 0; i < g.value_count(); ++i) {
      const detail::graph_value& v = g[value_id(i)];
      if (!has_info(v)) continue;
      onnx::ValueInfoProto info;
      write_info(v, v.name, info);
      newer.AddLengthDelimited(12, info.SerializeAsString());
    }
    return write_nodes(g, *to.mutable_node());
  }

  status write_graph(const graph& g, onnx::GraphProto& to) {
    restore(g.unknown, to);
    to.set_name(std::string{g.name});
    if (!g.doc_string.empty()) to.set_doc_string(std::string{g.doc_string});
    add_properties(g.metadata, 16, *to.mutable_unknown_fields());
    for (value_id v : g.inputs()) write_info(g[v], g[v].name, *to.add_input());
    for (value_id v : g.outputs()) write_info(g[v], name_of(&g, v), *to.add_output());
    std::vector<bool> is_initializer(g.value_count(), false);
    for (value_id v : g.initializers()) {
      is_initializer[index_of(v)] = true;
      if (status s = write_initializer(g[v], to); !s) return s;
    }
    for (std::size_t i = 0; i < g.value_count(); ++i) {
      const detail::graph_value& v = g[value_id(i)];
      if (v.is_input || v.is_output || v.outer != value_id::none) continue;
      const bool says_more = !v.doc_string.empty() || !v.metadata.empty() || !v.unknown.empty();
      if (is_initializer[i] ? says_more : has_info(v) && v.producer != node_id::none)
        write_info(v, v.name, *to.add_value_info());
    }
    return write_nodes(g, *to.mutable_node());
  }

  status write_initializer(const detail::graph_value& v, onnx::GraphProto& to) {
    if (!v.constant) return failed(status_code::invalid_graph, "initializer '{}' has no data", v.name);
    if (v.constant->kind == value_kind::sparse_tensor) {
      auto& message = *to.add_sparse_initializer();
      restore(v.constant_unknown, message);
      message.mutable_values()->set_name(std::string{v.name});
      return tensors_.write(*v.constant, message);
    }
    auto& message = *to.add_initializer();
    restore(v.constant_unknown, message);
    message.set_name(std::string{v.name});
    return tensors_.write_initializer(*v.constant, message);
  }

  static bool has_info(const detail::graph_value& v) {
    return v.outer == value_id::none && ((v.type && v.type->kind != type_kind::unknown) || v.declared ||
                                         !v.doc_string.empty() || !v.metadata.empty() || !v.unknown.empty());
  }

  void write_info(const detail::graph_value& v, std::string_view name, onnx::ValueInfoProto& to) {
    restore(v.unknown, to);
    to.set_name(std::string{name});
    if (!v.doc_string.empty()) to.set_doc_string(std::string{v.doc_string});
    add_properties(v.metadata, 4, *to.mutable_unknown_fields());
    if (v.type || v.declared) write_type(detail::described_type(v), model_, *to.mutable_type());
  }

  status write_nodes(const graph& g, pb::RepeatedPtrField<onnx::NodeProto>& to) {
    std::vector<node_id> order;
    for (std::size_t i = 0; i < g.node_capacity(); ++i)
      if (!g[node_id(i)].removed) order.push_back(node_id(i));
    if (g.order().size() == order.size()) order.assign(g.order().begin(), g.order().end());
    for (node_id n : order)
      if (status s = write_node(g, n, *to.Add()); !s) return std::move(s).in(describe(g, g[n]));
    return status_code::ok;
  }

  status write_node(const graph& g, node_id id, onnx::NodeProto& to) {
    const detail::graph_node& n = g[id];
    restore(n.unknown, to);
    pb::UnknownFieldSet& newer = *to.mutable_unknown_fields();
    if (!n.name.empty()) to.set_name(std::string{n.name});
    to.set_op_type(std::string{n.op_type});
    if (!n.domain.empty()) to.set_domain(std::string{n.domain});
    if (!n.doc_string.empty()) to.set_doc_string(std::string{n.doc_string});
    if (!n.overload.empty()) newer.AddLengthDelimited(8, std::string{n.overload});
    add_properties(n.metadata, 9, newer);
    for (std::size_t i = 0; i < n.input_count; ++i) to.add_input(std::string{name_of(&g, g.input(id, i))});
    for (value_id v : n.outputs) to.add_output(std::string{v == value_id::none ? std::string_view{} : g[v].name});
    for (const attribute& a : n.attributes)
      if (status s = write_attribute(a, n.subgraphs, *to.add_attribute()); !s)
        return std::move(s).in(fmt::format("attribute '{}'", a.name));
    return status_code::ok;
  }

  status write_subgraph(std::int64_t number, std::span<graph* const> subgraphs, onnx::GraphProto& to) {
    if (number < 0 || std::size_t(number) >= subgraphs.size())
      return failed(status_code::invalid_graph, "there is no subgraph {}", number);
    return write_graph(*subgraphs[std::size_t(number)], to);
  }

  status write_attribute(const attribute& a, std::span<graph* const> subgraphs, onnx::AttributeProto& to) {
    restore(a.unknown, to);
    to.set_name(std::string{a.name});
    if (!a.doc_string.empty()) to.set_doc_string(std::string{a.doc_string});
    to.set_type(onnx::AttributeProto_AttributeType(int(a.kind)));
    if (!a.ref_attr_name.empty()) {
      to.set_ref_attr_name(std::string{a.ref_attr_name});
      return status_code::ok;
    }
    switch (a.kind) {
      case attribute_kind::f: to.set_f(a.f); break;
      case attribute_kind::i: to.set_i(a.i); break;
      case attribute_kind::s: to.set_s(std::string{a.s}); break;
      case attribute_kind::floats: to.mutable_floats()->Add(a.floats.begin(), a.floats.end()); break;
      case attribute_kind::ints: to.mutable_ints()->Add(a.ints.begin(), a.ints.end()); break;
      case attribute_kind::strings:
        for (std::string_view words : a.strings) to.add_strings(std::string{words});
        break;
      case attribute_kind::g: return write_subgraph(a.i, subgraphs, *to.mutable_g());
      case attribute_kind::graphs:
        for (std::int64_t number : a.ints)
          if (status s = write_subgraph(number, subgraphs, *to.add_graphs()); !s) return s;
        break;
      case attribute_kind::type_proto:
      case attribute_kind::type_protos:
        for (std::size_t i = 0; i < a.types.size(); ++i)
          write_type(*a.types[i], model_,
                     a.kind == attribute_kind::type_proto ? *to.mutable_tp() : at_or_add(*to.mutable_type_protos(), i));
        break;
      default: return write_tensors(a, to);
    }
    return status_code::ok;
  }

  status write_tensors(const attribute& a, onnx::AttributeProto& to) {
    for (std::size_t i = 0; i < a.tensors.size(); ++i) {
      status s;
      if (a.kind == attribute_kind::t) s = tensors_.write(a.tensors[i], *to.mutable_t());
      if (a.kind == attribute_kind::tensors) s = tensors_.write(a.tensors[i], at_or_add(*to.mutable_tensors(), i));
      if (a.kind == attribute_kind::sparse_tensor) s = tensors_.write(a.tensors[i], *to.mutable_sparse_tensor());
      if (a.kind == attribute_kind::sparse_tensors)
        s = tensors_.write(a.tensors[i], at_or_add(*to.mutable_sparse_tensors(), i));
      if (!s) return s;
    }
    return status_code::ok;
  }

  const model& model_;
  tensor_writer& tensors_;
};

status too_large() {
  return {status_code::invalid_argument,
          "the model is over 2 GB, more than protobuf allows; use external data (write_options.external_data)"};
}

/// An estimate of the memory that protobuf needs for attributes, nodes and graphs without weights: objects, and texts
/// and lists twice, in the message and in the file.
std::size_t bytes_to_write(const graph& g) {
  std::size_t bytes = 4096;
  for (std::size_t v = 0; v < g.value_count(); ++v) bytes += 512 + 2 * g[value_id(v)].name.size();
  for (node_id n : g.order()) {
    const detail::graph_node& node = g[n];
    bytes += 512 + 2 * (node.name.size() + node.op_type.size() + node.doc_string.size() + node.unknown.size());
    for (const attribute& a : node.attributes) {
      bytes += 512 + 2 * (a.name.size() + a.s.size()) + 24 * a.ints.size() + 12 * a.floats.size();
      for (std::string_view each : a.strings) bytes += 64 + 2 * each.size();
      bytes += 512 * a.tensors.size();
    }
    for (const graph* body : node.subgraphs) bytes += bytes_to_write(*body);
  }
  return bytes;
}

result<std::string> message_of(const model& from, tensor_writer& tensors) {
  std::size_t bytes = (std::size_t{1} << 16) + bytes_to_write(from.main());
  for (const function& each : from.functions)
    if (each.body) bytes += bytes_to_write(*each.body);
  const memory_reserve spare{bytes};
  onnx::ModelProto message;
  if (status s = onnx_writer{from, tensors}.write(message); !s) return s;
  if (message.ByteSizeLong() > std::size_t{INT_MAX}) return too_large();
  std::string text = message.SerializeAsString();
  if (spare.is_used()) return status_code::out_of_memory;
  return text;
}

/// The message in spans that borrow the model's weights and the data that `tensors` packed.
result<wire_pieces> pieces_of(const model& from, tensor_writer& tensors) {
  std::vector<std::span<const std::byte>> raw;
  tensors.raw = &raw;
  const result<std::string> message = message_of(from, tensors);
  if (!message) return message.error();
  result<wire_pieces> pieces = insert_raw_data(*message, raw);
  if (!pieces) return pieces;
  pieces->text.append(from.unknown);
  if (pieces->size() > std::size_t{INT_MAX}) return too_large();
  return pieces;
}

status check_options(const write_options& options) {
  const std::string& file = options.external_data;
  if (file.find_first_of("/\\") != std::string::npos || file == "." || file == "..")
    return failed(status_code::invalid_argument, "external data '{}' must be a separate file beside the model", file);
  if (options.external_alignment & (options.external_alignment - 1))
    return failed(status_code::invalid_argument, "the alignment of external data is {}; it must be a power of two",
                  options.external_alignment);
  if (!file.empty() && options.place)
    return failed(status_code::invalid_argument,
                  "initializers go either to the file '{}' or to the places of a function, not to both", file);
  return {};
}

/// Writes a message in spans. `name` is the model's name in messages.
status write_pieces(const model& from, std::string_view name, const std::string& folder, const write_options& options,
                    detail::function_ref<status(const wire_pieces&)> to) {
  return guarded([&]() -> status {
    tensor_writer tensors;
    if (status s = check_options(options); !s) return std::move(s).in(name);
    tensors.options = options;
    result<wire_pieces> pieces = pieces_of(from, tensors);
    if (!pieces) return std::move(pieces).error().in(name);
    // External data is written first: a model without its data would be worse than no model.
    const auto external = [&](byte_sink append) -> status {
      for (std::span<const std::byte> piece : tensors.external)
        if (status s = append(piece); !s) return s;
      return {};
    };
    if (!tensors.external.empty())
      if (status s = options.external_to ? options.external_to(external)
                                         : write_file_atomically(folder + options.external_data, external);
          !s)
        return s;
    return to(*pieces);
  });
}

}  // namespace

status write_onnx(const model& from, const std::string& path, const write_options& options) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (!options.external_data.empty() && folder + options.external_data == path)
    return failed(status_code::invalid_argument, "{}: external data '{}' must be a separate file beside the model",
                  path, options.external_data);
  return guarded([&]() -> status {
    file_batch files;
    write_options together = options;
    if (!options.external_data.empty() && !options.external_to)
      together.external_to = [&](detail::function_ref<status(byte_sink)> produce) {
        return files.add(folder + options.external_data, produce);
      };
    const auto all_at_once = [&](const wire_pieces& made) {
      return files.add(path, [&](byte_sink append) -> status {
        for (std::span<const std::byte> piece : made.spans())
          if (status s = append(piece); !s) return s;
        return {};
      });
    };
    status done = write_pieces(from, path, folder, together, all_at_once);
    return done ? files.commit() : done;
  });
}

status write_onnx(const model& from, byte_sink to, const std::string& folder, const write_options& options) {
  const auto one_by_one = [&](const wire_pieces& made) -> status {
    for (std::span<const std::byte> piece : made.spans())
      if (status s = to(piece); !s) return s;
    return {};
  };
  return write_pieces(from, "the model", folder, options, one_by_one);
}

result<std::string> write_onnx(const model& from) {
  return guarded([&]() -> result<std::string> {
    tensor_writer tensors;
    result<wire_pieces> pieces = pieces_of(from, tensors);
    if (!pieces) return pieces.error();
    return pieces->joined();
  });
}

}  // namespace CAMEO_NAMESPACE
