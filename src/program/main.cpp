#include "os/interrupts.hpp"
#include "os/terminals.hpp"
#include "program/interrupt.hpp"
#include "program/pages.hpp"
#include "program/share.hpp"
#include "program/version.hpp"

#include <cerrno>
#include <cstring>
#include <new>

namespace cameo::program {
namespace {

int dispatch(int argc, char** argv) {
  command_line app{
      "cameo runs ONNX models.", version_text,
      "Exit status: 0 done; 1 the work failed, with one line 'error: CODE: message' on standard error; 2 wrong "
      "usage; 130 the user stopped it.\n'cameo COMMAND --help' or 'cameo help COMMAND' explains a command."};
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
  add_pages(app);
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
    code = std::ferror(stdout) ? 0 : fail({status_code::fail, e.what()});  // errors of stdout are reported below
  }
  errno = 0;
  const bool is_written = std::fflush(stdout) == 0 && !std::ferror(stdout);
  // If the reader closed the pipe, as in `cameo ops | head`, that is not an error.
  if (!is_written && code == 0 && !os::is_reader_gone(stdout))
    code = fail(status{status_code::fail, errno ? std::strerror(errno) : "not all of it was taken"}.in(
        "cannot write to standard output"));
  return code;
}

}  // namespace
}  // namespace cameo::program

int main(int argc, char** argv) {
  cameo::os::survive_failed_writes();
  cameo::program::interrupt::end_at_once();
  return cameo::program::run(argc, argv);
}
