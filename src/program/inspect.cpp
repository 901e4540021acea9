#include "program/inspect/inspection.hpp"
#include "program/inspect/page.hpp"
#include "program/inspect/trace.hpp"
#include "program/options.hpp"
#include "program/runnable.hpp"

#include <cameo/file/atomic_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct inspect_options {
  common_options common;
  std::string model, component, html, profile;
};

json describe_ios(const std::vector<io_info>& ios) {
  json all = json::array();
  for (const io_info& io : ios) {
    json one{{"name", io.name}, {"type", io.type_text}};
    if (io.optional) one["optional"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

json to_json(const std::string& path, const session& loaded, const inspection& seen) {
  const model& m = loaded.graph();
  json opsets = json::object(), metadata = json::object(), ops = json::object(), providers = json::object();
  for (const opset_import& each : m.imports) opsets[domain_name(each.domain)] = each.version;
  for (const property& each : m.metadata) metadata[std::string{each.first}] = each.second;
  for (const auto& [op, count] : seen.ops) ops[op] = count;
  for (const auto& [name, count] : seen.providers) providers[name] = count;
  json partitions = json::array(), refusals = json::array();
  for (const partition_info& p : seen.partitions) {
    json one{{"provider", p.provider},
             {"nodes", p.nodes},
             {"fused", !p.fused_from.empty()},
             {"first", p.first},
             {"last", p.last}};
    if (!p.fused_from.empty()) one["fused_from"] = p.fused_from;
    partitions.push_back(std::move(one));
  }
  for (const placement_info& p : seen.placements)
    if (!p.refusals.empty())
      refusals.push_back({{"node", p.node}, {"op", p.op_type}, {"provider", p.provider}, {"reasons", p.refusals}});
  return {{"model", path},
          {"ir_version", m.ir_version},
          {"producer", m.producer_name},
          {"graph", m.main().name},
          {"opsets", std::move(opsets)},
          {"metadata", std::move(metadata)},
          {"inputs", describe_ios(loaded.inputs())},
          {"outputs", describe_ios(loaded.outputs())},
          {"parameters", seen.parameters.elements},
          {"parameter_tensors", seen.parameters.tensors},
          {"parameter_bytes", seen.parameters.bytes},
          {"nodes", seen.placements.size()},
          {"steps", loaded.step_count()},
          {"ops", std::move(ops)},
          {"providers", std::move(providers)},
          {"partitions", std::move(partitions)},
          {"arena_bytes", loaded.fixed_bytes()},
          {"dynamic_shapes", loaded.plan().has_dynamic},
          {"refusals", std::move(refusals)}};
}

void print_ios(std::string_view title, const std::vector<io_info>& ios) {
  fmt::print("{}\n", title);
  for (const io_info& io : ios)
    fmt::print("  {}  {}{}\n", one_line(io.name), one_line(io.type_text), io.optional ? "  (has a default)" : "");
}

void print_nodes(const inspection& seen) {
  fmt::print("nodes       {}\n", seen.placements.size());
  std::vector<std::pair<std::string, std::size_t>> ops{seen.ops.begin(), seen.ops.end()};
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [op, count] : ops) fmt::print("  {:>6}  {}\n", count, one_line(op));
  fmt::print("providers\n");
  for (const auto& [name, count] : seen.providers) fmt::print("  {:>6}  {}\n", count, name);
  fmt::print("partitions  {}\n", seen.partitions.size());
  for (const partition_info& p : seen.partitions)
    fmt::print("  {:>6}  {}{}\n", p.nodes, p.provider,
               p.fused_from.empty() ? fmt::format("  {} .. {}", one_line(p.first), one_line(p.last))
                                    : "  fused from " + one_line(p.fused_from));
}

void print_text(const std::string& path, const session& loaded, const inspection& seen) {
  const model& m = loaded.graph();
  fmt::print("model       {}\n", path);
  fmt::print("graph       {}\n", one_line(m.main().name));
  fmt::print("producer    {} {}\n", one_line(m.producer_name), one_line(m.producer_version));
  fmt::print("ir version  {}\n", m.ir_version);
  fmt::print("opsets     ");
  for (const opset_import& each : m.imports) fmt::print(" {} {}", one_line(domain_name(each.domain)), each.version);
  fmt::print("\n");
  for (const property& each : m.metadata)
    fmt::print("metadata    {} = {}\n", one_line(each.first), one_line(each.second));
  print_ios("inputs", loaded.inputs());
  print_ios("outputs", loaded.outputs());
  fmt::print("parameters  {} in {} tensors, {} bytes\n", seen.parameters.elements, seen.parameters.tensors,
             seen.parameters.bytes);
  print_nodes(seen);
  fmt::print("arena       {} bytes for values of known shape{}\n", loaded.fixed_bytes(),
             loaded.plan().has_dynamic ? "; others take theirs in a run" : "");
  bool titled = false;
  for (const placement_info& p : seen.placements) {
    if (p.refusals.empty()) continue;
    if (!titled) fmt::print("not earlier\n");
    titled = true;
    fmt::print("  {} '{}' on {}: {}\n", one_line(p.op_type), one_line(p.node), p.provider,
               one_line(fmt::format("{}", fmt::join(p.refusals, "; "))));
  }
}

status write_page(const inspect_options& o, const session& loaded, const inspection& seen) {
  std::optional<profiled_run> profile;
  if (!o.profile.empty()) {
    result<profiled_run> read = read_profile(o.profile, loaded.plan());
    if (!read) return read.error();
    profile = std::move(*read);
  }
  return write_file_atomically(o.html, std::string_view{page_of(o.model, loaded, seen, profile ? &*profile : nullptr)});
}

int inspect_model(const inspect_options& o) {
  const result<session> loaded = load_session(o.model, o.component, o.common);
  if (!loaded) return fail(loaded.error());
  const inspection seen = look_at(*loaded);
  if (!o.html.empty())
    if (const status s = write_page(o, *loaded, seen); !s) return fail(s);
  if (o.common.json) print_json(to_json(o.model, *loaded, seen));
  else print_text(o.model, *loaded, seen);
  if (!o.html.empty() && !o.common.quiet) fmt::print(stderr, "wrote {}\n", o.html);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, action& chosen) {
  auto o = std::make_shared<inspect_options>();
  CLI::App& command = *app.add_subcommand("inspect", "Shows what is in a model and where it would run");
  command.add_option("MODEL", o->model, "The model's file, or the folder of a model package")->required();
  add_component_option(command, o->component);
  CLI::Option* const html =
      command.add_option("--html", o->html, "Writes one page with the graph drawn; it needs no network")
          ->type_name("FILE");
  command.add_option("--profile", o->profile, "A trace of `run --profile`: the page shows the time of each node")
      ->type_name("FILE")
      ->needs(html);
  add_common_options(command, o->common, json_output::flag);
  add_policy_option(command, o->common);
  command.callback([o, &chosen] { chosen = [o] { return inspect_model(*o); }; });
}

}  // namespace cameo::program
