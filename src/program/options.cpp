#include "program/options.hpp"

#include "program/progress.hpp"
#include "program/runtime.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cameo::program {

session_options common_options::session() const {
  session_options made;
  made.providers = providers;
  // The default is cpu alone; where there is nothing else, leaving the list empty keeps the fallback implicit.
  if (policy) static_cast<void>(made.prefer(*policy));  // one that there is: see add_policy_option
  else if (providers.empty() && runtime_of<program::providers>::count > 1) made.providers = {"cpu"};
  made.config = config;
  made.threads = threads;
  made.optimize = optimize;
  if (!quiet)
    made.progress = [bar = std::make_shared<progress_bar>(false)](const load_progress& p) {
      if (p.stage == "done") bar->clear();
      else bar->show(p.fraction, p.stage);
    };
  if (log) {
    made.log_from = *log;
    made.log = [](log_level level, std::string_view words) {
      static constexpr std::string_view names[] = {"verbose", "info", "warning"};
      fmt::print(stderr, "{}: {}\n", names[std::size_t(level)], one_line(words));
    };
  }
  return made;
}

void add_common_options(CLI::App& command, common_options& to, json_output json) {
  command.add_option("--ep", to.providers, "Execution provider, short or long name; repeatable, by priority (cpu)")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command.add_option("--threads", to.threads, "Threads in all (default: what cpuset and CPU quota allow)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1024}));
  command
      .add_option_function<std::vector<std::string>>(
          "--config",
          [&to](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs)
              to.config.emplace_back(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
          },
          "Session configuration entry, with ONNX Runtime's names; repeatable")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->check([](const std::string& pair) {
        return pair.find('=') == std::string::npos || pair.front() == '=' ? "needs KEY=VALUE" : std::string{};
      });
  static const std::map<std::string, optimization_level> levels{{"none", optimization_level::none},
                                                                {"basic", optimization_level::basic},
                                                                {"extended", optimization_level::extended},
                                                                {"layout", optimization_level::layout},
                                                                {"all", optimization_level::all}};
  command.add_option("--optimize", to.optimize, "Graph optimization: none, basic, extended, layout or all (default)")
      ->type_name("LEVEL")
      ->transform(CLI::Transformer(levels).description(""))
      ->check([](const std::string& level) {
        for (const auto& [name, value] : levels)
          if (level == name || level == std::to_string(int(value))) return std::string{};
        return "needs none, basic, extended, layout or all, not " + level;
      });
  static const std::map<std::string, log_level> severities{
      {"verbose", log_level::verbose}, {"info", log_level::info}, {"warning", log_level::warning}};
  command
      .add_option_function<std::string>(
          "--log", [&to](const std::string& from) { to.log = severities.at(from); },
          "Says on standard error what loading does, from this severity on: verbose, info or warning")
      ->type_name("SEVERITY")
      ->check([](const std::string& from) {
        return severities.count(from) ? std::string{} : "needs verbose, info or warning, not " + from;
      });
  if (json == json_output::flag)
    command.add_flag("--json", to.json, "One JSON object on standard output, nothing else there");
  command.add_flag("--quiet", to.quiet, "No progress on standard error");
}

void add_policy_option(CLI::App& command, common_options& to) {
  command
      .add_option_function<std::string>(
          "--policy", [&to](const std::string& name) { to.policy = *device_policy_named(name); },
          "Chooses providers by their devices: default, prefer_cpu, prefer_npu, prefer_gpu, max_performance, "
          "max_efficiency or min_overall_power")
      ->type_name("NAME")
      ->excludes(command.get_option("--ep"))
      ->check([](const std::string& name) {
        const result<device_policy> known = device_policy_named(name);
        return known ? std::string{} : std::string{known.error().words()};
      });
}

void add_dim_option(CLI::App& command, dim_sizes& to) {
  command
      .add_option_function<std::vector<std::string>>(
          "--dim",
          [&to](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) static_cast<void>(parse_dim(pair, to.emplace_back()));
          },
          "Size of a symbolic dim of random inputs (1); repeatable")
      ->type_name("NAME=N")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->check([](const std::string& pair) {
        std::pair<std::string, std::int64_t> parsed;
        return parse_dim(pair, parsed) ? std::string{} : "needs NAME=N with N from 0";
      });
}

int fail(const status& error) {
  std::fflush(stdout);
  return report(error);
}

std::string to_text(const nlohmann::ordered_json& object, int indent) {
  return object.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void print_json(const nlohmann::ordered_json& object) {
  const std::string text = to_text(object) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string shape_text(const extents& shape) { return fmt::format("[{}]", fmt::join(shape.dims(), ",")); }

}  // namespace cameo::program
