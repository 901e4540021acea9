#include "os/locks.hpp"

#include "native.hpp"

#include <sys/file.h>

namespace CAMEO_NAMESPACE::os {

void lock(const handle& of) {
  (void)uninterrupted([&] { return ::flock(native::number(of), LOCK_EX); });
}

result<bool> try_lock(const handle& of) {
  if (uninterrupted([&] { return ::flock(native::number(of), LOCK_EX | LOCK_NB); }) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return last_error();
}

}  // namespace CAMEO_NAMESPACE::os
