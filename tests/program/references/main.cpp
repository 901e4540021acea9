// The program with the commands for compiled models only, built with the reference providers of tests/context.
#include "program/share.hpp"

int main(int argc, char** argv) {
  using namespace cameo::program;
  if (std::string_view{argv[0]}.ends_with("/ep_weight_sharing_ctx_gen")) return run_weight_sharing(argc, argv);
  command_line app{"cameo of the reference providers", [] { return "cameo"; }, ""};
  add_run(app);
  add_compile(app);
  add_share(app);
  return app.run(argc, argv);
}
