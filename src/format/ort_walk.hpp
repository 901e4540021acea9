#pragma once
// The only traversal of the tables of an ORT file. It passes what it reads to a sink, which makes a graph or a draft.
#include <cameo/op/attribute.hpp>

#include "ort_checks.hpp"
#include "ort_constant.hpp"

#include <concepts>
#include <iterator>

namespace CAMEO_NAMESPACE::ort {

/// The common part of all sinks.
struct sink_base {
  arena& memory;
  arena& scratch;
  const checks* file_checks;  // null: the file is trusted
  vector_view opsets = {};
};

/// Receives the parts of graphs. Values are numbers of the graph in `scope`, from 1 on. A sink's scope is an ort::scope
/// with `made`, which points to what the sink makes of the graph; its node type has inputs, outputs, attributes and
/// subgraphs.
template <class S>
concept sink =
    std::derived_from<S, sink_base> && std::derived_from<typename S::scope, scope> &&
    requires(S& to, typename S::scope& in, typename S::node_type& node, const table_view& table, std::string_view name,
             std::uint32_t value, const cameo::value& constant, cameo::value& of_attribute) {
      { to.begin(in, name) } -> std::same_as<status>;
      { to.define(in, name, table) } -> std::same_as<result<std::uint32_t>>;  // by a ValueInfo
      { to.input(in, value) } -> std::same_as<status>;
      { to.constant(in, value, constant) } -> std::same_as<status>;
      // A value of the outer graph that is read here. Without an entry in node_args it is not `listed`.
      { to.passed(in, name) } -> std::same_as<std::uint32_t>;
      { to.take_in(in, name, value, true) } -> std::same_as<result<std::uint32_t>>;
      {
        to.nodes(in)
      } -> std::same_as<result<std::span<typename S::node_type>>>;  // space for as many nodes as the
                                                                    // file has
      { to.node(in, table, node) } -> std::same_as<status>;
      { to.place(of_attribute) } -> std::same_as<status>;
      { to.most() } -> std::same_as<std::size_t>;  // bytes that constants may still take
      { to.end_of_nodes(in) } -> std::same_as<status>;
      { to.output(in, value) } -> std::same_as<status>;
      { to.end(in) } -> std::same_as<status>;
    };

/// The traversal. What it makes for a sink lies in the sink's memory, or in `scratch` if it is temporary.
template <sink Sink>
class walk {
 public:
  using scope = typename Sink::scope;
  using graph_type = std::remove_pointer_t<decltype(scope::made)>;

  /// Reads a graph. `outer` is the graph whose node has it; null for the main graph.
  static result<graph_type*> graph(Sink& out, const table_view& from, scope* outer, std::string_view name) {
    scope in{from, outer, out.scratch};
    const result<std::span<std::uint32_t>> values = out.scratch.template take<std::uint32_t>(in.args.size());
    if (!values) return status_code::out_of_memory;
    in.values = *values;
    status s = out.file_checks ? out.file_checks->args(in, out.scratch) : status{};
    if (s) s = out.begin(in, name);
    if (s) s = inputs(out, in);
    if (s) s = initializers(out, in);
    if (s) s = nodes(out, in);
    if (s && out.file_checks) s = out.file_checks->edges(in);
    if (s) s = outputs(out, in);
    if (s) s = out.end(in);
    return s ? result<graph_type*>{in.made} : result<graph_type*>{std::move(s)};
  }

 private:
  using node_type = typename Sink::node_type;

  // --- names ---

  static std::uint32_t find(const Sink& out, const scope& in, std::string_view name) {
    return ort::find(out.file_checks, in, name);
  }
  /// A new value with the type in the file.
  static result<std::uint32_t> define(Sink& out, scope& in, std::string_view name, std::string_view what) {
    if (name.empty()) return wrong(status_code::invalid_graph, what, " has no name");
    const std::uint32_t found = find(out, in, name);
    if (found == none) return wrong(status_code::fail, what, ": Graph.node_args has no '", name, "'");
    if (in.values[found])
      return wrong(status_code::invalid_graph, "'", name, "' is defined twice, here as ", what,
                   "; a graph defines a name once");
    result<std::uint32_t> made = out.define(in, name, in.args.table(found));
    if (made) in.values[found] = *made;
    return made;
  }
  /// A value that exists, or a value of an outer scope, which becomes a capture.
  static result<std::uint32_t> resolve(Sink& out, scope& in, std::string_view name, std::string_view what) {
    const std::uint32_t found = find(out, in, name);
    if (found != none && in.values[found]) return in.values[found];
    if (found == none)
      if (const std::uint32_t made = out.passed(in, name)) return made;
    if (!in.outer || name.empty())
      return wrong(status_code::invalid_graph, what, ": no node, input or initializer makes '", name, "'");
    const result<std::uint32_t> outside = resolve(out, *static_cast<scope*>(in.outer), name, what);
    if (!outside) return outside.error();
    result<std::uint32_t> made = out.take_in(in, name, *outside, found != none);
    if (made && found != none) in.values[found] = *made;
    return made;
  }

  // --- inputs, initializers, outputs ---

  static status inputs(Sink& out, scope& in) {
    const vector_view names = in.source.vector(graph::inputs);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const result<std::uint32_t> made = define(out, in, names.text(i), "Graph.inputs");
      if (!made) return made.error();
      if (status s = out.input(in, *made); !s) return s;
    }
    return {};
  }

  static status initializer(Sink& out, scope& in, std::string_view name, const result<value>& constant) {
    if (!constant) return status{constant.error()}.in("Graph.initializers");
    if (name.empty()) return missing("Graph.initializers: Tensor.name");
    const std::uint32_t found = find(out, in, name);
    if (found == none)
      return wrong(status_code::invalid_graph, "initializer '", name, "': Graph.node_args does not have it");
    if (!in.values[found])
      if (const result<std::uint32_t> made = define(out, in, name, "an initializer"); !made) return made.error();
    return out.constant(in, in.values[found], *constant);
  }

  static status initializers(Sink& out, scope& in) {
    const vector_view dense = in.source.vector(graph::initializers);
    for (std::size_t i = 0; i < dense.size(); ++i) {
      const std::string_view name = dense.table(i).text(tensor::name);
      if (status s = initializer(out, in, name, read_constant(dense.table(i), name, out.memory, out.most())); !s)
        return s;
    }
    const vector_view sparse = in.source.vector(graph::sparse_initializers);
    for (std::size_t i = 0; out.file_checks && i < sparse.size(); ++i) {
      const std::string_view name = sparse.table(i).table(sparse_tensor::values).text(tensor::name);
      if (status s = initializer(out, in, name, out.file_checks->sparse(sparse.table(i), name, out.memory, out.most()));
          !s)
        return s;
    }
    return {};
  }

  static status outputs(Sink& out, scope& in) {
    const vector_view names = in.source.vector(graph::outputs);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const result<std::uint32_t> v = resolve(out, in, names.text(i), "Graph.outputs");
      if (!v) return v.error();
      if (status s = out.output(in, *v); !s) return s;
    }
    return {};
  }

  // --- nodes ---

  /// Defines the outputs of all nodes first: files of other programs need not be in order of execution.
  static status nodes(Sink& out, scope& in) {
    if (out.file_checks)
      if (status s = out.file_checks->indices(in, out.scratch); !s) return s;
    const result<std::span<node_type>> made = out.nodes(in);
    if (!made) return made.error();
    for (const bool makes : {true, false})
      for (std::size_t i = 0; i < made->size(); ++i) {
        const table_view from = in.nodes.table(i);
        node_type& to = (*made)[i];
        status s = makes ? values(out, from.vector(node::outputs), in, true, to.outputs) : node(out, from, in, to);
        if (!s) return in_node(std::move(s), from);
      }
    return out.end_of_nodes(in);
  }

  /// Finds the values with these names, which the node makes or reads.
  static status values(Sink& out, const vector_view& names, scope& in, bool makes, std::span<const std::uint32_t>& to) {
    const result<std::span<std::uint32_t>> made = out.scratch.template take<std::uint32_t>(names.size());
    if (!made) return status_code::out_of_memory;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names.text(i);
      if (name.empty()) continue;
      const result<std::uint32_t> v =
          makes ? define(out, in, name, "Node.outputs") : resolve(out, in, name, "Node.inputs");
      if (!v) return v.error();
      (*made)[i] = *v;
    }
    to = *made;
    return {};
  }

  static status node(Sink& out, const table_view& from, scope& in, node_type& to) {
    status s = out.file_checks ? out.file_checks->node(from, in, out.opsets) : status{};
    if (s) s = values(out, from.vector(node::inputs), in, false, to.inputs);
    if (s) s = attributes(out, from, in, to);
    return s ? out.node(in, from, to) : std::move(s);
  }

  // --- attributes ---

  using graph_list = detail::arena_vector<graph_type*>;

  /// Reads the attributes of a node. If two attributes have the same name, the last one is used.
  static status attributes(Sink& out, const table_view& from, scope& in, node_type& to) {
    constexpr std::size_t most = 1024;  // each is compared with all later ones
    const vector_view all = from.vector(node::attributes);
    if (all.size() > most) return wrong(status_code::not_implemented, "more than 1024 attributes");
    detail::arena_vector<cameo::attribute> made{out.scratch};
    graph_list subgraphs{out.scratch};
    if (all.size() && !made.reserve(all.size())) return status_code::out_of_memory;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string_view name = all.table(i).text(ort::attribute::name);
      if (name.empty()) return wrong(status_code::invalid_graph, "Node.attributes: Attribute.name is missing");
      bool is_last = true;
      for (std::size_t j = i + 1; j < all.size() && is_last; ++j)
        is_last = all.table(j).text(ort::attribute::name) != name;
      if (!is_last) continue;
      cameo::attribute a;
      a.name = name;
      if (status s = read_attribute(out, all.table(i), in, a, subgraphs); !s) return std::move(s).in(name);
      if (!made.push_back(a)) return status_code::out_of_memory;
    }
    to.attributes = made.span();
    to.subgraphs = subgraphs.span();
    return {};
  }

  static status read_attribute(Sink& out, const table_view& from, scope& in, cameo::attribute& to,
                               graph_list& subgraphs) {
    namespace field = ort::attribute;
    static constexpr std::uint8_t slots[] = {field::name, field::f,      field::i,    field::s,       field::t,
                                             field::g,    field::floats, field::ints, field::strings, field::tensors};
    const auto type = from.number<std::int32_t>(field::type);
    if (type < 1 || std::size_t(type) >= std::size(slots))
      return wrong(status_code::invalid_graph, "Attribute.type ", type, " can't be in a file, 1 to 9 can");
    to.kind = attribute_kind(type);
    if constexpr (Sink::keeps_documents) to.doc_string = from.text(field::doc_string);
    const std::size_t slot = slots[type];
    const vector_view many = from.vector(slot);
    if (type > 2 && !from.has(slot)) return missing("the Attribute's value");
    switch (to.kind) {
      case attribute_kind::f: to.f = from.number<float>(slot); return {};
      case attribute_kind::i: to.i = from.number<std::int64_t>(slot); return {};
      case attribute_kind::s: to.s = from.text(slot); return {};
      case attribute_kind::floats: return numbers(out, many, to.floats);
      case attribute_kind::ints: return numbers(out, many, to.ints);
      case attribute_kind::strings: {
        const result<std::span<std::string_view>> made = read_texts(many, out.memory);
        if (made) to.strings = *made;
        return made.error();
      }
      case attribute_kind::g: {
        to.i = std::int64_t(subgraphs.size());
        const result<graph_type*> made = graph(out, from.table(slot), &in, to.name);
        if (!made) return made.error();
        return subgraphs.push_back(*made) ? status{} : status{status_code::out_of_memory};
      }
      default: return tensors(out, from, slot, to);  // one tensor, or several
    }
  }

  template <class T>
  static status numbers(Sink& out, const vector_view& from, std::span<const T>& to) {
    const result<const void*> made = read_numbers(from, sizeof(T), out.memory);
    if (made) to = {static_cast<const T*>(*made), from.size()};
    return made.error();
  }

  static status tensors(Sink& out, const table_view& from, std::size_t slot, cameo::attribute& to) {
    const bool single = to.kind == attribute_kind::t;
    const vector_view many = from.vector(slot);
    const result<std::span<value>> made = out.memory.template take<value>(single ? 1 : many.size());
    if (!made) return made.error();
    for (std::size_t i = 0; i < made->size(); ++i) {
      const result<value> each =
          read_constant(single ? from.table(slot) : many.table(i), to.name, out.memory, out.most());
      if (!each) return each.error();
      (*made)[i] = *each;
      if (status s = out.place((*made)[i]); !s) return s;
    }
    to.tensors = *made;
    return {};
  }
};

}  // namespace CAMEO_NAMESPACE::ort
