// The program's counter of allocations (src/program/allocations.cpp) as a library that is loaded into a process before
// all others (LD_PRELOAD). Not seen: memory straight from mmap, and allocators that keep stocks of their own.
#include "program/allocations.hpp"

/// Calls of all threads since the process began.
extern "C" unsigned long cameo_peers_allocations() { return cameo::program::allocation_count().value_or(0); }
