#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace peers {

/// A way to multiply and add numbers of one type, and how fast it is.
struct unit {
  const char* type;         // "int8", "int16", "bf16"
  const char* flag;         // the processor has it if /proc/cpuinfo says so
  const char* instruction;  // what its loop is made of
  double operations = 0;    // a second, with all threads; a multiply-add is two
};

/// Those flags of the processor that decide which kernels run, in the order in which processors got them.
std::vector<std::string> processor_flags();

/// The units that the processor has, each measured for about `seconds`.
std::vector<unit> measure_units(std::size_t threads, double seconds);

}  // namespace peers
