#pragma once
#include "program/inputs.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

namespace cameo::program {

/// What every command takes.
struct common_options {
  std::vector<std::string> providers;
  std::vector<std::pair<std::string, std::string>> config;
  std::size_t threads = 0;
  optimization_level optimize = optimization_level::all;
  std::optional<log_level> log;
  std::optional<device_policy> policy;  // then no provider is named
  bool json = false, quiet = false;

  session_options session() const;
};

/// The option --json is the command's own business: `conformance` takes a file there.
enum class json_output : bool { none, flag };
void add_common_options(CLI::App&, common_options&, json_output);

/// "--policy NAME", for commands that load models; instead of --ep, which must have been added.
void add_policy_option(CLI::App&, common_options&);

/// "--dim NAME=N", repeatable.
void add_dim_option(CLI::App&, dim_sizes&);

/// What the chosen command does, as the program's exit status.
using action = std::function<int()>;
void add_run(CLI::App&, action&);
void add_bench(CLI::App&, action&);
void add_conformance(CLI::App&, action&);
void add_inspect(CLI::App&, action&);
void add_convert(CLI::App&, action&);
void add_compile(CLI::App&, action&);
void add_share(CLI::App&, action&);
void add_package(CLI::App&, action&);
void add_ops(CLI::App&, action&);
void add_devices(CLI::App&, action&);
void add_reduce(CLI::App&, action&);

/// A model, checked against the operators of the program's providers; for an ORT file without what that can't hold:
/// calls of functions, and what readers of such files have no kernel for (kernels_only, but for the transforms that
/// `without` names, with commas).
result<std::unique_ptr<model>> read_checked(const std::string& path, bool for_ort, std::string_view without = {});

/// Prints the one line `error: CODE: message` to standard error; 1, the exit status of work that failed.
int fail(const status&);

/// One JSON object as text; bytes that are no UTF-8 (names in a model can be any) become U+FFFD.
std::string to_text(const nlohmann::ordered_json&, int indent = 2);
/// The same to standard output, with a line end.
void print_json(const nlohmann::ordered_json&);

/// "float[1,3]" without elements.
std::string shape_text(const extents&);

}  // namespace cameo::program
