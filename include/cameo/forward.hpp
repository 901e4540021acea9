#pragma once
// Forward declarations of cameo's types, for headers that only hold pointers or references to them. Including this
// header costs almost no compile time.
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE {

enum class dtype : std::uint8_t;        // core/dtype.hpp
enum class status_code : std::uint8_t;  // core/status.hpp
template <class T>
class result;  // core/result.hpp
template <class T>
class tensor_view;  // core/value.hpp
class extents;      // core/extents.hpp
struct value;

class graph;  // graph/graph.hpp
class graph_view;
class model;  // graph/model.hpp
class node_view;
class value_view;

class any_value;  // session/any_value.hpp
class named_values;
struct named_input;  // session/input.hpp
struct session_options;
struct run_settings;
class stop_source;
class stop_token;
class session;  // session/session.hpp
class io_binding;
struct io_info;
struct placement_info;
struct compile_options;  // session/compile.hpp
struct compile_report;
template <class... Ts>
class runtime;  // session/runtime.hpp

class package;  // cameo/packages.hpp
class pipeline;
class component_context;

class bind_context;  // kernel/bind_context.hpp
class run_context;
struct provider_row;  // ep/provider_row.hpp

}  // namespace CAMEO_NAMESPACE
