#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

using runtime = cameo::runtime<cameo::eps::cpu>;  // in order of priority; no other provider is linked

int main() {
  const float pixels[] = {0, 0, 1, 1, 1, 1, 0, 0,  //
                          0, 0, 1, 1, 1, 1, 0, 0,  //
                          0, 0, 0, 0, 1, 1, 0, 0,  //
                          0, 0, 1, 1, 1, 1, 1, 0,  //
                          0, 0, 1, 1, 1, 1, 1, 0,  //
                          0, 0, 0, 1, 1, 0, 0, 0,  //
                          0, 0, 0, 1, 1, 0, 0, 0,  //
                          0, 0, 1, 1, 0, 0, 0, 0};
  auto session = runtime{}.load("digits.onnx");
  if (!session) return cameo::report(session.error());
  auto outputs = session->run({{"image", pixels}});
  return outputs ? cameo::print(*outputs) : cameo::report(outputs.error());
}
