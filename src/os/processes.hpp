#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace CAMEO_NAMESPACE::os {

/// The process id of this process.
std::uint32_t process_number();
/// False only if the system reports that no process has this id. The ids of other machines and containers are unknown
/// to it.
bool is_running(std::uint32_t process);
/// The name of this process, as in a list of processes; empty if the system has none.
std::string process_name();
/// The name of this machine in a network; empty if it has none.
std::string host_name();

/// The bytes of memory that this process uses now, and the most that it has used; 0 if the system does not report them.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

}  // namespace CAMEO_NAMESPACE::os
