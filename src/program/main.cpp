#include "program/share.hpp"

#include <cameo/core/version.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

namespace cameo::program {
namespace {

int dispatch(int argc, char** argv) {
  command_line app{
      "cameo runs ONNX models.", "cameo " CAMEO_VERSION,
      "Exit status: 0 done; 1 the work failed, with one line 'error: CODE: message' on standard error; 2 wrong "
      "usage.\n'cameo COMMAND --help' explains a command."};
  add_run(app);
  add_bench(app);
  add_conformance(app);
  add_compare(app);
  add_inspect(app);
  add_convert(app);
  add_compile(app);
  add_share(app);
  add_package(app);
  add_ops(app);
  add_devices(app);
  add_reduce(app);
  return app.run(argc, argv);
}

int run(int argc, char** argv) {
  int code = 1;
  try {
    const std::string_view name = argc > 0 ? argv[0] : "";
    code = name.substr(name.rfind('/') + 1) == "ep_weight_sharing_ctx_gen" ? run_weight_sharing(argc, argv)
                                                                           : dispatch(argc, argv);
  } catch (const std::bad_alloc&) {
    code = fail({status_code::out_of_memory, "the program's own memory"});
  } catch (const std::exception& e) {
    code = std::ferror(stdout) ? 0 : fail({status_code::fail, e.what()});  // said below
  }
  errno = 0;
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && code == 0)
    code =
        fail(status{status_code::fail, std::strerror(errno ? errno : EPIPE)}.in("cannot write to standard output: "));
  return code;
}

}  // namespace
}  // namespace cameo::program

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error with words, not a death
  return cameo::program::run(argc, argv);
}
