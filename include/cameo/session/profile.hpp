#pragma once
#include <cameo/ep/peak.hpp>
#include <cameo/run/runner.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace CAMEO_NAMESPACE {

namespace detail {
struct graph_node;
}  // namespace detail
class session;

/// Records the steps of runs and writes them as a Chrome trace, which Perfetto and chrome://tracing open.
///
///   trace_profile profile{session};
///   session.run(inputs, {.observer = &profile.observer()});
///   profile.write("trace.json");
///
/// Recording is thread-safe and does not allocate: records beyond the capacity are counted as dropped. Outlives the
/// runs that it observes; the session outlives write(), for it owns the names of nodes.
class trace_profile {
 public:
  /// `providers`: names by number, as session::providers() returns them. `capacity`: the number of steps that fit.
  CAMEO_API explicit trace_profile(std::vector<std::string> providers, std::size_t capacity = std::size_t{1} << 16);
  /// For runs of one session. Names of nodes may be empty or equal, so its events also identify the step:
  /// "step" holds the step's number in the plan; in a subgraph then the subgraph's number among those of that step, the
  /// step's number in there, and so on. They also say how many "operations" and "bytes" the step asked for, with the
  /// shapes that it had; not of nodes that a provider has compiled, whose insides only it knows.
  CAMEO_API explicit trace_profile(const session&, std::size_t capacity = std::size_t{1} << 16);

  const step_observer& observer() const { return observer_; }
  /// Number of recorded steps.
  CAMEO_API std::size_t size() const;
  /// Number of steps that did not fit.
  CAMEO_API std::size_t dropped() const;
  /// One recorded step; i below size(). Nanoseconds of a steady clock.
  struct record {
    const plan_step* step;
    std::int64_t start, end;
    std::size_t lane;  // which of the pool's threads; 0 is the caller's
    std::optional<double> operations = {}, bytes = {};
  };
  const record& operator[](std::size_t i) const { return records_[i]; }
  /// Removes all records; not while a run is observed.
  CAMEO_API void clear();

  /// Writes {"traceEvents": [...]}, complete or absent: an event of phase X per step with its time and length in
  /// microseconds, category "node", operator and provider (and step), on the thread that ran it; one of category "work"
  /// for what other threads of the pool did for a step; and a name for every thread. FAIL with the system's message.
  CAMEO_API status write(const std::string& path) const;
  /// What write() says of the machine, for readers that compare.
  void set_peak(machine_peak peak) { peak_ = std::move(peak); }

 private:
  struct piece {
    const plan_step* step;
    std::int64_t start, end;
    std::size_t lane;
  };
  CAMEO_API static void add(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane,
                            const value* values);
  CAMEO_API static void add_piece(void* self, const plan_step&, std::int64_t start, std::int64_t end, std::size_t lane);
  CAMEO_API std::vector<piece> joined_pieces() const;

  std::vector<std::string> providers_;
  const plan_view* plan_ = nullptr;
  std::unordered_map<const plan_step*, const detail::graph_node*> nodes_;  // null: a copy between kinds of memory
  machine_peak peak_;
  std::unique_ptr<record[]> records_;
  std::unique_ptr<piece[]> pieces_;  // of loops, on other threads than the caller's; those beyond the capacity are lost
  std::size_t capacity_;
  std::atomic<std::size_t> next_{0}, next_piece_{0};
  step_observer observer_;
};

}  // namespace CAMEO_NAMESPACE
