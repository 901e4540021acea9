#include "program/pages.hpp"

#include "program/options.hpp"
#include "program/say.hpp"

#include <cameo/core/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cameo::program {
namespace {

/// Adds the commands below `from`, whose names are prefixed with `above`.
void collect(const described_command& from, const std::string& above,
             std::vector<std::pair<std::string, const described_command*>>& to) {
  for (const described_command& each : from.commands) {
    const std::string name = above.empty() ? each.name : above + " " + each.name;
    if (each.commands.empty()) to.emplace_back(name, &each);
    collect(each, name, to);
  }
}

/// Escapes a text for troff.
std::string roff(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\\') made += "\\e";
    else if (c == '-') made += "\\-";
    else if (c == '\'' && made.empty()) made += "\\(aq";
    else if (c == '.' && made.empty()) made += "\\&.";
    else made += c;
  }
  return made;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string usage_of(const std::string& command, const described_command& c) {
  std::string line = bold("cameo " + command) + " [options]";
  for (const described_option& o : c.options)
    if (o.is_required && !o.is_argument) line += " " + bold(o.names.front()) + " " + italic(o.type);
  for (const described_option& o : c.options) {
    if (!o.is_argument) continue;
    const std::string name = italic(o.names.front()) + (o.is_repeatable ? "..." : "");
    line += o.is_required ? " " + name : " [" + name + "]";
  }
  return line;
}

void add_option_text(std::string& page, const described_option& o) {
  page += ".TP\n";
  for (std::size_t i = 0; i < o.names.size(); ++i)
    page += (i ? ", " : "") + (o.is_argument ? italic(o.names[i]) : bold(o.names[i]));
  if (!o.type.empty()) page += " " + italic(o.type);
  page += "\n" + roff(o.words) + (o.is_required && !o.is_argument ? " (must be given)" : "") + "\n";
}

/// Options under their headings, in the order in which these first appear.
void add_options(std::string& page, const described_command& c) {
  std::vector<std::string> headings;
  for (const described_option& o : c.options)
    if (std::find(headings.begin(), headings.end(), o.group) == headings.end()) headings.push_back(o.group);
  for (const std::string& heading : headings) {
    if (headings.size() > 1 && heading != headings.front()) page += ".PP\n" + italic(heading) + "\n";
    for (const described_option& o : c.options)
      if (o.group == heading) add_option_text(page, o);
  }
}

// --- completions ---

/// Quotes a text for a shell, in single quotes.
std::string in_quotes(std::string_view text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return made + "'";
}

/// The values that an option can have, with blanks between them; empty if it can have any value. The type "a|b|c" lists
/// values; a type with capitals or punctuation is the name of a kind of value.
std::string choices_of(const described_option& o) {
  std::string made = o.type;
  if (made.find('|') == made.npos || made.find_first_of("=.<ABCDEFGHIJKLMNOPQRSTUVWXYZ") != made.npos) return {};
  std::replace(made.begin(), made.end(), '|', ' ');
  return made;
}

bool takes_file(const described_option& o) { return o.type.find("FILE") != o.type.npos || o.type == "OUT"; }
bool takes_folder(const described_option& o) { return o.type == "DIR" || o.type == "FOLDER"; }

/// The beginning of a help text, up to the first ';', ':' or parenthesis, because shells show one line.
std::string short_words(std::string_view words) {
  return std::string{words.substr(0, std::min({words.find("; "), words.find(": "), words.find(" ("), words.size()}))};
}

/// The values that an argument of the command can have, with blanks between them; empty if it can be anything.
std::string argument_words(const described_command& c) {
  for (const described_option& o : c.options)
    if (std::string words = choices_of(o); o.is_argument && !words.empty()) return words;
  return {};
}

std::string bash_completions(const described_command& app) {
  std::string names, cases;
  for (const described_command& each : app.commands) names += (names.empty() ? "" : " ") + each.name;
  for (const described_command& each : app.commands) {
    if (each.commands.empty()) continue;
    std::string actions;
    for (const described_command& action : each.commands) actions += (actions.empty() ? "" : " ") + action.name;
    cases += fmt::format("    {}) words='{}' ;;\n", in_quotes(each.name), actions);
  }
  for (const auto& [name, c] : all_commands(app)) {
    std::string options, values;
    for (const described_option& o : c->options) {
      if (o.is_argument) continue;
      options += fmt::format("{}{}", options.empty() ? "" : " ", fmt::join(o.names, " "));
      if (o.type.empty()) continue;
      const std::string choices = choices_of(o);
      const std::string how = !choices.empty()  ? "words=" + in_quotes(choices)
                              : takes_folder(o) ? std::string{"kind=folder"}
                              : takes_file(o)   ? std::string{"kind=file"}
                                                : std::string{"kind=none"};
      values += fmt::format("        {}) {} ;;\n", fmt::join(o.names, "|"), how);
    }
    cases += fmt::format(
        "    {})\n      case \"$previous\" in\n{}        *) options='{}' arguments='{}' ;;\n      esac ;;\n",
        in_quotes(name), values, options, argument_words(*c));
  }
  return fmt::format(R"(# bash completion for cameo, written by `cameo completion bash`
_cameo() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local commands='{}' command='' words='' options='' arguments='' kind='' i
  # bash splits --option=value into three words.
  if [[ $current == = ]]; then current=''
  elif [[ $previous == = ]] && ((COMP_CWORD > 2)); then previous="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${{COMP_WORDS[i]}}" in
      -*) break ;;
      *) if [[ -z $command ]]; then command="${{COMP_WORDS[i]}}"
         elif [[ $command == package ]]; then command="package ${{COMP_WORDS[i]}}"
         else break; fi ;;
    esac
  done
  case "$command" in
    '') words="$commands --help --version" ;;
{}  esac
  [[ -n $words || -n $kind || $current == -* ]] || words=$arguments
  [[ -n $words || -n $kind || $current != -* ]] || words=$options
  # Files and folders are completed by the shell, which quotes their names.
  COMPREPLY=()
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); compopt +o default
  elif [[ $kind == folder ]]; then compopt +o default -o dirnames
  elif [[ $kind == none ]]; then compopt +o default; fi
}} 2>/dev/null
complete -o default -F _cameo cameo
)",
                     names, cases);
}

/// Escapes the short help text for a description in zsh, which is in brackets.
std::string zsh_words(std::string_view words) {
  std::string made;
  for (const char c : short_words(words))
    made += c == '[' || c == ']' || c == ':' ? std::string{'\\', c} : std::string(1, c);
  return made;
}

std::string zsh_option(const described_option& o) {
  const std::string choices = choices_of(o);
  std::string value;
  if (!o.type.empty())
    value = fmt::format(":{}:{}", zsh_words(o.type),
                        !choices.empty()  ? "(" + choices + ")"
                        : takes_folder(o) ? std::string{"_files -/"}
                        : takes_file(o)   ? std::string{"_files"}
                                          : std::string{" "});
  std::string lines;
  for (const std::string& name : o.names)
    lines += " \\\n        " +
             in_quotes(fmt::format("{}{}{}[{}]{}", o.is_repeatable ? "*" : "", name,
                                   !value.empty() && name.starts_with("--") ? "=" : "", zsh_words(o.words), value));
  return lines;
}

std::string zsh_list(const std::vector<described_command>& commands) {
  std::string made;
  for (const described_command& each : commands)
    made += "    " + in_quotes(each.name + ":" + zsh_words(each.words)) + "\n";
  return made;
}

std::string zsh_arguments(const described_command& c) {
  std::string made = "      _arguments";
  for (const described_option& o : c.options)
    if (!o.is_argument) made += zsh_option(o);
  const std::string words = argument_words(c);
  return made + " \\\n        '*:" + (words.empty() ? "file:_files" : "word:(" + words + ")") + "' ;;\n";
}

std::string zsh_completions(const described_command& app) {
  std::string cases;
  for (const described_command& each : app.commands)
    if (each.commands.empty()) cases += fmt::format("    {})\n{}", each.name, zsh_arguments(each));
  std::string actions;
  for (const described_command& each : app.commands) {
    if (each.commands.empty()) continue;
    actions += fmt::format(
        "  if [[ ${{words[1]}} == {0} ]]; then\n    local -a actions\n    actions=(\n{1}    )\n"
        "    if (( CURRENT == 2 )); then _describe action actions; return; fi\n    shift words; (( CURRENT-- ))\n"
        "    case ${{words[1]}} in\n",
        each.name, zsh_list(each.commands));
    for (const described_command& action : each.commands)
      actions += fmt::format("    {})\n{}", action.name, zsh_arguments(action));
    actions += "    esac\n    return\n  fi\n";
  }
  return fmt::format(R"(#compdef cameo
# zsh completion for cameo, written by `cameo completion zsh`
_cameo() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  shift words; (( CURRENT-- ))
{}  case ${{words[1]}} in
{}  esac
}}
_cameo "$@"
)",
                     zsh_list(app.commands), actions, cases);
}

std::string fish_completions(const described_command& app) {
  std::string made = "# fish completion for cameo, written by `cameo completion fish`\n";
  std::string names;
  for (const described_command& each : app.commands) names += (names.empty() ? "" : " ") + each.name;
  const std::string none = fmt::format("'not __fish_seen_subcommand_from {}'", names);
  for (const described_command& each : app.commands) {
    made +=
        fmt::format("complete -c cameo -f -n {} -a {} -d {}\n", none, each.name, in_quotes(short_words(each.words)));
    for (const described_command& action : each.commands)
      made += fmt::format("complete -c cameo -f -n '__fish_seen_subcommand_from {}' -a {} -d {}\n", each.name,
                          action.name, in_quotes(short_words(action.words)));
  }
  for (const auto& [name, c] : all_commands(app)) {
    std::string seen;
    for (std::size_t at = 0; at < name.size();) {
      const std::size_t end = std::min(name.find(' ', at), name.size());
      seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ", name.substr(at, end - at));
      at = end + 1;
    }
    if (const std::string words = argument_words(*c); !words.empty())
      made += fmt::format("complete -c cameo -f -n '{}' -a {}\n", seen, in_quotes(words));
    for (const described_option& o : c->options) {
      if (o.is_argument) continue;
      made += fmt::format("complete -c cameo -n '{}'", seen);
      for (const std::string& each : o.names)
        made += each.starts_with("--") ? " -l " + each.substr(2) : " -s " + each.substr(1);
      const std::string choices = choices_of(o);
      if (!choices.empty()) made += " -x -a " + in_quotes(choices);
      else if (!o.type.empty()) made += " -r";
      made += " -d " + in_quotes(short_words(o.words)) + "\n";
    }
  }
  return made;
}

}  // namespace

std::vector<std::pair<std::string, const described_command*>> all_commands(const described_command& app) {
  std::vector<std::pair<std::string, const described_command*>> all;
  collect(app, "", all);
  return all;
}

std::string manual_page(const described_command& app) {
  std::string page = fmt::format(
      ".TH CAMEO 1 \"\" \"cameo {}\" \"User Commands\"\n.SH NAME\ncameo \\- runs ONNX models\n", CAMEO_VERSION);
  page += ".SH SYNOPSIS\n";
  const auto commands = all_commands(app);
  for (const auto& [name, c] : commands) page += usage_of(name, *c) + "\n.br\n";
  page += ".SH COMMANDS\n";
  for (const auto& [name, c] : commands) {
    page += ".SS " + roff(name) + "\n" + roff(c->words) + ".\n";
    add_options(page, *c);
  }
  page +=
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe work failed, with one line \\(aqerror: CODE: message\\(aq on "
      "standard "
      "error\n.TP\n2\nwrong usage\n.TP\n130\nthe user stopped it; what was measured until then has been printed\n";
  page += ".SH ENVIRONMENT\n.TP\nNO_COLOR\nno colors on a terminal\n";
  return page;
}

std::string completions_for(const std::string& shell, const described_command& app) {
  return shell == "bash" ? bash_completions(app) : shell == "zsh" ? zsh_completions(app) : fish_completions(app);
}

void add_pages(command_line& app) {
  const auto shell = std::make_shared<std::string>();
  const command completion = app.add_command("completion", "Prints the completion script for a shell");
  completion.add("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  completion.does([shell, &app] { return say("{}", as_it_is{completions_for(*shell, app.describe())}), 0; });
  const command options = app.add_command("options", "Prints the table of session options, as docs/options.md has it");
  options.does([] { return say("{}", as_it_is{option_page()}), 0; });
  const command manual = app.add_command("manual", "Prints the manual page, for man(1): cameo manual | man -l -");
  manual.does([&app] { return say("{}", as_it_is{manual_page(app.describe())}), 0; });
}

}  // namespace cameo::program
