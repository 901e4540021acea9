#include "os/terminals.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {

bool is_terminal(std::FILE* file) { return ::isatty(::fileno(file)) == 1; }

std::size_t terminal_columns(std::FILE* file) {
  winsize size{};
  return ::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool is_reader_gone(std::FILE* file) {
  pollfd at{::fileno(file), POLLOUT, 0};
  return ::poll(&at, 1, 0) == 1 && (at.revents & POLLERR);
}

}  // namespace CAMEO_NAMESPACE::os
