#pragma once
#include <cameo/ep/device.hpp>
#include <cameo/graph/views.hpp>
#include <cameo/kernel/run_context.hpp>
#include <cameo/ort_abi/tables.hpp>

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// The objects that are opaque to plugins, which access them only through the functions of tables.cpp.
namespace CAMEO_NAMESPACE::detail::ort {

struct ort_status {
  std::int32_t code;
  std::string words;
};

struct ort_key_values {
  std::map<std::string, std::string> pairs;
  std::vector<const char*> keys, values;  // of `pairs`, in the same order

  ort_key_values() = default;
  ort_key_values(const ort_key_values& from) : pairs{from.pairs} { list(); }
  ort_key_values& operator=(const ort_key_values& from) { return pairs = from.pairs, list(), *this; }
  void set(const char* key, const char* value);
  void remove(const char* key);

 private:
  void list();
};

struct ort_memory_device {
  std::int32_t device = 0, id = 0, memory = 0;
  std::uint32_t vendor = 0;
  bool operator==(const ort_memory_device&) const = default;
};
struct ort_memory_info {
  std::string name = "Cpu";
  std::int32_t kind = 0;
  ort_memory_device location = {};
};

struct ort_hardware_device {
  hardware_device description;
  ort_key_values metadata;
};

struct ort_ep_device {
  ort_ep_factory* factory = nullptr;
  const ort_hardware_device* hardware = nullptr;
  ort_key_values metadata, options;
  std::string name, vendor;
};

struct ort_logger {
  std::int32_t least_severity = 2;
};

struct ort_session_options {
  ort_key_values entries;
};

struct ort_tensor_info {
  dtype type = dtype::undefined;
  bool has_shape = false;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> names;
};

/// The type of a value: a tensor type, or a type that is not reported to plugins.
struct ort_type_info {
  bool is_tensor = false;
  ort_tensor_info tensor;
};

/// A tensor, in memory of the model or of a run, or in `own`.
struct ort_value {
  value tensor;
  std::vector<std::byte> own;
};

struct ort_value_info {
  std::string name;
  ort_type_info type;
  const ort_graph* in = nullptr;
  const ort_node* producer = nullptr;
  std::size_t producer_output = 0;
  std::vector<std::pair<const ort_node*, std::int64_t>> consumers;
  bool is_input = false, is_optional = false, is_output = false, is_constant = false, is_outer = false;
  ort_value constant;
};

struct ort_attribute {
  std::string name;
  ort_attribute_kind kind = ort_attribute_kind::undefined;
  std::string bytes;  // the representation of a number, a text or a list that ReadOpAttr returns
  value tensor;
};

struct ort_node {
  std::size_t id = 0;
  std::string name, type, domain;
  std::int32_t since = 0;
  const ort_graph* in = nullptr;
  std::vector<const ort_value_info*> inputs, outputs, captured;
  std::deque<ort_attribute> attributes;
  std::vector<const ort_attribute*> listed;  // those that plugins can read
  std::vector<std::pair<std::string, const ort_graph*>> bodies;
  node_id source = node_id::none;
  std::vector<std::string> input_names, output_names;  // only of a node that a plugin made, which has no values
};

struct ort_graph {
  std::string name, path;
  std::int64_t ir_version = 0;
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::deque<ort_value_info> values;
  std::deque<ort_node> nodes;
  std::vector<const ort_value_info*> inputs, outputs, initializers;
  std::vector<const ort_node*> order;
  const ort_node* parent = nullptr;
  std::vector<std::unique_ptr<ort_graph>> bodies;
};

/// Makes the objects for a graph. They refer to the graph's constants.
std::unique_ptr<ort_graph> graph_of(const graph_view&);
/// Makes the node that replaces a graph. Its inputs are `inputs`, values of the graph, followed by the graph's other
/// constants if `with_constants`; otherwise constants are not inputs. The graph gets the same inputs.
std::unique_ptr<ort_node> fused_node_of(ort_graph&, std::string_view name, std::vector<const ort_value_info*> inputs,
                                        bool with_constants);

/// The groups of a graph that a plugin supports.
struct ort_support_info {
  const ort_graph* graph = nullptr;
  struct group {
    std::vector<node_id> nodes;
    bool drops_constants = false;
  };
  std::vector<group> groups;
};

struct ort_compute_context {
  std::string name;
};

/// One run of a fused node.
struct ort_kernel_context {
  run_context* run = nullptr;
  std::vector<ort_value> inputs;
  std::vector<ort_value> outputs;
  std::vector<bool> made;
};

/// The function tables for plugins.
const ort_api_base& api_base();
/// Makes an error that is returned to a plugin.
ort_status* error_of(std::int32_t code, std::string words);
/// Converts and frees the error that a plugin's function `whose` returned; null is success.
status status_of(ort_status*, std::string_view whose);
/// The devices that plugins made and that no library object owns yet. Only these may be returned or released.
struct made_devices {
  std::mutex guard;
  std::set<ort_ep_device*> all;
};
made_devices& devices_made();
/// Takes a node that a plugin made for a context; null if the pointer is not such a node.
std::unique_ptr<ort_node> take_node(ort_node*);

}  // namespace CAMEO_NAMESPACE::detail::ort
