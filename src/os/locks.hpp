#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>

CAMEO_BEGIN_NAMESPACE
namespace os {

// A lock belongs to an open file or folder. It excludes other handles to it, of this process, too, and ends when the
// handle and its duplicates are closed, at the latest with the process. It keeps no one from reading and writing.

/// Waits until no other handle has the lock.
void lock(const handle&);
/// False if another handle has the lock. FAIL where the system or the file system can't lock this, as on some networks.
result<bool> try_lock(const handle&);

}  // namespace os
CAMEO_END_NAMESPACE
