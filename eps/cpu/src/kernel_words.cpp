// The kernel list as text, for `cameo reduce`. It is a separate source because together with the table it would take a
// compiler 760 MB.
#include <cameo/eps/cpu.hpp>
#include <cameo/kernel/entry_words.hpp>

#include "kernel_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

std::span<const entry_words> cpu_kernels::words() { return entry_words_of<kernel_rows>(); }

}  // namespace CAMEO_NAMESPACE::eps
