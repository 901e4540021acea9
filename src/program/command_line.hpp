#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cameo::program {

/// Returns what is wrong with the text of an option; empty if it is accepted.
using text_check = std::function<std::string(const std::string&)>;

/// An option, or an argument, of a command: a handle to an object of CLI11, which may be copied. CLI11 takes half of
/// the compile time of a file that includes it, so only command_line.cpp does.
class option {
 public:
  explicit option(CLI::Option* it) : it_{it} {}
  option required() const;
  /// What help shows in place of the value: "FILE". Completions offer words with bars between them, as in "time|share".
  option type_name(const char*) const;
  option description(const char*) const;
  option check(text_check) const;
  option range(std::size_t least, std::size_t most) const;
  option range(double least, double most) const;
  /// Accepts only these words, which become the type's name.
  option one_of(std::vector<std::string> words) const;
  option needs(option) const;
  option excludes(option) const;

 private:
  CLI::Option* it_;
};

/// A command with its options and its function. The variables that options write to outlive the command line.
class command {
 public:
  command(CLI::App& it, std::function<int()>& chosen) : it_{&it}, chosen_{&chosen} {}
  /// Adds a subcommand. A command that has subcommands needs one of them.
  command add_command(const char* name, const char* words) const;
  /// A handle to the same command, whose options are under this heading in help.
  command group(const char* heading) const;
  /// The heading of options that neither help nor completions show.
  static constexpr const char* hidden = "hidden";
  /// "-o,--output", or "MODEL" for an argument by its place.
  option add(const char* names, std::string& to, const char* words) const;
  option add(const char* names, std::optional<std::string>& to, const char* words) const;
  option add(const char* names, std::vector<std::string>& to, const char* words) const;
  option add(const char* names, std::size_t& to, const char* words) const;
  option add(const char* names, double& to, const char* words) const;
  /// Adds a flag. "--yes,!--no" is a flag that can be reset.
  option add_flag(const char* names, bool& to, const char* words) const;
  /// Adds a flag that calls `take` once if it is given.
  option add_flag(const char* names, std::function<void()> take, const char* words) const;
  /// Adds an option that passes its text to `take`.
  option add(const char* names, std::function<void(const std::string&)> take, const char* words) const;
  /// Adds an option that may be given several times, and passes each text to `take`.
  option add_each(const char* names, std::function<void(const std::string&)> take, const char* words) const;
  /// The option of this name, which must have been added.
  option operator[](const char* name) const;
  bool has(const char* name) const;
  void remove(const char* name) const;
  /// Sets the function of the command, which returns the program's exit status.
  void does(std::function<int()>) const;

 private:
  option added(CLI::Option*, const char* names) const;

  CLI::App* it_;
  std::function<int()>* chosen_;
  std::string group_ = {};  // empty: the default heading
};

/// A command line as data, from which the manual page and completions are made.
struct described_option {
  std::vector<std::string> names;  // "-o", "--output"; "MODEL" for an argument
  std::string type, words, group;  // an empty type: a flag
  bool is_argument = false, is_required = false, is_repeatable = false;
};
struct described_command {
  std::string name, words;
  std::vector<described_option> options;
  std::vector<described_command> commands;
};

/// Prints on standard error what is wrong with the arguments of a command. Returns the exit status of wrong usage.
int wrong_usage(std::string_view command, std::string_view words);

/// The program's command line: commands, one of which must be given.
class command_line {
 public:
  /// `footer` is printed below the help, and what `version` returns for --version.
  command_line(const char* words, std::function<std::string()> version, const char* footer);
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;
  ~command_line();

  command add_command(const char* name, const char* words) const;
  described_command describe() const;
  /// Runs the chosen command. Returns the exit status: 0 also after printing help, 2 after printing a usage error.
  int run(int argc, char** argv) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace cameo::program
