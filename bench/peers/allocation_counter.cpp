// The counter of allocations of the program cameo (src/program/allocations.cpp) as a library for LD_PRELOAD. It does
// not count memory from mmap, nor allocations that an allocator serves from memory that it holds.
#include "program/allocations.hpp"

/// The number of allocations by all threads since the process began.
extern "C" unsigned long cameo_peers_allocations() { return cameo::program::allocation_count().value_or(0); }
