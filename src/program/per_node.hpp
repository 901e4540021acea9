#pragma once
#include <cameo/session/profile.hpp>
#include <cameo/session/session.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cameo::program {

/// The order of nodes in the output of `bench --per-node`.
enum class node_order { time, plan, share };

/// The times that each node of a session's plan took in a number of runs, and its operations and bytes in the last run.
/// The session must outlive it.
class node_times {
 public:
  explicit node_times(const session&);

  /// Runs the session once and measures each step. A run with more steps than the profile can record is repeated with a
  /// larger profile.
  status run(io_binding&);
  /// The bytes that all nodes read and wrote in the last run; nullopt if they are unknown for a node.
  std::optional<double> bytes_of_run() const;
  /// Adds "per_node", its sums in "per_node_sum", and "peak", which is null if the peak is unknown, to a JSON report.
  void add_to(nlohmann::ordered_json& report, const std::optional<machine_peak>&, node_order) const;
  /// Prints the contents of add_to() as a table.
  void print(const std::optional<machine_peak>&, node_order) const;

 private:
  struct node {
    const plan_step* step;
    const plan_step* holder;  // the step whose subgraph contains this one; null: none
    std::string output;       // the name of the first output, which identifies nodes without names
    double this_run = 0;      // nanoseconds in the last run, without the steps of subgraphs
    std::size_t calls = 0;    // in the last run
    std::optional<double> operations = {}, bytes = {};
    std::vector<double> runs = {};  // nanoseconds in each run
  };
  struct row;

  void add(const plan_view&, const plan_step* holder);
  void take_run();
  std::vector<row> rows(const std::optional<machine_peak>&, node_order) const;

  const session& session_;
  std::vector<std::string> providers_;
  std::unique_ptr<trace_profile> profile_;
  std::vector<node> nodes_;
  std::unordered_map<const plan_step*, std::size_t> index_;
};

}  // namespace cameo::program
