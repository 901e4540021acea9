#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>

namespace CAMEO_NAMESPACE::os {

// A lock belongs to an open file or folder. It excludes other handles to the file, also those of this process, and ends
// when the handle and its duplicates are closed, at the latest with the process. It does not prevent reading and
// writing.

/// Waits until no other handle has the lock.
void lock(const handle&);
/// False if another handle has the lock. FAIL if the system or the file system cannot lock this file, as on some
/// networks.
result<bool> try_lock(const handle&);

}  // namespace CAMEO_NAMESPACE::os
