// Runs that end early: at a time limit, and because another thread requests a stop. The model is a Loop that would run
// for hours. The session can still be used afterwards.
//
//     after 50 ms: DEADLINE_EXCEEDED
//     stop requested: CANCELED
//     a short run: sum = int64[] 4999950000
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <thread>

namespace {

using namespace std::chrono_literals;
using runtime = cameo::runtime<cameo::eps::cpu>;

/// sum = 0 + 1 + ... + (trips - 1), with one addition in each iteration of a Loop.
std::unique_ptr<cameo::model> make_model() {
  examples::model_builder net;
  examples::graph_builder body = net.subgraph();
  body.input("i", cameo::dtype::i64, {}).input("go_on", cameo::dtype::boolean, {});
  body.input("so_far", cameo::dtype::i64, {});
  body.node("Identity", {"go_on"}, "still").node("Add", {"so_far", "i"}, "more").output("still").output("more");
  cameo::attribute holds;
  holds.name = "body", holds.kind = cameo::attribute_kind::g, holds.i = 0;
  net.input("trips", cameo::dtype::i64, {}).constant<std::int64_t>("zero", {}, {0});
  net.node("Loop", {"trips", "", "zero"}, "sum", {holds}, "", {&body.graph()}).output("sum");
  return net.finish();
}

}  // namespace

int main() {
  auto session = runtime{}.load(make_model());
  if (!session) return cameo::report(session.error());
  constexpr std::int64_t forever = std::int64_t{1} << 60, some = 100'000;

  auto outputs = session->run({{"trips", forever}}, {.timeout = 50ms});
  if (outputs) return 1;
  const cameo::status_code late = outputs.error().code();
  std::printf("after 50 ms: %s\n", outputs.error().name());

  std::stop_source source;
  std::jthread impatient{[&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  }};
  outputs = session->run({{"trips", forever}}, {.stop = source.get_token()});
  if (outputs) return 1;
  const cameo::status_code stopped = outputs.error().code();
  std::printf("stop requested: %s\n", outputs.error().name());

  outputs = session->run({{"trips", some}}, {.timeout = 1h});
  if (!outputs) return cameo::report(outputs.error());
  std::printf("a short run: ");
  cameo::print(*outputs);
  const auto sum = outputs->get<std::int64_t>("sum");
  const bool right = sum && (*sum)[0] == some * (some - 1) / 2;
  return late == cameo::status_code::deadline_exceeded && stopped == cameo::status_code::canceled && right ? 0 : 1;
}
