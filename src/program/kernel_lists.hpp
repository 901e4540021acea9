#pragma once
#include <iterator>
#include <span>
#include <string_view>

namespace cameo::program {

/// A provider's list of kernels as its source has it, which the build puts into the program.
struct kernel_list_text {
  std::string_view provider;  // short name
  std::string_view source;    // of the file that holds `kernel_list<...>`
  std::string_view headers;   // lines "kernel header"
};
std::span<const kernel_list_text> kernel_lists();

}  // namespace cameo::program
