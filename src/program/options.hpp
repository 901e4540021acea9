#pragma once
#include "program/command_line.hpp"
#include "program/inputs.hpp"
#include "session/option_table.hpp"

#include <cameo/graph/check.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/package/select.hpp>
#include <cameo/transform/transform.hpp>

#include <nlohmann/json_fwd.hpp>

namespace cameo::program {

/// The options that every command accepts: those of a session, and what is printed.
struct common_options : session_options {
  bool is_given = false;   // an option changes how a model is loaded, so the options of a model package do not count
  bool stoppable = false;  // Ctrl-C ends loading with an error: for commands that report what they have until then
  bool ranked = true;      // if no variant of a model package fits the first provider, the next one is tried
  bool json = false, quiet = false, strict = false;

  common_options() { log_from = log_level::warning; }
  session_options session() const;
  /// Like session(), for a model package. The default provider is not added, because a variant for another provider may
  /// fit better.
  session_options for_package() const;
  /// The policy that selects a variant of a model package.
  best_fit variants() const { return {ranked}; }
};

/// Whether a command has the flag --json; that of `conformance` takes a file instead.
enum class json_output : bool { none, flag };
void add_common_options(const command&, common_options&, json_output);
/// --ep and --json of commands that load nothing. The other common options are accepted without effect, so that a
/// script can pass the same ones to every command; help does not show them.
void add_list_options(const command&, common_options&);

/// "--ep NAME", repeatable.
void add_ep_option(const command&, common_options&);
/// "KEY=VALUE", and its two sides.
text_check key_and_value();
std::pair<std::string, std::string> split_pair(const std::string&);

/// The options of one side of a comparison, with their texts.
struct side_options {
  std::vector<std::pair<const option_row*, std::string>> given;

  /// The common options with those of this side: providers replace the common ones, keys are added to them.
  common_options applied_to(common_options) const;
};
/// "--a-ep NAME", "--a-config KEY=VALUE" and "--a-optimize LEVEL" for side "a".
void add_side_options(const command&, const std::string& side, side_options&);

/// "--policy NAME", for commands that load models. It excludes --ep, which must have been added, and --ep-library.
void add_policy_option(const command&, common_options&);

/// "--no-ranked", for commands that choose among the variants of a model package.
void add_ranked_option(const command&, common_options&);

/// "--dim NAME=N", repeatable, for random inputs, or for what else the words say.
void add_dim_option(const command&, dim_sizes&,
                    const char* words =
                        "Size of a symbolic dim of inputs that are made up (default: what it is in inputs that are "
                        "given, else 1); repeatable");

void add_run(command_line&);
void add_bench(command_line&);
void add_conformance(command_line&);
void add_inspect(command_line&);
void add_compare(command_line&);
void add_convert(command_line&);
void add_compile(command_line&);
void add_share(command_line&);
void add_package(command_line&);
void add_ops(command_line&);
void add_devices(command_line&);
void add_reduce(command_line&);

/// The operators of this program: the standard ones, and those of its providers.
op_table known_ops();

/// Reads a model and checks it against the operators of the program's providers. For an ORT file it has neither calls
/// of functions nor operators without kernels in readers of such files (kernels_only; `without` names transforms that
/// are left out, separated by ',' or ';').
result<std::unique_ptr<model>> read_checked(const std::string& path, bool for_ort, std::string_view without = {},
                                            const std::string& external_data_folder = {});

/// Returns INVALID_ARGUMENT if the file to be written is the model that is read, even under another path.
status require_other_file(const std::string& model, const std::string& output);

/// The word of --optimize for a level: "all".
std::string_view level_name(optimization_level);

/// Prints the line `error: CODE: message` to standard error. Returns the exit status: 1, or 130 if the user stopped the
/// program.
int fail(const status&);

/// Prints the line `warning: words` to standard error.
void warn(std::string_view words);

/// The size of the file that was written to a path, in bytes; null for a device or a pipe, which has no size.
nlohmann::ordered_json bytes_written(const std::string& path);
/// The size of the file in words: "12 bytes", or "written" for a device or a pipe.
std::string size_written(const std::string& path);

/// A JSON object as text in ASCII, so that no name controls a terminal. Bytes that are not UTF-8, which names in a
/// model may have, become U+FFFD.
std::string to_text(const nlohmann::ordered_json&, int indent = 2);
/// The version of the objects that commands print (docs/program.md). It grows when a key gets another meaning or goes
/// away.
inline constexpr int json_version = 1;
/// Prints a JSON object to standard output, with a line end, and with "version" as its first key.
void print_json(const nlohmann::ordered_json&);

/// The dims of a tensor: "[1,3]".
std::string shape_text(const extents&);

}  // namespace cameo::program
