#include "program/command_line.hpp"

#include "core/nearest.hpp"
#include "os/terminals.hpp"
#include "program/say.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace cameo::program {
namespace {

template <class T>
CLI::Validator range_check(T least, T most, const std::string& words) {
  return CLI::Validator{[=](std::string& text) {
                          T number{};
                          const bool is_one = !(std::is_unsigned_v<T> && text.starts_with('-')) &&
                                              CLI::detail::lexical_cast(text, number) && number >= least &&
                                              number <= most;
                          return is_one ? std::string{} : words + ", not " + text;
                        },
                        ""};
}

/// CLI11 converts "-1" to the largest number of an unsigned type.
std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? "needs a number from 0, not " + text : std::string{};
}
constexpr const char* not_negative_name = "not negative";

/// A script that expands a variable that is not set passes an empty word, which is not a path.
std::string not_empty(const std::string& text) { return text.empty() ? "needs a path, not an empty word" : ""; }

std::string list_of(const std::vector<std::string>& words) {
  std::string made;
  for (std::size_t i = 0; i < words.size(); ++i)
    made += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
  return made;
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::Option& o) {
  std::vector<std::string> names;
  for (const std::string& name : o.get_snames()) names.push_back("-" + name);
  for (const std::string& name : o.get_lnames()) names.push_back("--" + name);
  return names;
}

/// Leaves out the value that CLI11 shows for flags that can be reset.
class help_text : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* o, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(o, is_positional);
    constexpr std::string_view taken_back = "{false}";
    if (const std::size_t at = name.find(taken_back); at != name.npos) name.erase(at, taken_back.size());
    return name;
  }
};

}  // namespace

option option::required() const { return option{it_->required()}; }
option option::type_name(const char* name) const {
  for (const std::string_view path : {"FILE", "DIR", "FOLDER", "OUT"})
    if (name == path) it_->check(not_empty);
  return option{it_->type_name(name)};
}
option option::description(const char* words) const { return option{it_->description(words)}; }
option option::check(text_check wrong) const { return option{it_->check(std::move(wrong))}; }
option option::range(std::size_t least, std::size_t most) const {
  it_->get_validator(not_negative_name)->active(false);  // the error of this check is more precise
  return option{it_->check(range_check(least, most, fmt::format("needs a number from {} to {}", least, most)))};
}
option option::range(double least, double most) const {
  return option{it_->check(range_check(least, most, fmt::format("needs a number from {:g} to {:g}", least, most)))};
}
option option::one_of(std::vector<std::string> words) const {
  it_->type_name(fmt::format("{}", fmt::join(words, "|")));
  return check([words = std::move(words)](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) != words.end()) return std::string{};
    return fmt::format("needs {}, not {}{}", list_of(words), text, did_you_mean(text, words));
  });
}
option option::needs(option other) const { return option{it_->needs(other.it_)}; }
option option::excludes(option other) const { return option{it_->excludes(other.it_)}; }

command command::add_command(const char* name, const char* words) const {
  it_->require_subcommand(1);
  return {*it_->add_subcommand(name, words), *chosen_};
}
command command::group(const char* heading) const {
  command made = *this;
  made.group_ = heading;
  return made;
}

option command::added(CLI::Option* made, const char* names) const {
  if (names[0] != '-') made->type_name("")->check(not_empty);  // the argument's name stands for its type
  else if (group_ == hidden) made->group("");
  else if (!group_.empty()) made->group(group_);
  return option{made};
}

option command::add(const char* names, std::string& to, const char* words) const {
  return added(it_->add_option(names, to, words), names);
}
option command::add(const char* names, std::optional<std::string>& to, const char* words) const {
  return added(it_->add_option(names, to, words), names);
}
option command::add(const char* names, std::vector<std::string>& to, const char* words) const {
  return added(it_->add_option(names, to, words), names);
}
option command::add(const char* names, std::size_t& to, const char* words) const {
  return added(it_->add_option(names, to, words)->check(not_negative, "", not_negative_name), names);
}
option command::add(const char* names, double& to, const char* words) const {
  return added(it_->add_option(names, to, words), names);
}
option command::add_flag(const char* names, bool& to, const char* words) const {
  return added(it_->add_flag(names, to, words)->disable_flag_override(), names);
}
option command::add_flag(const char* names, std::function<void()> take, const char* words) const {
  const auto take_all = [take = std::move(take)](std::int64_t) { take(); };
  return added(it_->add_flag_function(names, take_all, words)->disable_flag_override(), names);
}

option command::add(const char* names, std::function<void(const std::string&)> take, const char* words) const {
  return added(it_->add_option_function<std::string>(names, take, words), names);
}

option command::add_each(const char* names, std::function<void(const std::string&)> take, const char* words) const {
  const auto take_all = [take = std::move(take)](const std::vector<std::string>& all) {
    for (const std::string& each : all) take(each);
  };
  CLI::Option* const made = it_->add_option_function<std::vector<std::string>>(names, take_all, words);
  return added(made->expected(1)->allow_extra_args(false)->take_all(), names);
}

option command::operator[](const char* name) const { return option{it_->get_option(name)}; }
bool command::has(const char* name) const { return it_->get_option_no_throw(name) != nullptr; }
void command::remove(const char* name) const { it_->remove_option(it_->get_option(name)); }

void command::does(std::function<int()> what) const {
  it_->callback([what = std::move(what), chosen = chosen_] { *chosen = what; });
}

struct command_line::impl {
  CLI::App app;
  std::function<int()> chosen;
};

command_line::command_line(const char* words, std::function<std::string()> version, const char* footer)
    : impl_{new impl{CLI::App{words, "cameo"}, {}}} {
  impl_->app.set_version_flag("--version", std::move(version),
                              "Prints the version, what it was built from and with, and what it uses here");
  impl_->app.require_subcommand(1);
  impl_->app.set_help_flag("-h,--help", "Prints this help");
  impl_->app.footer(footer);
  impl_->app.formatter(std::make_shared<help_text>());
}
command_line::~command_line() = default;

command command_line::add_command(const char* name, const char* words) const {
  return {*impl_->app.add_subcommand(name, words), impl_->chosen};
}

namespace {

/// An error in the arguments, in words, and the command that it is about.
struct complaint {
  const CLI::App* about;
  std::string command, words;
};

/// Finds the command that the arguments name. The words are empty unless one of the arguments is an unknown command.
complaint find_command(const CLI::App& app, int argc, char** argv) {
  complaint made{&app, "cameo", {}};
  for (int i = 1; i < argc; ++i) {
    const std::vector<std::string> names = names_of(*made.about);
    if (names.empty() || argv[i][0] == '-') break;
    if (std::find(names.begin(), names.end(), argv[i]) == names.end()) {
      made.words = fmt::format("there is no command '{}'{}", argv[i], did_you_mean(argv[i], names));
      break;
    }
    made.about = made.about->get_subcommand(argv[i]);
    made.command += std::string{" "} + argv[i];
  }
  return made;
}

/// The words for an error of CLI11. An unknown option is reported first, because it explains other errors.
std::string words_for(const CLI::App& about, const CLI::ParseError& error) {
  std::vector<std::string> known, rest = about.remaining(true);
  for (const CLI::Option* each : about.get_options())
    for (const std::string& name : option_names(*each)) known.push_back(name);
  std::erase(rest, "--");  // the arguments after it are not options
  for (const std::string& each : rest) {
    const std::string name = each.substr(0, each.find('='));
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (name.size() > 1 && name.front() == '-' && !is_known)
      return fmt::format("there is no option '{}'{}", name, did_you_mean(name, known));
  }
  if (!rest.empty()) return fmt::format("'{}' is one argument too many", rest.front());
  if (!names_of(about).empty()) return "needs a command";
  const std::string_view words = error.what();
  if (const std::size_t at = words.find(" was given a disallowed flag override"); at != words.npos)
    return fmt::format("--{} takes no value", words.substr(0, at));
  if (const std::size_t at = words.find(": At Most 1 required but received "); at != words.npos)
    return fmt::format("{}: is given more than once", words.substr(0, at));
  // "--json: 1 required FILE missing"
  constexpr std::string_view one = ": 1 required ", missing = " missing";
  if (const std::size_t at = words.find(one); at != words.npos && words.ends_with(missing))
    return fmt::format("{}: needs {}", words.substr(0, at),
                       words.substr(at + one.size(), words.size() - missing.size() - at - one.size()));
  return std::string{words};
}

}  // namespace

namespace {

/// The columns of the terminal that help is printed to, or the variable COLUMNS; 0: lines are not wrapped.
std::size_t columns() {
  if (const char* const said = std::getenv("COLUMNS")) return std::size_t(std::max(std::atoi(said), 0));
  return os::terminal_columns(stdout);
}

/// The position at which a line that is longer than `width` is broken: behind the last space that fits, or the last bar
/// of a list of words, or else behind the first space. npos: the line is not broken.
std::size_t break_in(const std::string& line, std::size_t width, std::size_t indent) {
  const std::size_t words = line.find_first_not_of(' '), space = line.rfind(' ', width),
                    bar = line.rfind('|', width - 1);
  for (const std::size_t at : {space, bar, line.find(' ', width)})
    if (at != line.npos && at >= indent && at > words) return at + 1;
  return line.npos;
}

/// Breaks long lines between words. The continuation of an option's words is indented to the column where they begin.
std::string wrapped(const std::string& text, std::size_t width, std::size_t words_column) {
  if (width < 20) return text;
  std::string made;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line); made += line + '\n') {
    const bool is_indented = line.starts_with("  ");
    const std::size_t indent = !is_indented ? 0 : words_column + 20 <= width ? words_column : 6;
    while (line.size() > width) {
      const std::size_t end = break_in(line, width, indent);
      if (end == line.npos) break;
      made += line.substr(0, line.find_last_not_of(' ', end - 1) + 1) + '\n';
      line = std::string(indent, ' ') + line.substr(end);
    }
  }
  return made;
}

/// Replaces `help COMMAND` by `COMMAND --help`.
std::vector<char*> without_help_command(int argc, char** argv) {
  static char asked[] = "--help";
  std::vector<char*> made{argv, argv + argc};
  if (argc < 2 || std::string_view{argv[1]} != "help") return made;
  made.erase(made.begin() + 1);
  made.push_back(asked);
  return made;
}

}  // namespace

int command_line::run(int count, char** given) const {
  std::vector<char*> words = without_help_command(count, given);
  const int argc = int(words.size());
  char** const argv = words.data();
  complaint wrong = find_command(impl_->app, argc, argv);
  if (wrong.words.empty()) try {
      impl_->app.parse(argc, argv);
      return impl_->chosen();
    } catch (const CLI::Success& asked) {
      if (const auto* const version = dynamic_cast<const CLI::CallForVersion*>(&asked))
        return say("{}\n", as_it_is{version->what()}), 0;
      const std::size_t words_column = impl_->app.get_formatter()->get_column_width();
      return say("{}", as_it_is{wrapped(impl_->app.help(), columns(), words_column)}), 0;
    } catch (const CLI::ParseError& e) {
      wrong.words = words_for(*wrong.about, e);
    }
  return wrong_usage(wrong.command, wrong.words);
}

int wrong_usage(std::string_view command, std::string_view words) {
  say(stderr, "{}: {}\n'{} --help' says what there is.\n", command, words, command);
  return 2;
}

namespace {

described_option describe_option(const CLI::Option& o) {
  described_option made;
  made.names = option_names(o);
  made.is_argument = made.names.empty();
  if (made.is_argument) made.names = {o.get_name(true)};
  made.type = o.get_type_size() == 0 ? std::string{} : o.get_type_name();
  made.words = o.get_description();
  made.group = o.get_group();
  made.is_required = o.get_required();
  made.is_repeatable = o.get_items_expected_max() > 1 || o.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return made;
}

described_command describe_command(const CLI::App& app) {
  described_command made{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* each : app.get_options())
    if (!each->get_group().empty()) made.options.push_back(describe_option(*each));
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    made.commands.push_back(describe_command(*each));
  return made;
}

}  // namespace

described_command command_line::describe() const { return describe_command(impl_->app); }

}  // namespace cameo::program
