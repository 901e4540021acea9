// Loads a model with the formats in the macro FORMATS.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  auto session = cameo::runtime<FORMATS cameo::eps::cpu>{}.load(argc > 1 ? argv[1] : "");
  if (!session) return cameo::report(session.error());
  std::puts("ok");
}
