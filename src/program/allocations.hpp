#pragma once
#include <cstdint>
#include <optional>

namespace cameo::program {

/// Calls that allocated from the C library's heap since the program began, C++'s `new` among them; those of all
/// threads. Memory straight from the system (mmap) is not counted. Nothing where the heap is not glibc's own, as in
/// sanitizer builds.
std::optional<std::uint64_t> allocation_count();

}  // namespace cameo::program
