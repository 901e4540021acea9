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
/// Recording is thread-safe and does not allocate: records beyond the capacity are counted as dropped. The profile must
/// outlive the runs that it observes. The session must exist during write(), because it owns the names of nodes.
class trace_profile {
 public:
  /// `providers`: the names in session::providers()'s order. `capacity`: the greatest number of recorded steps.
  CAMEO_API explicit trace_profile(std::vector<std::string> providers, std::size_t capacity = std::size_t{1} << 16);
  /// Creates a profile for runs of one session. Names of nodes may be empty or equal, so its events also identify the
  /// step: "step" contains the step's index in the plan; for a step in a subgraph, this is followed by the subgraph's
  /// index among those of that step, the index of the step in the subgraph, and so on. Events also contain the numbers
  /// of "operations" and "bytes" of the step with its actual shapes, except for nodes that a provider has compiled,
  /// whose contents only the provider has.
  CAMEO_API explicit trace_profile(const session&, std::size_t capacity = std::size_t{1} << 16);

  const step_observer& observer() const { return observer_; }
  /// The number of recorded steps.
  CAMEO_API std::size_t size() const;
  /// The number of steps that exceeded the capacity.
  CAMEO_API std::size_t dropped() const;
  /// One recorded step. Times are nanoseconds of a steady clock.
  struct record {
    const plan_step* step;
    std::int64_t start, end;
    std::size_t lane;  // index of the pool's thread; 0 is the caller's
    std::optional<double> operations = {}, bytes = {};
  };
  /// A recorded step; i is below size().
  const record& operator[](std::size_t i) const { return records_[i]; }
  /// Removes all records. Must not be called while a run is observed.
  CAMEO_API void clear();

  /// Writes the file {"traceEvents": [...]} completely or not at all. For each step it has an event of phase X and
  /// category "node" with start and duration in microseconds, operator and provider (and step), on the thread that ran
  /// it; an event of category "work" for what other threads of the pool did for a step; and a name for every thread.
  /// FAIL with the system's message.
  CAMEO_API status write(const std::string& path) const;
  /// Sets the machine's peak rates, which write() adds to the file, so that its readers can compare.
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
  std::unique_ptr<piece[]> pieces_;  // work of the pool's other threads; pieces beyond the capacity are lost
  std::size_t capacity_;
  std::atomic<std::size_t> next_{0}, next_piece_{0};
  step_observer observer_;
};

}  // namespace CAMEO_NAMESPACE
