#pragma once
#include <cameo/session/profile.hpp>
#include <cameo/session/session.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cameo::program {

/// How `bench --per-node` orders nodes.
enum class node_order { time, plan, share };

/// What each node of a session's plan took in a number of runs, and what it asked for in the last one.
class node_times {
 public:
  explicit node_times(const session&);

  /// Runs once under observation. Runs of more steps than there was room for are observed again.
  status run(io_binding&);
  /// The bytes that all nodes read and wrote in the last run; nothing if they are not known of one.
  std::optional<double> bytes_of_run() const;
  /// For the command's output: "per_node", its sums in "per_node_sum", and "peak", which is null without one.
  void add_to(nlohmann::ordered_json& report, const std::optional<machine_peak>&, node_order) const;
  /// The same as a table.
  void print(const std::optional<machine_peak>&, node_order) const;

 private:
  struct node {
    const plan_step* step;
    const plan_step* holder;  // whose subgraph it is in; null: none
    std::string output;       // its first output's name, which says which one it is where nodes have no names
    double this_run = 0;      // nanoseconds, without the steps of its subgraphs
    std::size_t calls = 0;    // in the last run
    std::optional<double> operations = {}, bytes = {};
    std::vector<double> runs = {};
  };
  struct row;

  void add(const plan_view&, const plan_step* holder);
  void take_run();
  std::vector<row> rows(const std::optional<machine_peak>&, node_order) const;

  const session& of_;
  std::vector<std::string> providers_;
  std::unique_ptr<trace_profile> profile_;
  std::vector<node> nodes_;
  std::unordered_map<const plan_step*, std::size_t> index_;
};

}  // namespace cameo::program
