#include "program/conformance_case.hpp"
#include "program/interrupt.hpp"
#include "program/isolation.hpp"
#include "program/options.hpp"
#include "program/progress.hpp"
#include "program/say.hpp"

#include <cameo/file/atomic_file.hpp>
#include <cameo/session/threads.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <regex>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct conformance_options {
  common_options common;
  std::vector<std::string> folders;
  std::string filter, json_file;
  double timeout = 60;
  std::size_t jobs = 0;
  bool verbose = false;
};

struct outcome {
  case_result result;
  double seconds = 0;
  bool ended = false;  // false: the user stopped the command before the case ended
};

constexpr std::string_view status_names[] = {"pass", "fail", "skip"};

/// Serializes a result, for the pipe from the child process to its parent.
std::string to_message(const case_result& r) {
  return json{{"status", int(r.status)},
              {"op", r.op},
              {"reason", r.reason},
              {"error", fmt::format("{}", r.largest_error)},
              {"hash", r.hash}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}
case_result from_message(const child_end& end) {
  if (!end.failure.empty()) return {case_status::fail, {}, end.failure, 0};
  const json message = json::parse(end.output, nullptr, false);
  if (!message.is_object()) return {case_status::fail, {}, "no result came back", 0};
  return {case_status(message.value("status", 1)), message.value("op", ""), message.value("reason", ""),
          std::strtod(message.value("error", "0").c_str(), nullptr), message.value("hash", std::uint64_t{0})};
}

void print_line(const test_case& which, const outcome& o) {
  static constexpr std::string_view words[] = {"pass", "FAIL", "skip"};
  const case_result& r = o.result;
  std::string line = fmt::format("{} {}", words[std::size_t(r.status)], which.name);
  if (!r.op.empty()) line += " [" + r.op + "]";
  if (!r.reason.empty()) line += ": " + r.reason;
  if (r.status == case_status::pass && r.largest_error > 0)
    line += fmt::format(": largest error {:.4g}", r.largest_error);
  say("{}\n", line);
}

/// The cases below all folders whose name or path matches the filter.
result<std::vector<test_case>> wanted_cases(const conformance_options& o) {
  std::vector<test_case> all;
  for (const std::string& folder : o.folders) {
    result<std::vector<test_case>> found = find_cases(folder);
    if (!found) return found.error();
    if (found->empty()) return status{status_code::not_found, folder + ": no test folder in it"};
    all.insert(all.end(), found->begin(), found->end());
  }
  if (o.filter.empty()) return all;
  const std::regex filter{o.filter};
  std::erase_if(all, [&](const test_case& each) {
    return !std::regex_search(each.name, filter) && !std::regex_search(each.folder, filter);
  });
  if (all.empty()) warn(fmt::format("no case has a name or path that --filter {} matches", o.filter));
  return all;
}

status write_report(const std::string& path, const std::vector<test_case>& cases,
                    const std::vector<outcome>& outcomes) {
  json report = json::array();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const outcome& o = outcomes[i];
    if (!o.ended) continue;
    json entry{{"version", json_version},  // in each entry, because the report is an array
               {"name", cases[i].name},     {"status", status_names[std::size_t(o.result.status)]},
               {"reason", o.result.reason}, {"seconds", o.seconds},
               {"op", o.result.op},         {"path", cases[i].folder}};
    if (o.result.hash) entry["hash"] = fmt::format("{:016x}", o.result.hash);
    if (std::isfinite(o.result.largest_error)) entry["largest_error"] = o.result.largest_error;
    report.push_back(std::move(entry));
  }
  return write_file_atomically(path, std::string_view{to_text(report) + "\n"});
}

int run_conformance(const conformance_options& o) {
  const result<std::vector<test_case>> cases = wanted_cases(o);
  if (!cases) return fail(cases.error());
  session_options options = o.common.session();
  const std::size_t jobs = o.jobs ? o.jobs : available_threads();
  if (jobs > 1 && options.threads == 0) options.threads = 1;  // several cases already use all processor cores
  std::vector<outcome> outcomes(cases->size());
  std::size_t counts[3] = {}, ended = 0;
  options.progress = {};  // the bar shows the progress of all cases, not that of a single one
  progress_bar bar{o.common.quiet};
  interrupt::listen();
  run_isolated(
      cases->size(), jobs, std::chrono::duration<double>{o.timeout},
      [&](std::size_t i) { return to_message(run_case((*cases)[i], options)); },
      [&](std::size_t i, child_end end) {
        outcomes[i] = {from_message(end), end.seconds, true};
        const case_status how = outcomes[i].result.status;
        ++counts[std::size_t(how)];
        if (how == case_status::fail || o.verbose) {
          bar.clear();
          print_line((*cases)[i], outcomes[i]), std::fflush(stdout);
        }
        ++ended;
        if (bar.due())
          bar.show(double(ended) / double(cases->size()),
                   fmt::format("{}/{}, {} failed", ended, cases->size(), counts[1]));
      });
  bar.clear();
  int code = 0;
  if (!o.json_file.empty())
    if (const status written = write_report(o.json_file, *cases, outcomes); !written) code = fail(written);
  if (interrupt::happened())
    code = fail({status_code::canceled, fmt::format("stopped after {} of {} cases", ended, cases->size())});
  else if (counts[1] > 0 && code == 0)
    code = fail({status_code::fail, fmt::format("{} of {} cases failed", counts[1], cases->size())});
  say("{} passed, {} failed, {} skipped\n", counts[0], counts[1], counts[2]);
  return code;
}

std::string check_regex(const std::string& text) {
  try {
    std::regex{text};
    return {};
  } catch (const std::regex_error& e) {
    return "not a regular expression: " + text + " (" + e.what() + ")";
  }
}

}  // namespace

void add_conformance(command_line& app) {
  auto o = std::make_shared<conformance_options>();
  const command it = app.add_command("conformance", "Runs every test folder below the given ones");
  it.add("DIR", o->folders, "Folders with test folders: a model, and test_data_set_*/{input,output}_*.pb").required();
  add_common_options(it, o->common, json_output::none);
  add_policy_option(it, o->common);
  it.add("--filter", o->filter, "Only cases whose name or path has a match").type_name("REGEX").check(check_regex);
  it.add("--timeout", o->timeout, "Seconds that a case may take (60)").type_name("S").range(0.001, 1e6);
  it.add("--jobs", o->jobs, "Cases at once (default: what cpuset and CPU quota allow)")
      .type_name("N")
      .range(std::size_t{1}, std::size_t{1024});
  it.group("Output").add("--json", o->json_file, "Writes [{name, status, reason, seconds, ...}]").type_name("FILE");
  it.group("Output").add_flag("--verbose", o->verbose, "A line for every case, not for failing ones only");
  it.does([o] { return run_conformance(*o); });
}

}  // namespace cameo::program
