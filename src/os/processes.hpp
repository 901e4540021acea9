#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

CAMEO_BEGIN_NAMESPACE
namespace os {

/// The number of this process.
std::uint32_t process_number();
/// False only if the system says that it has no process with this number. It doesn't know those of other machines and
/// containers.
bool is_running(std::uint32_t process);
/// What the system calls this process, as in a list of processes; empty if it does not know.
std::string process_name();
/// What this machine is called in a network; empty if it has no name.
std::string host_name();

/// The bytes of memory that this process has now, and that it had at most so far; 0 where the system does not say.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

}  // namespace os
CAMEO_END_NAMESPACE
