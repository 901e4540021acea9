#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace peers {

/// Instructions that multiply and add numbers of one type, and their measured rate.
struct unit {
  const char* type;         // "int8", "int16", "bf16"
  const char* flag;         // the flag in /proc/cpuinfo of processors that have the instructions
  const char* instruction;  // the names of the instructions
  double operations = 0;    // per second, with all threads; a multiply-add counts as two
};

/// The processor's flags of instruction sets for which cameo has kernels, in the order in which processors gained them.
std::vector<std::string> processor_flags();

/// Measures each unit that the processor has for about `seconds`.
std::vector<unit> measure_units(std::size_t threads, double seconds);

}  // namespace peers
