#include <cameo/graph/model.hpp>
#include <cameo/os/heap_arena.hpp>

#include "ort_reader.hpp"

#include "../graph/oddities.hpp"
#include "dim_denotations.hpp"
#include "tensor_bytes.hpp"

#include <algorithm>
#include <set>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t small_in_ort = 127;  // copying smaller tensors is cheaper than keeping their pages in use

value_id id_of(std::uint32_t number) { return value_id{number - 1}; }  // 0: none
std::uint32_t number_of(value_id v) { return std::uint32_t(v) + 1; }

std::string_view symbol_of(const ort::table_view& dimension) {
  const ort::table_view d = dimension.table(ort::dimension::value);
  return d.number<std::int8_t>(ort::dimension_value::dim_type) == 2 ? d.text(ort::dimension_value::dim_param) : "";
}

result<value_type> read_type(const ort::table_view& from, model& owner) {
  ort::type_parts parts;
  value_type made;
  if (status s = ort::read_type(from, made.kind, made.type, parts); !s) return s;
  made.denotation = from.text(ort::type_info::denotation);
  if (parts.held) {
    result<value_type> of = read_type(parts.held, owner);
    if (!of) return of;
    made.element = std::make_shared<const value_type>(*std::move(of));
  }
  if (parts.shape) made.shape.emplace();
  const ort::vector_view dims = parts.shape.vector(ort::shape::dim);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t size = 0;
    if (status s = ort::read_dim(dims.table(i), size); !s) return s;
    const std::string_view symbol = symbol_of(dims.table(i));
    if (size >= 0) made.shape->push_back(dim::fixed(size));
    else if (!symbol.empty()) made.shape->push_back(dim::named(owner.symbol(symbol)));
    else made.shape->push_back({});
  }
  return made;
}

/// The denotations of the dims of a type that was read; empty if there are none.
std::string denotations_of(const ort::table_view& type) {
  if (type.number<std::uint8_t>(ort::type_info::value_type) != ort::type_info_value::tensor_type) return {};
  const ort::table_view shape = type.table(ort::type_info::value).table(ort::tensor_type::shape);
  const ort::vector_view dims = shape.vector(ort::shape::dim);
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < dims.size(); ++i) words.push_back(dims.table(i).text(ort::dimension::denotation));
  return keep_dim_denotations(words);
}

}  // namespace

// --- model ---

status ort_graph_sink::read(const ort::table_view& root) {
  ort::file_head head;
  if (status s = ort::read_head(root, scratch, head); !s) return s;
  version_ = head.version;
  if (!head.resolver && version_ >= ort::first_with_resolver)
    tolerate(model_, oddity::no_resolver,
             "InferenceSession.kernel_type_str_resolver is missing; ONNX Runtime refuses the file");
  read_model(head);
  opsets = head.opsets;
  // Graphs have no names in the file, but ONNX requires them.
  return ort::walk<ort_graph_sink>::graph(*this, head.model.table(ort::model::graph), nullptr, "main").error();
}

/// Reads the model's opsets and properties. Of two opsets with the same domain the last is used; of two metadata
/// properties with the same key, the first.
void ort_graph_sink::read_model(const ort::file_head& head) {
  for (std::size_t i = 0; i < head.opsets.size(); ++i) {
    std::string_view domain = head.opsets.table(i).text(ort::opset::domain);
    if (domain == "ai.onnx") domain = {};
    const auto same = std::find_if(model_.imports.begin(), model_.imports.end(),
                                   [&](const opset_import& import) { return import.domain == domain; });
    const auto opset = head.opsets.table(i).number<std::int64_t>(ort::opset::version);
    if (same != model_.imports.end()) same->version = opset;
    else model_.imports.push_back({domain, opset});
  }
  const ort::vector_view entries = head.model.vector(ort::model::metadata_props);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string_view key = entries.table(i).text(ort::entry::key);
    if (seen.insert(key).second) model_.metadata.emplace_back(key, entries.table(i).text(ort::entry::value));
  }
  model_.ir_version = head.model.number<std::int64_t>(ort::model::ir_version);
  model_.model_version = head.model.number<std::int64_t>(ort::model::model_version);
  model_.producer_name = head.model.text(ort::model::producer_name);
  model_.producer_version = head.model.text(ort::model::producer_version);
  model_.domain = head.model.text(ort::model::domain);
  model_.doc_string = head.model.text(ort::model::doc_string);
  model_.main().doc_string = head.model.text(ort::model::graph_doc_string);
}

// --- values ---

status ort_graph_sink::begin(scope& in, std::string_view name) {
  if (in.depth > limits_.graph_depth)
    return failed(status_code::invalid_graph, "subgraphs are nested more than {} deep", limits_.graph_depth);
  in.made = in.outer ? &model_.add_graph(static_cast<scope*>(in.outer)->made) : &model_.main();
  in.made->name = name;
  return {};
}

/// Defines a value with the type in the file.
result<std::uint32_t> ort_graph_sink::define(scope& in, std::string_view name, const ort::table_view& info) {
  const ort::table_view from = info.table(ort::value_info::type);
  result<value_type> type = read_type(from, model_);
  if (!type) return std::move(type).error().in(fmt::format("ValueInfo.type of '{}'", name));
  const value_id made = in.made->add_value(name, model_.keep(*std::move(type)));
  detail::graph_value& v = (*in.made)[made];
  v.doc_string = info.text(ort::value_info::doc_string);
  if (const std::string words = denotations_of(from); !words.empty())
    v.unknown = or_throw(memory.copy(std::string_view{words}));
  return number_of(made);
}

status ort_graph_sink::input(scope& in, std::uint32_t number) { return in.made->add_input(id_of(number)), status{}; }

status ort_graph_sink::output(scope& in, std::uint32_t number) { return in.made->add_output(id_of(number)), status{}; }

status ort_graph_sink::constant(scope& in, std::uint32_t number, const value& constant) {
  detail::graph_value& v = (*in.made)[id_of(number)];
  const value_type& declared = *v.type;
  if (status fits = ort::check_declared(declared.kind, declared.type, constant, v.name); !fits) return fits;
  value placed = constant;
  if (status s = place(placed); !s) return std::move(s).in("Graph.initializers");
  const value* const kept_value = kept(std::vector<value>{placed}).data();
  if (v.constant) {
    tolerate(model_, oddity::initializer_twice, "initializer '{}' is given twice; the last one counts", v.name);
    v.constant = kept_value;
    return {};
  }
  in.made->add_initializer(id_of(number), kept_value);
  if (v.is_input) return {};
  value_type type;  // a declared shape is a hint; this is the actual shape
  type.kind = type_kind::tensor;
  type.type = constant.type;
  type.denotation = declared.denotation;
  type.shape.emplace();
  for (std::int64_t d : constant.shape) type.shape->push_back(dim::fixed(d));
  v.type = model_.keep(std::move(type));
  return {};
}

std::uint32_t ort_graph_sink::passed(scope& in, std::string_view name) const { return number_of(in.made->find(name)); }

result<std::uint32_t> ort_graph_sink::take_in(scope& in, std::string_view name, std::uint32_t, bool) {
  return number_of(in.made->resolve(name));
}

std::size_t ort_graph_sink::most() const { return limits_.model_bytes - std::min(limits_.model_bytes, memory.used()); }

/// Strings and dense copies of sparse tensors are in the model's memory already.
status ort_graph_sink::place(value& v) {
  if (v.type == dtype::string) return {};
  const result<value> made = place_tensor(memory, limits_.model_bytes, v,
                                          {static_cast<const std::byte*>(v.data), v.bytes()}, true, small_in_ort, 0);
  if (made) v = *made;
  return made.error();
}

// --- nodes ---

result<std::span<ort_graph_sink::node_type>> ort_graph_sink::nodes(scope& in) {
  in.made->reserve(in.args.size(), in.nodes.size(), 2 * in.nodes.size());
  return scratch.take<node_type>(in.nodes.size());
}

status ort_graph_sink::node(scope& in, const ort::table_view& from, node_type& read) {
  std::vector<value_id> inputs, outputs;
  for (std::uint32_t number : read.inputs) inputs.push_back(id_of(number));
  for (std::uint32_t number : read.outputs) outputs.push_back(id_of(number));
  node_spec spec;
  spec.name = from.text(ort::node::name);
  spec.doc_string = from.text(ort::node::doc_string);
  spec.op_type = from.text(ort::node::op_type);
  spec.domain = from.text(ort::node::domain);
  spec.opset = model_.opset(spec.domain);
  spec.inputs = inputs;
  spec.outputs = outputs;
  spec.attributes = read.attributes;
  spec.subgraphs = read.subgraphs;
  in.ids.push_back(in.made->add_node(spec));
  return {};
}

// --- saved optimizations ---

/// Errors are reported when the optimizations are replayed: the graph is complete without them.
status ort_graph_sink::end(scope& in) {
  const status done = read_optimizations(in);
  if (done || done.code() == status_code::out_of_memory) return done;
  in.made->saved_problem = or_throw(memory.copy(done.words()));
  model_.warnings.push_back(fmt::format("saved optimizations are left out: {}", done.words()));
  return {};
}

status ort_graph_sink::read_optimizations(scope& in) {
  if (in.source.table(ort::graph::runtime_optimizations).vector(ort::optimizations::records).size() == 0) return {};
  if (version_ < ort::first_with_resolver) {
    model_.warnings.push_back(
        fmt::format("saved optimizations of format version {} are ignored: only versions from {} on can be replayed; "
                    "writing the model again gives version {}",
                    version_, ort::first_with_resolver, ort::newest_version));
    return {};
  }
  const result<ort::vector_view> optimizers = ort::read_optimizers(in, scratch);
  if (!optimizers) return optimizers.error();
  std::vector<detail::saved_optimization> made;
  for (std::size_t o = 0; o < optimizers->size(); ++o) {
    const ort::vector_view records = optimizers->table(o).vector(ort::optimizer::runtime_optimization_records);
    for (std::size_t r = 0; r < records.size(); ++r) {
      detail::saved_optimization saved;
      saved.optimizer = optimizers->table(o).text(ort::optimizer::optimizer_name);
      const result<bool> whole = read_record(records.table(r), in, saved);
      if (!whole) return status{whole.error()}.in(fmt::format("record {} of optimizer '{}'", r, saved.optimizer));
      if (*whole) made.push_back(saved);
    }
  }
  in.made->saved_optimizations = kept(made);
  in.made->hold_saved();
  return {};
}

/// Reads a record. False if it is about nodes that were removed before the file was written.
result<bool> ort_graph_sink::read_record(const ort::table_view& from, const scope& in, detail::saved_optimization& to) {
  namespace indices = ort::indices;
  const result<ort::record_view> record = ort::read_record(from, in);
  if (!record) return record.error();
  const auto number = [&](indices::slot slot) { return record->group.number<std::uint32_t>(slot); };
  const auto flag = [&](indices::slot slot) { return record->group.number<std::uint8_t>(slot) != 0; };
  to.action = record->action;
  to.inputs = number(indices::num_inputs);
  to.outputs = number(indices::num_outputs);
  to.variadic_input = flag(indices::has_variadic_input);
  to.variadic_output = flag(indices::has_variadic_output);
  to.variadic_inputs = number(indices::num_variadic_inputs);
  to.variadic_outputs = number(indices::num_variadic_outputs);
  std::vector<node_id> nodes;
  for (std::size_t i = 0; i < record->nodes.size(); ++i) {
    const auto index = record->nodes.number<std::uint32_t>(i);
    const std::uint32_t at = index == ort::no_node ? ort::no_node : in.node_at(index);
    if (index != ort::no_node && at == ort::no_node) return false;
    nodes.push_back(at == ort::no_node ? node_id::none : in.ids[at]);
  }
  to.nodes = kept(nodes);
  std::vector<std::string_view> made;
  for (std::size_t i = 0; i < record->makes.size(); ++i) made.push_back(record->makes.text(i));
  to.produces = kept(made);
  return true;
}

// --- entry points ---

namespace {

status read_bytes(model& to, std::span<const std::byte> bytes, const read_options& options) {
  result<ort::table_view> root = ort::verify(bytes);
  if (!root) return std::move(root).error();
  detail::heap_arena scratch;
  return ort_graph_sink{to, options.limits, scratch}.read(*root);
}

}  // namespace

result<std::unique_ptr<model>> read_ort(const std::string& path, const read_options& options) {
  return guarded([&]() -> result<std::unique_ptr<model>> {
    auto file =
        options.file ? result<std::shared_ptr<const detail::file_bytes>>{options.file} : detail::file_bytes::map(path);
    if (!file) return file.error();
    auto made = std::make_unique<model>();
    made->files.push_back(*file);
    made->path = path;
    status s = read_bytes(*made, (*file)->bytes(), options);
    return s ? result<std::unique_ptr<model>>{std::move(made)} : std::move(s).in(path);
  });
}

result<std::unique_ptr<model>> read_ort(std::span<const std::byte> bytes, std::string_view name,
                                        const read_options& options) {
  return guarded([&]() -> result<std::unique_ptr<model>> {
    auto made = std::make_unique<model>();
    status s = read_bytes(*made, bytes, options);
    return s ? result<std::unique_ptr<model>>{std::move(made)} : std::move(s).in(name);
  });
}

result<std::unique_ptr<model>> ort_format::read(const std::string& path, const read_options& options) {
  return read_ort(path, options);
}
result<std::unique_ptr<model>> ort_format::read(std::span<const std::byte> bytes, std::string_view called,
                                                const read_options& options) {
  return read_ort(bytes, called, options);
}
std::vector<std::string> ort_format::dim_denotations(std::string_view unknown) {
  return onnx_format::dim_denotations(unknown);
}

bool ort_format::recognizes(std::span<const std::byte> bytes, std::string_view path) {
  if (path.empty()) return bytes.size() > 8 && ort::has_identifier(bytes);
  const std::string_view end = path.substr(path.size() - std::min<std::size_t>(4, path.size()));
  return end.size() == 4 && end[0] == '.' && (end[1] | 32) == 'o' && (end[2] | 32) == 'r' && (end[3] | 32) == 't';
}

}  // namespace CAMEO_NAMESPACE
