// The list of kernels in words, for `cameo reduce`. A source of its own: with the table it took a compiler 760 MB.
#include <cameo/eps/cpu.hpp>
#include <cameo/kernel/entry_words.hpp>

#include "kernel_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

std::span<const entry_words> cpu_kernels::words() { return entry_words_of<kernel_rows>(); }

}  // namespace CAMEO_NAMESPACE::eps
