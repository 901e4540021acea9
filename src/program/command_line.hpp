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

/// What is wrong with a text; nothing if it is fine.
using text_check = std::function<std::string(const std::string&)>;

/// An option, or an argument, of a command. CLI11 is half of the compile time of a file that includes it, so only
/// command_line.cpp does: this is a handle to its object, which may be copied.
class option {
 public:
  explicit option(CLI::Option* it) : it_{it} {}
  option required() const;
  /// "FILE", for the help. Words with bars between them, as in "time|share", are what completions offer.
  option type_name(const char*) const;
  option description(const char*) const;
  option check(text_check) const;
  option between(std::size_t least, std::size_t most) const;
  option between(double least, double most) const;
  /// One of these words and no other; sets the type's name, too.
  option one_of(std::vector<std::string> words) const;
  option needs(option) const;
  option excludes(option) const;

 private:
  CLI::Option* it_;
};

/// A command with its options and its function. Variables that options write to must outlive the command line.
class command {
 public:
  command(CLI::App& it, std::function<int()>& chosen) : it_{&it}, chosen_{&chosen} {}
  /// A command of a command, one of which must then be given.
  command add_command(const char* name, const char* words) const;
  /// The same command; what is added by way of it stands under this heading in the help.
  command group(const char* heading) const;
  /// The heading of options that no help and no completion shows.
  static constexpr const char* hidden = "hidden";
  /// "-o,--output", or "MODEL" for an argument by its place.
  option add(const char* names, std::string& to, const char* words) const;
  option add(const char* names, std::optional<std::string>& to, const char* words) const;
  option add(const char* names, std::vector<std::string>& to, const char* words) const;
  option add(const char* names, std::size_t& to, const char* words) const;
  option add(const char* names, double& to, const char* words) const;
  /// "--yes,!--no" for a flag that can be taken back.
  option add_flag(const char* names, bool& to, const char* words) const;
  /// A flag that calls `take` once if it is given.
  option add_flag(const char* names, std::function<void()> take, const char* words) const;
  /// An option that passes its text to `take`.
  option add(const char* names, std::function<void(const std::string&)> take, const char* words) const;
  /// An option that may be given several times, and passes each text to `take`.
  option add_each(const char* names, std::function<void(const std::string&)> take, const char* words) const;
  /// The option of this name, which must have been added.
  option operator[](const char* name) const;
  bool has(const char* name) const;
  void remove(const char* name) const;
  /// What it does when it is chosen; the program's exit status.
  void does(std::function<int()>) const;

 private:
  option added(CLI::Option*, const char* names) const;

  CLI::App* it_;
  std::function<int()>* chosen_;
  std::string group_ = {};  // empty: none was said
};

/// A command line as data, for pages and completions: they are made from what the commands are made of.
struct described_option {
  std::vector<std::string> names;  // "-o", "--output"; of an argument by its place "MODEL"
  std::string type, words, group;  // an empty type: a flag
  bool is_argument = false, is_required = false, is_repeatable = false;
};
struct described_command {
  std::string name, words;
  std::vector<described_option> options;
  std::vector<described_command> commands;
};

/// Says on standard error what is wrong with the words after a command. Returns the exit status of wrong usage.
int wrong_usage(std::string_view command, std::string_view words);

/// The program's command line: commands, one of which must be given.
class command_line {
 public:
  /// `footer` is printed below the help; `version` is called when it is asked for.
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
