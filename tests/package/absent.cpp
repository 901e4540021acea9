// A library that hides files from the process into which it is preloaded. CAMEO_ABSENT names a file that lists them,
// one absolute path on each line. tests/package/absent.py uses it to configure cameo as on a machine that lacks a
// package, without removing the package.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>

// The C library's headers give these functions attributes and other names, so they are defined under their names in
// assembler.
#define NAMED(function) __asm__(#function)

namespace {

/// The function of this name that the process would call without this library.
template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

using open_function = int(const char*, int, ...);
using fopen_function = std::FILE*(const char*, const char*);
using stat_function = int(const char*, void*);

struct absent_files {
  std::unordered_set<std::string> paths, names;

  absent_files() {
    const char* const list = std::getenv("CAMEO_ABSENT");
    std::FILE* const file = list ? next<fopen_function>("fopen")(list, "re") : nullptr;
    if (!file) return;
    for (char line[PATH_MAX]; std::fgets(line, sizeof line, file);) {
      line[std::strcspn(line, "\n")] = 0;
      paths.emplace(line);
      names.emplace(std::strrchr(line, '/') + 1);
    }
    std::fclose(file);
  }
};

/// True for a file of the list under any of its paths. Few names are in the list, so most calls resolve no path.
bool is_absent(const char* path) {
  static const absent_files files;
  if (!path || files.names.empty()) return false;
  const char* const slash = std::strrchr(path, '/');
  if (!files.names.count(slash ? slash + 1 : path)) return false;
  const std::string folder = !slash ? "." : slash == path ? "/" : std::string(path, slash);
  char real[PATH_MAX];
  if (!realpath(folder.c_str(), real) || !files.paths.count(std::string{real} + "/" + (slash ? slash + 1 : path)))
    return false;
  errno = ENOENT;
  return true;
}

}  // namespace

extern "C" {

#define OPEN(name)                                                                        \
  int absent_##name(const char* path, int flags, ...) NAMED(name);                        \
  int absent_##name(const char* path, int flags, ...) {                                   \
    if (is_absent(path)) return -1;                                                       \
    va_list more;                                                                         \
    va_start(more, flags);                                                                \
    const unsigned mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(more, unsigned) : 0; \
    va_end(more);                                                                         \
    return next<open_function>(#name)(path, flags, mode);                                 \
  }
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)

#define FOPEN(name)                                                             \
  std::FILE* absent_##name(const char* path, const char*) NAMED(name);          \
  std::FILE* absent_##name(const char* path, const char* mode) {                \
    return is_absent(path) ? nullptr : next<fopen_function>(#name)(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define STAT(name)                                           \
  int absent_##name(const char* path, void* to) NAMED(name); \
  int absent_##name(const char* path, void* to) { return is_absent(path) ? -1 : next<stat_function>(#name)(path, to); }
STAT(stat)
STAT(stat64)
STAT(lstat)
STAT(lstat64)

int absent_access(const char* path, int mode) NAMED(access);
int absent_access(const char* path, int mode) {
  return is_absent(path) ? -1 : next<int(const char*, int)>("access")(path, mode);
}

}  // extern "C"
