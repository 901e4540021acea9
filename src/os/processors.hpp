#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <string>

namespace CAMEO_NAMESPACE::os {

/// The number of processors that this process may use at once: those that it is bound to, or fewer if a quota allows
/// less time. At least 1.
std::size_t available_processors();
/// The vendor as the processors report it ("GenuineIntel"); empty if the system does not report it.
std::string processor_vendor();
/// The bytes of memory of this machine; 0 if the system does not report them.
std::size_t machine_memory();

}  // namespace CAMEO_NAMESPACE::os
