// The program's commands that have to do with compiled models, for reference providers.
#include "program/share.hpp"

int main(int argc, char** argv) {
  using namespace cameo::program;
  if (std::string_view{argv[0]}.ends_with("/ep_weight_sharing_ctx_gen")) return run_weight_sharing(argc, argv);
  CLI::App app{"cameo of the reference providers", "cameo"};
  app.require_subcommand(1);
  action chosen;
  add_run(app, chosen);
  add_compile(app, chosen);
  add_share(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return chosen();
}
