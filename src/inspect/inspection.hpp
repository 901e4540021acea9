#pragma once
#include <cameo/graph/model.hpp>
#include <cameo/session/session.hpp>

#include <map>

namespace cameo::inspect {

struct parameter_sum {
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};

/// Consecutive nodes of the main graph on one provider. A fused node is a separate partition.
struct partition_info {
  std::string provider, fused_from;
  std::string first, last;
  std::size_t nodes = 0;
};

/// The contents of a loaded model, and where its nodes run.
struct inspection {
  std::vector<placement_info> placements;
  std::vector<partition_info> partitions;
  std::map<std::string, std::size_t> ops;
  std::vector<std::pair<std::string, std::size_t>> providers;  // in order of priority
  parameter_sum parameters;
};
inspection look_at(const session&);
/// Inspects a model that was read but not loaded: its operators and parameters, without placements.
inspection look_at(const model&);

/// The name of an operator's domain for display: "ai.onnx" for the empty name.
std::string domain_name(std::string_view domain);

}  // namespace cameo::inspect
