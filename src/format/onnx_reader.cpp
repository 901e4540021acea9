#include "onnx_reader.hpp"

#include "../graph/oddities.hpp"
#include "../graph/types.hpp"
#include "core/node_words.hpp"
#include "file/model_folders.hpp"

#include <cameo/op/op.hpp>
#include <cameo/os/heap_arena.hpp>

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

std::map<std::string_view, std::int64_t> by_domain(std::span<const opset_import> imports) {
  std::map<std::string_view, std::int64_t> map;
  for (const opset_import& import : imports) map.emplace(import.domain, import.version);
  return map;
}

/// ONNX's own domain has two spellings.
std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view{} : domain; }

/// The newest opset that cameo has of a domain; 0 if it has none.
std::int64_t newest_opset(std::string_view domain) {
  const auto known = detail::standard_domains();
  const auto row = std::ranges::find(known, domain, &detail::domain_row::name);
  return row == known.end() ? 0 : row->newest_opset;
}

}  // namespace

std::string describe(const wire::node_message& n) {
  node_words words{n.name, n.domain, n.op_type};
  for (wire::text output : n.output)
    if (words.output.empty()) words.output = output;
  return words.text();
}

// --- texts and properties ---

std::string_view onnx_reader::text(std::string_view words) { return or_throw(model_.memory.copy(words)); }

std::string_view onnx_reader::text_of(const wire::pieces& rest) {
  if (rest.size() == 1) return text(wire::text_of(*rest.begin()));
  std::string all;
  wire::put(all, rest);
  return text(all);
}

std::span<const detail::property> onnx_reader::properties(const entries& from) {
  if (from.empty()) return {};
  std::vector<detail::property> made;
  for (const wire::entry_message& entry : from) made.emplace_back(text(entry.key), text(entry.value));
  return kept(made);
}

// --- model ---

result<std::span<const opset_import>> onnx_reader::read_imports(const wire::chain<wire::opset_message>& from) {
  std::vector<opset_import> made;
  std::map<std::string_view, std::size_t> places;  // index in `made`, by domain
  for (const wire::opset_message& import : from) {
    const std::string_view domain = plain_domain(import.domain);
    const auto [place, is_new] = places.try_emplace(domain, made.size());
    if (is_new) made.push_back({text(domain), import.version});
    opset_import& same = made[place->second];
    if (same.version == import.version) continue;
    tolerate(model_, oddity::opset_twice, "domain '{}' is imported twice, with opsets {} and {}; the last counts",
             domain_name(domain), same.version, import.version);
    same.version = import.version;
  }
  for (const opset_import& import : made)
    if (import.version < 1)
      tolerate(model_, oddity::opset_below_one, "opset {} of domain '{}' is imported; opsets start at 1",
               import.version, domain_name(import.domain));
  return kept(made);
}

status onnx_reader::read(const wire::model_message& from) {
  if (!from.graph && !from.ir_version && from.opset_import.empty())
    return {status_code::invalid_argument, "it contains no part of a model: is it empty, or another file?"};
  if (!from.graph) return {status_code::invalid_argument, "no graph: an ONNX model has one in ModelProto.graph"};
  if (!from.ir_version)
    return {status_code::invalid_argument, "no ir_version: an ONNX model has one (10, for example)"};
  model_.ir_version = *from.ir_version;
  model_.model_version = from.model_version;
  model_.producer_name = text(from.producer_name);
  model_.producer_version = text(from.producer_version);
  model_.domain = text(from.domain);
  model_.doc_string = text(from.doc_string);
  result<std::span<const opset_import>> opsets = read_imports(from.opset_import);
  if (!opsets) return opsets.error();
  model_.imports.assign(opsets->begin(), opsets->end());
  if (model_.imports.empty() && model_.ir_version < 3) model_.imports.push_back({"", 1});
  const std::span<const detail::property> metadata = properties(from.metadata_props);
  model_.metadata.assign(metadata.begin(), metadata.end());
  model_.unknown = text_of(from.rest);

  for (const wire::function_message& f : from.functions)
    if (status s = read_head(f, model_.functions.emplace_back()); !s) return s;
  auto made = model_.functions.begin();
  for (const wire::function_message& f : from.functions)
    if (status s = read_body(f, *made++); !s) return s;
  return read_graph(*from.graph, model_.main(), by_domain(model_.imports));
}

// --- functions ---

status onnx_reader::read_head(const wire::function_message& from, function& to) {
  to.domain = text(plain_domain(from.domain));
  to.name = text(from.name);
  to.overload = text(from.overload);
  to.doc_string = text(from.doc_string);
  const auto where = [&] { return fmt::format("function '{}.{}'", domain_name(to.domain), to.name); };
  if (to.name.empty()) return {status_code::invalid_graph, "a function without a name"};
  if (!local_functions_.insert({to.domain, to.name, to.overload}).second)
    return failed(status_code::invalid_graph, "{} is defined twice; domain, name and overload must be unique", where());

  result<std::span<const opset_import>> opsets = read_imports(from.opset_import);
  if (!opsets) return std::move(opsets).error().in(where());
  to.imports = opsets->empty() ? kept(model_.imports) : *opsets;
  std::vector<std::string_view> names;
  for (wire::text name : from.attribute) names.push_back(text(name));
  to.attribute_names = kept(names);
  std::vector<attribute> defaults;
  std::vector<graph*> graphs;
  for (const wire::attribute_message& a : from.attribute_proto)
    if (status s = read_attribute(a, nullptr, defaults.emplace_back(), graphs); !s) return std::move(s).in(where());
  to.attribute_defaults = kept(defaults);
  to.metadata = properties(from.metadata_props);
  return status_code::ok;
}

status onnx_reader::read_body(const wire::function_message& from, function& to) {
  to.body = std::make_unique<graph>(model_, nullptr);
  to.body->name = to.name;
  const opset_map opsets = by_domain(to.imports);
  scope in{*to.body, opsets};
  const auto where = [&] { return fmt::format("function '{}.{}'", domain_name(to.domain), to.name); };
  for (wire::text name : from.input) {
    result<value_id> v = define(in, name, {"an input"});
    if (!v) return std::move(v).error().in(where());
    in.g.add_input(*v);
  }
  if (status s = read_nodes(from.node, in); !s) return std::move(s).in(where());
  for (wire::text name : from.output) {
    const value_id v = in.g.find(name);
    if (v == value_id::none)
      return failed(status_code::invalid_argument, "{}: output '{}' is not defined: no node or input has that name",
                    where(), name);
    in.g.add_output(v);
  }
  std::string rest;
  if (status s = read_value_infos(from.value_info, in.g, rest); !s) return std::move(s).in(where());
  wire::put(rest, from.rest);
  to.unknown = text(rest);
  return status_code::ok;
}

// --- graphs ---

result<value_id> onnx_reader::define(scope& in, std::string_view name, definer by, bool may_be_input) {
  const auto who = [](const definer& d) { return d.node ? describe(*d.node) : std::string{d.words}; };
  if (name.empty()) return failed(status_code::invalid_graph, "{} has no name", who(by));
  const value_id there = in.g.find(name);
  if (there == value_id::none) {
    in.definers.push_back(by);
    return in.g.add_value(name);
  }
  const detail::graph_value& other = in.g[there];
  if (may_be_input && other.is_input && !other.constant) return there;
  return failed(status_code::invalid_graph, "'{}' is defined twice: by {}{} and by {}; a graph defines a name once",
                name, who(in.definers[index_of(there)]), other.is_input && other.constant ? " and an initializer" : "",
                who(by));
}

status onnx_reader::read_graph(const wire::graph_message& from, graph& to, const opset_map& opsets) {
  to.name = text(from.name);
  to.doc_string = text(from.doc_string);
  to.metadata = properties(from.metadata_props);
  scope in{to, opsets};
  for (const wire::value_info_message& info : from.input) {
    result<value_id> v = define(in, info.name, {"a graph input"});
    if (!v) return v.error();
    to.add_input(*v);
    if (status s = read_value_info(info, to[*v]); !s)
      return std::move(s).in(fmt::format("graph input '{}'", info.name));
  }
  if (status s = read_initializers(from, in); !s) return s;
  if (status s = read_nodes(from.node, in); !s) return s;
  if (status s = read_outputs(from, in); !s) return s;
  std::string rest;
  if (status s = read_value_infos(from.value_info, to, rest); !s) return s;
  wire::put(rest, from.rest);
  to.unknown = text(rest);
  return status_code::ok;
}

namespace {

/// Adds the names of a graph's outputs, and of inputs of nodes in the graph and its subgraphs.
void add_names_read(const wire::graph_message& g, std::set<std::string_view>& to) {
  for (const wire::value_info_message& output : g.output) to.insert(output.name);
  for (const wire::node_message& n : g.node) {
    to.insert(n.input.begin(), n.input.end());
    for (const wire::attribute_message& a : n.attribute) {
      if (a.g) add_names_read(*a.g, to);
      for (const wire::graph_message& each : a.graphs) add_names_read(each, to);
    }
  }
}

std::string_view name_of(const wire::tensor_message& t) { return t.name; }
std::string_view name_of(const wire::sparse_tensor_message& t) { return t.values ? t.values->name : wire::text{}; }

/// True if the elements are not in the model's file.
bool is_external(const wire::tensor_message& t) { return t.data_location.number != 0; }
bool is_external(const wire::sparse_tensor_message& t) {
  return (t.values && is_external(*t.values)) || (t.indices && is_external(*t.indices));
}

}  // namespace

/// Replaces the data of an initializer by that of a later one with the same name. INVALID_GRAPH if type or shape
/// differ.
status onnx_reader::replace_initializer(detail::graph_value& v, const value& data) {
  if (v.constant->type != data.type || v.constant->shape != data.shape)
    return failed(status_code::invalid_graph, "'{}' is given twice, as {} and as {}", v.name,
                  type_of(*v.constant).to_string(), type_of(data).to_string());
  v.constant = kept(std::vector<value>{data}).data();
  return status_code::ok;
}

template <class Message>
status onnx_reader::read_initializer(const wire::graph_message& around, const Message& message, std::string_view name,
                                     scope& in) {
  if (name.empty()) {
    tolerate(model_, oddity::nameless_initializer, "an initializer of graph '{}' has no name; it is left out",
             in.g.name);
    return status_code::ok;
  }
  const value_id there = in.g.find(name);
  result<value> data = &in.g == &model_.main() ? tensors_.read_or_given(message, name) : tensors_.read(message);
  // A file outside of the model's folder is an error, even if nothing reads it.
  const bool is_inside = !is_external(message);
  if (!data && data.error().code() == status_code::invalid_graph && there == value_id::none && is_inside) {
    if (!in.names_read) add_names_read(around, in.names_read.emplace());
    if (in.names_read->contains(name)) return std::move(data).error().in("initializer");
    tolerate(model_, oddity::broken_unused_initializer, "{}; nothing reads it, and it is left out",
             data.error().words());
    return status_code::ok;
  }
  if (!data) return std::move(data).error().in("initializer");
  if (there != value_id::none && in.g[there].constant) {
    tolerate(model_, oddity::initializer_twice, "initializer '{}' is given twice; the last one counts", name);
    return replace_initializer(in.g[there], *data);
  }
  result<value_id> v = define(in, name, {"an initializer"}, true);
  if (!v) return v.error();
  if (!in.g[*v].type) in.g[*v].type = model_.keep(type_of(*data));
  in.g.add_initializer(*v, kept(std::vector<value>{*data}).data());
  in.g[*v].constant_unknown = text(rest_of_tensor(message, false));
  return status_code::ok;
}

status onnx_reader::read_initializers(const wire::graph_message& from, scope& in) {
  for (const wire::tensor_message& t : from.initializer)
    if (status s = read_initializer(from, t, name_of(t), in); !s) return s;
  for (const wire::sparse_tensor_message& t : from.sparse_initializer)
    if (status s = read_initializer(from, t, name_of(t), in); !s) return s;
  return status_code::ok;
}

status onnx_reader::read_outputs(const wire::graph_message& from, scope& in) {
  for (const wire::value_info_message& info : from.output) {
    const value_id v = info.name.empty() ? value_id::none : in.g.resolve(info.name);
    if (v == value_id::none)
      return failed(status_code::invalid_argument,
                    "graph output '{}' is not defined: no node, input or initializer "
                    "has that name",
                    info.name);
    in.g.add_output(v);
    if (status s = read_value_info(info, in.g[v]); !s)
      return std::move(s).in(fmt::format("graph output '{}'", info.name));
  }
  return status_code::ok;
}

status onnx_reader::read_value_infos(const wire::chain<wire::value_info_message>& infos, graph& to, std::string& rest) {
  for (const wire::value_info_message& info : infos) {
    const value_id v = to.find(info.name);
    if (v == value_id::none || to[v].outer != value_id::none) {
      rest.append(wire::text_of(info.whole));
    } else if (status s = read_value_info(info, to[v]); !s) {
      return std::move(s).in(fmt::format("value_info '{}'", info.name));
    }
  }
  return status_code::ok;
}

/// An input keeps its declared type, whatever else the file declares for the value.
void onnx_reader::keep_input_type(const value_type& also, detail::graph_value& input) {
  bool differ = false;
  const result<value_type> both = merge_types(*input.type, also, rank_conflict::tolerated, &differ);
  if (!both || differ)
    tolerate(model_, oddity::output_redeclares_input, "input '{}' is {}, and declared again as {}; the input counts",
             input.name, input.type->to_string(&model_.symbols), also.to_string(&model_.symbols));
  else input.type = model_.keep(*both);
}

/// True if a declared type contradicts an initializer that is not an input: then the declaration does not count.
bool onnx_reader::keeps_own_type(const value_type& also, const detail::graph_value& initializer) {
  if (!initializer.constant || initializer.is_input) return false;
  const value_type own = type_of(*initializer.constant);
  if (merge_types(own, also, rank_conflict::tolerated)) return false;
  tolerate(model_, oddity::initializer_redeclared, "initializer '{}' is {}, and declared as {}; its own type counts",
           initializer.name, type_name(own), type_name(also));
  return true;
}

status onnx_reader::read_value_info(const wire::value_info_message& from, detail::graph_value& to) {
  std::string rest;
  if (from.type) {
    result<value_type> type = read_type(*from.type, model_);
    if (!type) return type.error();
    if (to.is_input && to.type && to.type->kind != type_kind::unknown) keep_input_type(*type, to);
    else if (!keeps_own_type(*type, to) && (type->kind != type_kind::unknown || !type->denotation.empty()))
      to.type = model_.keep(*std::move(type));
    if (const std::string of_type = rest_of_type(*from.type); !of_type.empty()) wire::put(rest, 2, of_type);
  }
  if (from.doc_string.data()) to.doc_string = text(from.doc_string);
  if (!from.metadata_props.empty()) to.metadata = properties(from.metadata_props);
  wire::put(rest, from.rest);
  if (!rest.empty()) to.unknown = text(rest);
  return status_code::ok;
}

// --- nodes ---

namespace {

/// The operator whose attribute is its output.
const op_row& constant_row() {
  static const op_row& found = *std::ranges::find_if(
      detail::standard_ops(), [](const op_row& row) { return detail::has_role(row.roles, role::is_constant); });
  return found;
}

bool is_constant(const wire::node_message& n) {
  const op_row& row = constant_row();
  return n.op_type == row.name && plain_domain(n.domain) == row.domain && n.output.size() == 1;
}

bool is_internal(const attribute& a) { return a.name.starts_with("__"); }

/// True if a Constant has one attribute, with the name of its kind: that of INTS is 'value_ints'.
bool is_well_named(std::span<const attribute> attributes) {
  const std::span<const attribute_rule> rules = constant_row().versions.back().attributes;
  const auto fits = [&](const attribute& a) {
    return is_internal(a) || std::ranges::any_of(rules, [&](const attribute_rule& rule) {
             return rule.kind == a.kind && rule.name == a.name;
           });
  };
  return attributes.size() - std::size_t(std::ranges::count_if(attributes, is_internal)) == 1 &&
         std::ranges::all_of(attributes, fits);
}

}  // namespace

/// True if a node may define an existing name: ONNX Runtime first makes initializers from Constants of the main graph,
/// and the last one with a name counts.
bool onnx_reader::may_give_twice(const wire::node_message& n, const scope& in, value_id there) const {
  if (&in.g != &model_.main() || !is_constant(n)) return false;
  const wire::node_message* const other = in.definers[index_of(there)].node;
  return !other || is_constant(*other);
}

/// Makes an initializer from a Constant of the main graph that breaks ONNX's rules.
status onnx_reader::add_constant(const wire::node_message& from, scope& in, std::span<const attribute> attributes,
                                 value_id to) {
  const auto first = std::ranges::find_if_not(attributes, is_internal);
  if (first == attributes.end())
    return failed(status_code::invalid_graph, "{}: no attribute is its value: it needs exactly one", describe(from));
  if (!is_well_named(attributes))
    tolerate(model_, oddity::constant_attribute, "{}: its value is taken from attribute '{}', which is of type {}",
             describe(from), first->name, detail::attribute_kind_rows[std::size_t(first->kind)].name);
  result<value> data = constant_of_attribute(model_, *first);
  if (!data) return std::move(data).error().in(describe(from));
  detail::graph_value& v = in.g[to];
  if (v.constant || v.is_input)
    tolerate(model_, oddity::constant_twice, "{} gives '{}', which is defined already; the last Constant counts",
             describe(from), v.name);
  if (v.constant) return replace_initializer(v, *data);
  if (!v.type) v.type = model_.keep(type_of(*data));
  in.g.add_initializer(to, kept(std::vector<value>{*data}).data());
  return status_code::ok;
}

status onnx_reader::read_nodes(const wire::chain<wire::node_message>& nodes, scope& in) {
  std::size_t made = 0, read = 0;
  for (const wire::node_message& n : nodes) made += n.output.size(), read += n.input.size();
  in.g.reserve(made, nodes.size(), read);
  // All names are defined first: nodes may be in any order.
  std::vector<value_id> outputs;
  outputs.reserve(made);
  for (const wire::node_message& n : nodes)
    for (wire::text name : n.output) {
      result<value_id> v = value_id::none;
      if (!name.empty()) v = define(in, name, {"", &n});
      if (!v) {
        const value_id there = in.g.find(name);
        if (there == value_id::none || !may_give_twice(n, in, there)) return v.error();
        in.constants_twice.insert(there);
        v = there;
      }
      outputs.push_back(*v);
    }
  std::size_t first = 0;
  for (const wire::node_message& n : nodes) {
    const std::size_t count = n.output.size();
    if (status s = read_node(n, in, std::span{outputs}.subspan(first, count)); !s) return s;
    first += count;
  }
  return status_code::ok;
}

result<std::int64_t> onnx_reader::opset_of(const wire::node_message& n, std::string_view domain,
                                           const opset_map& opsets) {
  if (const auto import = opsets.find(domain); import != opsets.end()) {
    if (import->second >= 1) return import->second;
    return failed(status_code::invalid_graph, "{}: opset_import of domain '{}' has version {}; opsets start at 1",
                  describe(n), domain_name(domain), import->second);
  }
  // A call of a local function needs no opset: some files do not import its domain.
  const auto local = local_functions_.lower_bound({domain, n.op_type, {}});
  if (local != local_functions_.end() && (*local)[0] == domain && (*local)[1] == n.op_type) return std::int64_t{1};
  if (const std::int64_t newest = newest_opset(domain); newest > 0 && !model_.imports.empty()) {
    if (model_.opset(domain) >= 1) return model_.opset(domain);
    tolerate(model_, oddity::opset_missing, "domain '{}' is not among the opset imports; {} is of its opset {}",
             domain_name(domain), describe(n), newest);
    model_.imports.push_back({text(domain), newest});
    return newest;
  }
  return failed(status_code::invalid_graph, "{}: domain '{}' is not among the opset imports", describe(n),
                domain_name(domain));
}

status onnx_reader::read_node(const wire::node_message& from, scope& in, std::span<const value_id> outputs) {
  if (from.op_type.empty()) return failed(status_code::invalid_graph, "{}: no op_type", describe(from));
  const std::string_view domain = plain_domain(from.domain);
  result<std::int64_t> opset = opset_of(from, domain, in.opsets);
  if (!opset) return opset.error();

  std::vector<attribute> attributes;
  std::vector<graph*> subgraphs;
  if (status s = read_attributes(from, in, attributes, subgraphs); !s) return std::move(s).in(describe(from));
  if (&in.g == &model_.main() && is_constant(from) && outputs[0] != value_id::none &&
      (!is_well_named(attributes) || in.constants_twice.contains(outputs[0])))
    return add_constant(from, in, attributes, outputs[0]);
  std::vector<value_id> inputs;
  inputs.reserve(from.input.size());
  for (wire::text name : from.input) {
    const value_id v = name.empty() ? value_id::none : in.g.resolve(name);
    if (v == value_id::none && !name.empty())
      return failed(status_code::invalid_argument,
                    "{}: input {} '{}' is not defined: no node, input or initializer of "
                    "this graph or an outer graph has that name",
                    describe(from), inputs.size(), name);
    inputs.push_back(v);
  }
  node_spec spec;
  spec.name = from.name;
  spec.domain = domain;
  spec.op_type = from.op_type;
  spec.overload = from.overload;
  spec.doc_string = from.doc_string;
  spec.opset = *opset;
  spec.inputs = inputs;
  spec.outputs = outputs;
  spec.attributes = attributes;
  spec.subgraphs = subgraphs;
  spec.metadata = properties(from.metadata_props);
  const node_id added = in.g.add_node(spec);
  in.g[added].unknown = text_of(from.rest);
  return status_code::ok;
}

// --- entry points ---

namespace {

using folders_opener = std::function<result<std::shared_ptr<const model_folders>>()>;

/// Opens the folder of external data of a model whose file is `own` (null: it comes from memory). Empty if there is
/// none.
folders_opener external_folders(const read_options& options, const detail::file_bytes* own, const std::string& path) {
  if (options.folder) return [&options] { return std::make_shared<const model_folders>(options.folder); };
  const bool is_named = !options.external_data_folder.empty();
  if (!is_named && !own) return {};
  return [&options, own, path, is_named]() -> result<std::shared_ptr<const model_folders>> {
    result<model_folders> opened = model_folders::open(
        is_named ? options.external_data_folder : std::filesystem::path{path}.parent_path().string(), own,
        is_named ? folder_search::first : folder_search::all);
    if (!opened) return std::move(opened).error();
    return std::make_shared<const model_folders>(*std::move(opened));
  };
}

status read_onnx_bytes(model& to, std::span<const std::byte> bytes, const read_options& options,
                       folders_opener open_folders) {
  detail::heap_arena rough{std::size_t{1} << 16};
  wire::model_message message;
  const std::size_t graphs = std::min<std::size_t>(options.limits.graph_depth, 500);
  // Each graph has three levels of messages, and types have more.
  const wire::depth_limits deepest{3 * graphs + 100, graphs};
  if (status s = decode(bytes, "not protobuf, or truncated; an ONNX model is a serialized onnx.ModelProto", deepest,
                        options.limits, rough, message);
      !s)
    return s;
  if (!message.graph && !message.ir_version && !bytes.empty())
    return {status_code::invalid_protobuf, "not an onnx.ModelProto: neither a graph nor an ir_version"};
  to.most_memory = options.limits.model_bytes;
  tensor_reader tensors{to.memory, options.limits.model_bytes, true, &to.files, std::move(open_folders)};
  tensors.odd = &to;
  if (options.initializers) tensors.given = *options.initializers;
  for (const auto& [location, data] :
       options.external_files ? std::span{*options.external_files} : std::span<const detail::given_file>{})
    tensors.mapped.emplace(std::filesystem::path{location}.lexically_normal().string(), data);
  return onnx_reader{to, std::move(tensors)}.read(message);
}

}  // namespace

result<std::unique_ptr<model>> read_onnx(const std::string& path, const read_options& options) {
  return guarded([&]() -> result<std::unique_ptr<model>> {
    auto file =
        options.file ? result<std::shared_ptr<const detail::file_bytes>>{options.file} : detail::file_bytes::map(path);
    if (!file) return file.error();
    auto made = std::make_unique<model>();
    made->files.push_back(*file);
    made->path = path;
    status s = read_onnx_bytes(*made, (*file)->bytes(), options, external_folders(options, file->get(), path));
    return s ? result<std::unique_ptr<model>>{std::move(made)} : std::move(s).in(path);
  });
}

result<std::unique_ptr<model>> read_onnx(std::span<const std::byte> bytes, std::string_view name,
                                         const read_options& options) {
  return guarded([&]() -> result<std::unique_ptr<model>> {
    auto made = std::make_unique<model>();
    status s = read_onnx_bytes(*made, bytes, options, external_folders(options, nullptr, {}));
    return s ? result<std::unique_ptr<model>>{std::move(made)} : std::move(s).in(name);
  });
}

result<std::unique_ptr<model>> onnx_format::read(const std::string& path, const read_options& options) {
  return read_onnx(path, options);
}
result<std::unique_ptr<model>> onnx_format::read(std::span<const std::byte> bytes, std::string_view called,
                                                 const read_options& options) {
  return read_onnx(bytes, called, options);
}

/// The numbers of a ModelProto's fields are small, and two of the known fields are varints.
bool onnx_format::can_begin(std::span<const std::byte> first, std::size_t most) {
  constexpr std::uint64_t ir_version = 1, model_version = 5, largest = 63;
  for (std::size_t used = 0; used < first.size();) {
    wire::cursor at{first.subspan(used)};
    std::uint64_t tag = 0, value = 0;
    if (!at.varint(tag)) return first.size() - used < 10;  // the rest of it follows later
    const std::uint64_t number = tag >> 3;
    const bool is_varint = number == ir_version || number == model_version;
    const auto kind = wire::type(tag & 7);
    if (number == 0 || number > largest || kind != (is_varint ? wire::type::varint : wire::type::delimited))
      return false;
    if (!at.varint(value)) return first.size() - used < 20;
    used += std::size_t(at.at() - (first.data() + used));
    if (is_varint) continue;
    if (value > most) return false;
    if (value > first.size() - used) return true;
    used += std::size_t(value);
  }
  return true;
}

}  // namespace CAMEO_NAMESPACE
