#pragma once
#include "program/command_line.hpp"

#include <string>

namespace cameo::program {

/// The program's manual page in roff, for man(1).
std::string manual_page(const described_command&);

/// The completion script for `cameo` in the shell "bash", "zsh" or "fish".
std::string completions_for(const std::string& shell, const described_command&);

/// All commands with their full names: "run", "package add". Commands that only group others are left out. The pointers
/// refer to the argument.
std::vector<std::pair<std::string, const described_command*>> all_commands(const described_command&);

/// Adds the commands "manual" and "completion", which print the above for the commands of this command line.
void add_pages(command_line&);

}  // namespace cameo::program
