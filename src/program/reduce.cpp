#include "build/runtime.hpp"
#include "core/node_words.hpp"
#include "file/messages.hpp"
#include "program/ops_config.hpp"
#include "program/options.hpp"
#include "program/text.hpp"

#include <cameo/file/atomic_file.hpp>
#include <cameo/file/file_bytes.hpp>
#include <cameo/kernel/entry_words.hpp>
#include <cameo/partition/lower.hpp>
#include <cameo/program/kernel_headers.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace cameo::program {
namespace {

struct reduce_options {
  std::vector<std::string> models;
  std::string output, config, list_name = "reduced_kernels";
  bool types = false, json = false, quiet = false;
};

/// The versions and types that models need of one entry of a provider's kernel list.
struct needed_entry {
  std::set<int> sinces;                                          // since-versions of the operator
  std::vector<std::pair<std::string, detail::type_mask>> types;  // by type string, in the order of the list

  detail::type_mask& types_for(const std::string& type_string) {
    for (auto& [each, mask] : types)
      if (each == type_string) return mask;
    return types.emplace_back(type_string, 0).second;
  }
};
/// Entries by the provider's index and by the number of the entry in its list, from 1.
using needed_entries = std::map<std::pair<std::size_t, std::uint16_t>, needed_entry>;

// --- kernel lists as text ---

/// The entries of a provider's kernel list as text; empty if the provider's kernels are not a list.
std::span<const entry_words> entries_of(std::string_view provider) {
  return [&]<class... Ps>(type_list<Ps...>) {
    std::span<const entry_words> found;
    const auto look = [&]<class P>(std::type_identity<P>) {
      if constexpr (requires { P::kernels::words(); }) {
        if (P::name == provider) found = P::kernels::words();
      }
    };
    (look(std::type_identity<Ps>{}), ...);
    return found;
  }(build::providers{});
}

/// The provider's header that defines a kernel: for binary<op::Add>, that of "binary". Empty if there is none.
std::string_view header_of(std::string_view provider, std::string_view kernel) {
  const std::string_view name = kernel.substr(0, std::min(kernel.find('<'), kernel.size()));
  for (const kernel_header& each : kernel_headers)
    if (each.provider == provider && each.kernel == name) return each.path;
  return {};
}

// --- what is needed ---

/// The complete type string of a kernel's rule, which stores only the first letters.
std::string whole_string(const op_version& version, const detail::kernel_rule& rule) {
  const std::string_view kept{rule.type_string, ::strnlen(rule.type_string, sizeof rule.type_string)};
  for (const type_rule& each : version.types)
    if (each.type_string.substr(0, sizeof rule.type_string - 1) == kept) return std::string{each.type_string};
  return std::string{kept};
}

/// The types of the operands whose bits are set. Bit `last` stands for all operands from that one on.
detail::type_mask types_at(std::span<const operand> all, std::uint32_t bits, std::size_t last) {
  detail::type_mask mask = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((bits >> std::min(i, last) & 1) && all[i].present && all[i].type != dtype::undefined)
      mask |= detail::bit_of(all[i].type);
  return mask;
}

/// What models need: entries of kernel lists, and a configuration for ONNX Runtime. If no list is written (`entries` is
/// null), the models may have operators that no provider here has a kernel for.
struct needs {
  needed_entries* entries;
  ops_config& config;
};

/// Adds a node's needs: the entry of the first provider whose kernel matches.
status add_node(const node_view& node, const needs& to) {
  std::vector<operand> storage;
  const detail::node_signature signature = signature_of(node, storage);
  to.config.add(node.domain(), node.op_type(), signature);
  if (!to.entries) return {};
  needed_entries& needed = *to.entries;
  const auto providers = build::runtime{}.providers();
  for (std::size_t p = 0; p < providers.size(); ++p) {
    const detail::kernel_table& table = providers[p].row->kernels();
    if (!detail::kernel_matches(node, table, nullptr)) continue;
    const detail::kernel_row& row = *match(signature, table).row;
    needed_entry& entry = needed[{p, row.entry}];
    entry.sinces.insert(node.since());
    for (const detail::kernel_rule& rule : table.rules.subspan(row.rules, row.rule_count)) {
      const detail::type_mask seen =
          types_at(signature.inputs, rule.inputs, 31) | types_at(signature.outputs, rule.outputs, 15);
      detail::type_mask& types = entry.types_for(whole_string(*node.raw().version, rule));
      types |= seen ? seen : types ? types : rule.allowed & (~rule.allowed + 1);  // no operand has a type: any one type
    }
    return {};
  }
  return {status_code::not_implemented,
          node_words{node.name(), node.domain(), node.op_type(), node.output(0) ? node.output(0).name() : ""}.text() +
              ": no provider has a kernel for it"};
}

status add_graph(const graph& g, const needs& to) {
  for (node_id n : g.order()) {
    if (is_known(g, g[n])) continue;
    if (status s = add_node(node_view{g, n}, to); !s) return s;
    for (const graph* body : g[n].subgraphs)
      if (status s = add_graph(*body, to); !s) return s;
  }
  return {};
}

/// The types of a rule that a configuration needs.
detail::type_mask left_of(const detail::kernel_rule& rule, const ops_config& config, const ops_config::op_key& op,
                          bool by_types) {
  detail::type_mask mask = rule.allowed;
  if (!by_types) return mask;
  for (int i = 0; i < 31; ++i)
    if (const auto wanted = rule.inputs >> i & 1 ? config.wanted(op, i, false) : std::nullopt) mask &= *wanted;
  for (int i = 0; i < 15; ++i)
    if (const auto wanted = rule.outputs >> i & 1 ? config.wanted(op, i, true) : std::nullopt) mask &= *wanted;
  return mask;
}

/// Adds all entries for a version of an operator, with the types that the configuration needs. False if no provider has
/// a kernel.
bool add_op(const op_row& op, const op_version& version, const ops_config& config, bool by_types,
            needed_entries& needed) {
  const ops_config::op_key key{std::string{op.domain}, std::string{op.name}};
  const auto providers = build::runtime{}.providers();
  bool any = false;
  for (std::size_t p = 0; p < providers.size(); ++p) {
    const detail::kernel_table& table = providers[p].row->kernels();
    for (const detail::kernel_row& row : detail::rows_with(op.id, &detail::kernel_row::op, table.rows)) {
      if (version.since < row.first || row.last < version.since) continue;
      any = true;
      const auto rules = table.rules.subspan(row.rules, row.rule_count);
      const bool is_wanted = std::all_of(rules.begin(), rules.end(), [&](const detail::kernel_rule& rule) {
        return left_of(rule, config, key, by_types) != 0;
      });
      if (!is_wanted) continue;
      needed_entry& entry = needed[{p, row.entry}];
      entry.sinces.insert(version.since);
      for (const detail::kernel_rule& rule : rules) {
        detail::type_mask mask = left_of(rule, config, key, by_types);
        for (const type_rule& each : version.types)
          if (each.type_string == whole_string(version, rule)) mask &= each.tensors | each.optionals;
        entry.types_for(whole_string(version, rule)) |= mask;
      }
    }
  }
  return any;
}

/// The reason why an operator of a configuration is unknown; empty if it is known.
std::string why_unknown(const op_table& ops, const std::string& domain, int opset, const std::string& name) {
  const std::string_view shown = domain.empty() ? std::string_view{"ai.onnx"} : std::string_view{domain};
  if (!ops.has_domain(domain)) return fmt::format("there is no domain '{}'", shown);
  const op_row* const op = ops.find(domain, name);
  if (!op) return fmt::format("there is no operator '{}' in domain '{}'", name, shown);
  if (op->at(opset)) return {};
  return fmt::format("there is no operator '{}' in domain '{}' at opset {}; it appears in opset {}", name, shown, opset,
                     op->versions.empty() ? 0 : op->versions.front().since);
}

/// Adds what a configuration needs. Operators that are unknown here, such as ONNX Runtime's internal ones, are left out
/// with a warning, because the list may be useful without them.
void add_config(const ops_config& config, bool by_types, needed_entries& needed) {
  const op_table ops = known_ops();
  if (config.ops.empty() && config.empty_means_all)
    for (const op_row& op : ops.standard)
      for (const op_version& version : op.versions) add_op(op, version, config, by_types, needed);
  for (const auto& [domain, opsets] : config.ops)
    for (const auto& [opset, names] : opsets)
      for (const std::string& name : names) {
        std::string why = why_unknown(ops, domain, opset, name);
        if (why.empty()) {
          const op_row& op = *ops.find(domain, name);
          if (!add_op(op, *op.at(opset), config, by_types, needed)) why = "no provider has a kernel for it";
        }
        if (!why.empty())
          warn(fmt::format("{};{};{} is left out: {}", domain.empty() ? "ai.onnx" : domain, opset, name, why));
      }
}

// --- the header ---

std::string cpp_type(dtype type) {
  const std::string_view name = detail::row_of(type).name;
  if (type == dtype::string) return "std::string_view";
  const bool is_packed = detail::row_of(type).bits < 8;
  if (!is_packed && (name.starts_with("int") || name.starts_with("uint"))) return fmt::format("std::{}_t", name);
  return std::string{name};
}

std::vector<std::string> types_of(detail::type_mask mask) {
  std::vector<std::string> types;
  for (const detail::dtype_row& row : detail::elements::rows)
    if (mask & detail::bit_of(row.id)) types.push_back(cpp_type(row.id));
  return types;
}
std::string constraint_of(const needed_entry& needed) {
  std::string made;
  for (const auto& [type_string, mask] : needed.types)
    made += fmt::format("{}constrain<\"{}\", {}>", made.empty() ? "" : " && ", type_string,
                        fmt::join(types_of(mask), ", "));
  return made.empty() ? "any_types" : made;
}

/// The kernel of an entry, restricted to the needed types of the first type string if it has a parameter for them.
std::string kernel_of(const entry_words& entry, const needed_entry& needed) {
  if (!entry.takes_types || needed.types.empty()) return std::string{entry.kernel};
  return fmt::format("{}, {}>", entry.kernel.substr(0, entry.kernel.size() - 1),
                     fmt::join(types_of(needed.types.front().second), ", "));
}

result<std::string> header_for(const needed_entries& needed, const reduce_options& o) {
  const auto providers = build::runtime{}.providers();
  std::set<std::string_view> headers;
  std::string lines;
  for (std::size_t p = 0; p < providers.size(); ++p) {
    const std::string_view name = providers[p].row->name;
    const std::span<const entry_words> entries = entries_of(name);
    for (const auto& [key, line] : needed) {
      if (key.first != p || entries.empty()) continue;
      if (key.second == 0 || key.second > entries.size())
        return failed(status_code::fail, "{}: its kernel list has no entry {}", name, key.second);
      const entry_words& entry = entries[key.second - 1];
      const std::string_view header = header_of(name, entry.kernel);
      if (header.empty()) return failed(status_code::fail, "no header of {} has {}", name, entry.kernel);
      headers.insert(header);
      lines += fmt::format("{}    {}<{}, since<{}, {}>, {}, {}>", lines.empty() ? "" : ",\n", entry.kind, entry.op,
                           *line.sinces.begin(), *line.sinces.rbegin(), constraint_of(line), kernel_of(entry, line));
    }
  }
  std::string made = fmt::format("#pragma once\n// Written by cameo reduce: {}\n",
                                 o.models.empty() ? o.config : fmt::format("{}", fmt::join(o.models, " ")));
  for (const std::string_view header : headers) made += fmt::format("#include <{}>\n", header);
  made +=
      "#include <cameo/kernel/kernel_list.hpp>\n#include <cameo/op/contrib.hpp>\n#include <cameo/op/microsoft.hpp>\n";
  made += "#include <cameo/op/ml.hpp>\n#include <cameo/op/nchwc.hpp>\n#include <cameo/op/onnx.hpp>\n\n";
  made += "namespace CAMEO_NAMESPACE::eps {\n\n// clang-format off\n";
  made += fmt::format("using {} = kernel_list<\n{}>;\n// clang-format on\n\n}}  // namespace CAMEO_NAMESPACE::eps\n",
                      o.list_name, lines);
  return made;
}

status reduce(const reduce_options& o) {
  needed_entries needed;
  ops_config config;
  for (const std::string& path : o.models) {
    result<std::unique_ptr<model>> read = read_checked(path, true);
    if (!read) return read.error();
    if (status s = add_graph((*read)->main(), {o.output.empty() ? nullptr : &needed, config}); !s)
      return std::move(s).in(path);
  }
  if (o.models.empty()) {
    const auto file = detail::file_bytes::map(o.config);
    if (!file) return file.error();
    const std::span<const std::byte> bytes = (*file)->bytes();
    result<ops_config> read = read_ops_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!read) return std::move(read).error().in(o.config);
    add_config(*read, o.types, needed);
  } else if (!o.config.empty()) {
    if (status s = write_file_atomically(o.config, std::string_view{write_ops_config(config, o.models, o.types)}); !s)
      return s;
  }
  if (o.output.empty()) return {};
  const result<std::string> header = header_for(needed, o);
  if (!header) return header.error();
  return write_file_atomically(o.output, std::string_view{*header});
}

int run_reduce(const reduce_options& o) {
  if (o.models.empty() && o.config.empty()) return wrong_usage("cameo reduce", "needs MODELS, or --ops-config to read");
  if (o.output.empty() && (o.models.empty() || o.config.empty()))
    return wrong_usage("cameo reduce", "needs -o, or --ops-config to write");
  for (const std::string& model : o.models)
    for (const std::string& output : {o.output, o.config})
      if (const status s = require_other_file(model, output); !s) return fail(s);
  const status done = reduce(o);
  if (!done) return fail(done);
  if (o.json)
    print_json({{"models", o.models},
                {"output", o.output.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(o.output)},
                {"ops_config", o.config.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(o.config)}});
  return 0;
}

}  // namespace

void add_reduce(command_line& app) {
  auto o = std::make_shared<reduce_options>();
  const command it =
      app.add_command("reduce", "Writes the list of the kernels that models need, for a program that has no others");
  it.add("MODEL", o->models, "Models, .onnx or .ort");
  it.add("-o,--output", o->output, "Header to write, with the list").type_name("FILE");
  it.add("--ops-config", o->config,
         "ONNX Runtime's configuration of a build with fewer operators: written for the models; read if there "
         "are none")
      .type_name("FILE");
  it.add_flag("--types", o->types, "--ops-config also restricts the types of operators");
  it.add("--name", o->list_name, "Name of the list, in cameo::eps (reduced_kernels)")
      .type_name("NAME")
      .check([](const std::string& n) {
        const auto is_letter = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
        const bool is_name = !n.empty() && std::all_of(n.begin(), n.end(), is_letter) && !std::isdigit(n.front());
        return is_name ? std::string{} : "needs a name that C++ takes, not '" + n + "'";
      });
  const command output = it.group("Output");
  output.add_flag("--json", o->json, "One JSON object on standard output, nothing else there");
  output.add_flag("--quiet", o->quiet, "No progress on standard error");
  it.does([o] { return run_reduce(*o); });
}

}  // namespace cameo::program
