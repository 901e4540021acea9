#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <cstdio>

namespace CAMEO_NAMESPACE::os {

bool is_terminal(std::FILE*);
/// The columns of the terminal; 0 if it is not a terminal.
std::size_t terminal_columns(std::FILE*);
/// True for a pipe without a reader.
bool is_reader_gone(std::FILE*);

}  // namespace CAMEO_NAMESPACE::os
