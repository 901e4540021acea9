#include "build/runtime.hpp"
#include "core/nearest.hpp"
#include "program/options.hpp"
#include "program/say.hpp"

#include <cameo/op/function_bodies.hpp>
#include <cameo/program/left_out.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct ops_options {
  common_options common;
  bool markdown = false;
};

/// The types that kernels take for each type string.
using type_sets = std::map<std::string, detail::type_mask>;

/// The support of one provider for one version of an operator.
struct support {
  bool any = false;
  type_sets types;
  bool operator==(const support&) const = default;
};
/// Consecutive versions with the same support.
struct version_span {
  int first = 0, last = 0;  // opsets; last == 0: all from `first` on
  std::vector<support> by_provider;
};
struct op_entry {
  const op_row* op = nullptr;
  std::vector<version_span> versions;
  bool has_body = false;  // no provider has a kernel, but ONNX defines it as a function of other operators
};

/// The type rule of the operator's schema for a kernel's rule, which has only the first letters of the type string.
const type_rule* find_rule(const op_version& version, const detail::kernel_rule& rule) {
  const std::string_view kept{rule.type_string, ::strnlen(rule.type_string, sizeof rule.type_string)};
  for (const type_rule& each : version.types)
    if (each.type_string == kept) return &each;
  for (const type_rule& each : version.types)
    if (each.type_string.starts_with(kept) && kept.size() + 1 >= sizeof rule.type_string) return &each;
  return nullptr;
}

support support_of(const detail::kernel_table& table, const op_row& op, const op_version& version) {
  support found;
  for (const detail::kernel_row& row : detail::rows_with(op.id, &detail::kernel_row::op, table.rows)) {
    if (version.since < row.first || row.last < version.since) continue;
    found.any = true;
    for (const detail::kernel_rule& rule : table.rules.subspan(row.rules, row.rule_count)) {
      const type_rule* const whole = find_rule(version, rule);
      detail::type_mask mask = rule.allowed;
      if (whole)  // a kernel row may span several versions, and the first ones may not allow all of its types
        mask &=
            whole->tensors | whole->sequences | whole->optionals | whole->optional_sequences | whole->sparse_tensors;
      found.types[std::string{whole ? whole->type_string : std::string_view{rule.type_string}}] |= mask;
    }
  }
  return found;
}

op_entry entry_of(const op_row& op, std::span<const provider* const> providers) {
  op_entry made{&op, {}, false};
  for (std::size_t i = 0; i < op.versions.size(); ++i) {
    version_span span{op.versions[i].since, i + 1 < op.versions.size() ? op.versions[i + 1].since - 1 : 0, {}};
    bool any = false;
    for (const provider* p : providers)
      any |= span.by_provider.emplace_back(support_of(p->row->kernels(), op, op.versions[i])).any;
    if (!any) continue;
    if (!made.versions.empty() && made.versions.back().last + 1 == span.first &&
        made.versions.back().by_provider == span.by_provider)
      made.versions.back().last = span.last;
    else made.versions.push_back(std::move(span));
  }
  return made;
}

bool has_body(const op_row& op) {
  const std::span<const function_body_row> bodies = standard_function_bodies();
  return std::any_of(bodies.begin(), bodies.end(), [&](const function_body_row& row) { return row.op == op.id; });
}

/// The operators that a provider has a kernel for or that ONNX defines as functions, sorted by domain and name.
std::vector<op_entry> all_entries(std::span<const provider* const> providers) {
  std::vector<const op_row*> ops;
  for (const op_row& op : detail::standard_ops()) ops.push_back(&op);
  for (const provider* p : providers) {
    for (const op_row& op : p->row->kernels().ops) ops.push_back(&op);
    for (const op_row& op : p->row->own_ops) ops.push_back(&op);
  }
  std::stable_sort(ops.begin(), ops.end(), [](const op_row* a, const op_row* b) {
    return std::pair{a->domain, a->name} < std::pair{b->domain, b->name};
  });
  ops.erase(std::unique(ops.begin(), ops.end(),
                        [](const op_row* a, const op_row* b) { return a->domain == b->domain && a->name == b->name; }),
            ops.end());
  std::vector<op_entry> entries;
  for (const op_row* op : ops) {
    op_entry entry = entry_of(*op, providers);
    entry.has_body = entry.versions.empty() && has_body(*op);
    if (!entry.versions.empty() || entry.has_body) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string domain_text(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string{domain}; }

std::string versions_text(const version_span& v) {
  if (v.last == 0) return fmt::format("{}+", v.first);
  return v.first == v.last ? fmt::format("{}", v.first) : fmt::format("{}-{}", v.first, v.last);
}

std::vector<std::string_view> names_of(detail::type_mask mask) {
  std::vector<std::string_view> names;
  for (const detail::dtype_row& row : detail::elements::rows)
    if (row.id != dtype::undefined && (mask & detail::bit_of(row.id))) names.emplace_back(row.name);
  return names;
}

std::string support_text(const support& s, std::string_view separator) {
  if (!s.any) return "-";
  if (s.types.empty()) return "any";
  std::vector<std::string> parts;
  for (const auto& [type_string, mask] : s.types)
    parts.push_back(fmt::format("{}: {}", type_string, fmt::join(names_of(mask), " ")));
  return fmt::format("{}", fmt::join(parts, separator));
}

void print_table(const std::vector<op_entry>& entries, std::span<const provider* const> providers) {
  for (const op_entry& e : entries) {
    const std::string name =
        e.op->domain.empty() ? std::string{e.op->name} : domain_text(e.op->domain) + "." + std::string{e.op->name};
    if (e.has_body) say("{:<32} {:<8} by its function body\n", name, "");
    for (const version_span& v : e.versions)
      for (std::size_t p = 0; p < providers.size(); ++p)
        if (v.by_provider[p].any)
          say("{:<32} {:<8} {:<8} {}\n", name, versions_text(v), providers[p]->row->name,
              support_text(v.by_provider[p], "; "));
  }
  for (const std::string_view words : left_out) say("not in this build: {}\n", words);
}

void print_markdown(const std::vector<op_entry>& entries, std::span<const provider* const> providers) {
  say("# Operators\n\nWhat the providers of this build have kernels for. `Versions` are opsets of the operator's "
      "domain; a type string\nthat is not listed takes every type that ONNX allows. Written by `cameo ops "
      "--markdown`.\n");
  std::string rule = "|---|---|", titles = "| Op | Versions |";
  for (const provider* p : providers) rule += "---|", titles += fmt::format(" Types on {} |", p->row->name);
  const std::string_view* domain = nullptr;
  for (const op_entry& e : entries) {
    if (!domain || *domain != e.op->domain) {
      domain = &e.op->domain;
      say("\n## {}\n\n{}\n{}\n", domain_text(*domain), titles, rule);
    }
    if (e.has_body) say("| {} | all | by its function body |\n", e.op->name);
    for (const version_span& v : e.versions) {
      say("| {} | {} |", e.op->name, versions_text(v));
      for (const support& s : v.by_provider) say(" {} |", support_text(s, "<br>"));
      say("\n");
    }
  }
  for (const std::string_view words : left_out) say("\nNot in this build: {}.\n", words);
}

json to_json(const std::vector<op_entry>& entries, std::span<const provider* const> providers) {
  json names = json::array(), ops = json::array();
  for (const provider* p : providers) names.push_back(p->row->name);
  for (const op_entry& e : entries) {
    json versions = json::array();
    for (const version_span& v : e.versions) {
      json by_provider = json::object();
      for (std::size_t p = 0; p < providers.size(); ++p) {
        if (!v.by_provider[p].any) continue;
        json& types = by_provider[std::string{providers[p]->row->name}] = json::object();
        for (const auto& [type_string, mask] : v.by_provider[p].types) types[type_string] = names_of(mask);
      }
      json one{{"first", v.first}, {"last", v.last}, {"types", std::move(by_provider)}};
      if (v.last == 0) one["last"] = nullptr;
      versions.push_back(std::move(one));
    }
    json one{{"domain", domain_text(e.op->domain)}, {"op", e.op->name}, {"versions", std::move(versions)}};
    if (e.has_body) one["function_body"] = true;
    ops.push_back(std::move(one));
  }
  return {{"providers", std::move(names)}, {"ops", std::move(ops)}, {"left_out", left_out}};
}

int list_ops(const ops_options& o) {
  const build::runtime all;
  const auto built_in = all.providers();
  std::vector<const provider*> chosen;
  for (const std::string& name : o.common.providers) {
    const auto found = std::find_if(built_in.begin(), built_in.end(),
                                    [&](const provider& p) { return p.row->name == name || p.row->long_name == name; });
    if (found == built_in.end()) {
      std::vector<std::string_view> known;
      for (const provider& p : built_in) known.push_back(p.row->name);
      return fail({status_code::invalid_argument, fmt::format("no provider '{}' in this build; it has {}{}", name,
                                                              fmt::join(known, ", "), did_you_mean(name, known))});
    }
    if (std::find(chosen.begin(), chosen.end(), &*found) == chosen.end()) chosen.push_back(&*found);
  }
  if (chosen.empty())
    for (const provider& p : built_in) chosen.push_back(&p);
  const std::vector<op_entry> entries = all_entries(chosen);
  if (o.common.json) print_json(to_json(entries, chosen));
  else if (o.markdown) print_markdown(entries, chosen);
  else print_table(entries, chosen);
  return 0;
}

}  // namespace

void add_ops(command_line& app) {
  auto o = std::make_shared<ops_options>();
  const command it = app.add_command("ops", "Lists the operators that the providers have kernels for, and their types");
  const option markdown = it.add_flag("--markdown", o->markdown, "As a page in Markdown");
  add_list_options(it, o->common);
  it["--json"].excludes(markdown);
  it.does([o] { return list_ops(*o); });
}

}  // namespace cameo::program
