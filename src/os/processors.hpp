#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <string>

CAMEO_BEGIN_NAMESPACE
namespace os {

/// The processors that this process may use at once: those that it is bound to, or fewer where a quota allows less
/// time. At least 1.
std::size_t available_processors();
/// The vendor of the processors as they state it ("GenuineIntel"); empty where the system does not know.
std::string processor_vendor();
/// The bytes of memory that this machine has; 0 where the system does not say.
std::size_t machine_memory();

}  // namespace os
CAMEO_END_NAMESPACE
