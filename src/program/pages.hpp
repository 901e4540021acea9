#pragma once
#include "program/command_line.hpp"

#include <string>

namespace cameo::program {

/// The program's manual page, for man(1).
std::string manual_page(const described_command&);

/// What a shell completes `cameo` with: "bash", "zsh" or "fish".
std::string completions_for(const std::string& shell, const described_command&);

/// A command of commands, as one line each: "run", "package add". Commands that only have others are left out.
std::vector<std::pair<std::string, const described_command*>> all_commands(const described_command&);

/// "manual" and "completion", which print the above; made from what was added to the command line.
void add_pages(command_line&);

}  // namespace cameo::program
