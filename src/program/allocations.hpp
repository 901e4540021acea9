#pragma once
#include <cstdint>
#include <optional>

namespace cameo::program {

/// The number of calls, by all threads since the program started, that allocated from the C library's heap; C++'s `new`
/// is included, memory that comes directly from the system (mmap) is not. nullopt where the heap is not that of glibc,
/// as in sanitizer builds.
std::optional<std::uint64_t> allocation_count();

}  // namespace cameo::program
