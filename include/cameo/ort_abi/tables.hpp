#pragma once
#include <cameo/core/status.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

/// The binary interface of ONNX Runtime's plugins for execution providers, as far as cameo uses it, for both
/// directions: a cameo provider that ONNX Runtime loads, and a plugin that cameo loads. Each line below is one
/// function: its index in its table, the version 1.N that introduced it, its name, its type. Tables only grow; an index
/// never changes.
namespace CAMEO_NAMESPACE::detail::ort {

// Objects that ONNX Runtime or a plugin of it defines. cameo has only pointers to them.
struct ort_allocator;
struct ort_attribute;
struct ort_compute_context;
struct ort_custom_op_domain;
struct ort_data_transfer;
struct ort_ep_device;
struct ort_graph;
struct ort_hardware_device;
struct ort_kernel_context;
struct ort_key_values;
struct ort_logger;
struct ort_memory_device;
struct ort_memory_info;
struct ort_node;
struct ort_session_options;
struct ort_status;  // null: success
struct ort_support_info;
struct ort_tensor_info;
struct ort_type_info;
struct ort_value;
struct ort_value_info;
struct ort_custom_op;
struct ort_ep;
struct ort_ep_factory;
struct ort_node_compute_info;

/// A table of functions: null for a function that the version lacks.
using ort_table = const void* const*;

/// The argument of a plugin's entry point, from which the plugin gets ONNX Runtime's tables for an API version.
struct ort_api_base {
  ort_table (*GetApi)(std::uint32_t version);  // null for a version newer than the loading runtime's
  const char* (*GetVersionString)();
};

/// The devices that memory can belong to, as these functions number them.
enum class ort_memory_kind : std::int32_t { cpu, gpu, npu };

/// Options for fusing a group of nodes.
struct ort_fusion_options {
  std::uint32_t version;
  bool drop_constant_initializers;  // the fused node stores constants itself and has no inputs for them
};

/// Kinds of attributes, as these functions number them.
enum class ort_attribute_kind : std::int32_t { undefined, i, ints, f, floats, s, strings, g, t };
/// Severities of messages.
enum class ort_severity : std::int32_t { verbose, info, warning, error, fatal };

/// The kinds of constants that an execution provider can leave outside its contexts, as the numbers that its callback
/// returns, and the key of a device's metadata that holds the same as text.
inline constexpr std::int32_t weightless_none = 0, weightless_external = 1, weightless_all = 2, weightless_either = 3;
inline constexpr const char* weightless_metadata = "weightless_support";

/// The newest version whose functions are listed here, and the first version with plugins.
inline constexpr std::uint32_t newest_version = 29, oldest_version = 23;

// clang-format off
#define CAMEO_ORT_API(slot) \
  slot(0, 1, CreateStatus, ort_status*(std::int32_t code, const char* words)) \
  slot(1, 1, GetErrorCode, std::int32_t(const ort_status*)) \
  slot(2, 1, GetErrorMessage, const char*(const ort_status*)) \
  slot(26, 1, CreateCustomOpDomain, ort_status*(const char*, ort_custom_op_domain**)) \
  slot(27, 1, CustomOpDomain_Add, ort_status*(ort_custom_op_domain*, const ort_custom_op*)) \
  slot(50, 1, IsTensor, ort_status*(const ort_value*, int*)) \
  slot(51, 1, GetTensorMutableData, ort_status*(ort_value*, void**)) \
  slot(55, 1, CastTypeInfoToTensorInfo, ort_status*(const ort_type_info*, const ort_tensor_info**)) \
  slot(56, 1, GetOnnxTypeFromTypeInfo, ort_status*(const ort_type_info*, std::int32_t*)) \
  slot(60, 1, GetTensorElementType, ort_status*(const ort_tensor_info*, std::int32_t*)) \
  slot(61, 1, GetDimensionsCount, ort_status*(const ort_tensor_info*, std::size_t*)) \
  slot(62, 1, GetDimensions, ort_status*(const ort_tensor_info*, std::int64_t*, std::size_t)) \
  slot(63, 1, GetSymbolicDimensions, ort_status*(const ort_tensor_info*, const char**, std::size_t)) \
  slot(64, 1, GetTensorShapeElementCount, ort_status*(const ort_tensor_info*, std::size_t*)) \
  slot(65, 1, GetTensorTypeAndShape, ort_status*(const ort_value*, ort_tensor_info**)) \
  slot(66, 1, GetTypeInfo, ort_status*(const ort_value*, ort_type_info**)) \
  slot(67, 1, GetValueType, ort_status*(const ort_value*, std::int32_t*)) \
  slot(68, 1, CreateMemoryInfo, \
       ort_status*(const char*, std::int32_t, int, std::int32_t, ort_memory_info**)) \
  slot(69, 1, CreateCpuMemoryInfo, ort_status*(std::int32_t, std::int32_t, ort_memory_info**)) \
  slot(71, 1, MemoryInfoGetName, ort_status*(const ort_memory_info*, const char**)) \
  slot(72, 1, MemoryInfoGetId, ort_status*(const ort_memory_info*, int*)) \
  slot(73, 1, MemoryInfoGetMemType, ort_status*(const ort_memory_info*, std::int32_t*)) \
  slot(74, 1, MemoryInfoGetType, ort_status*(const ort_memory_info*, std::int32_t*)) \
  slot(75, 1, AllocatorAlloc, ort_status*(ort_allocator*, std::size_t, void**)) \
  slot(76, 1, AllocatorFree, ort_status*(ort_allocator*, void*)) \
  slot(78, 1, GetAllocatorWithDefaultOptions, ort_status*(ort_allocator**)) \
  slot(88, 1, KernelContext_GetInputCount, ort_status*(const ort_kernel_context*, std::size_t*)) \
  slot(89, 1, KernelContext_GetOutputCount, ort_status*(const ort_kernel_context*, std::size_t*)) \
  slot(90, 1, KernelContext_GetInput, ort_status*(const ort_kernel_context*, std::size_t, const ort_value**)) \
  slot(91, 1, KernelContext_GetOutput, \
       ort_status*(ort_kernel_context*, std::size_t, const std::int64_t*, std::size_t, ort_value**)) \
  slot(93, 1, ReleaseStatus, void(ort_status*)) \
  slot(94, 1, ReleaseMemoryInfo, void(ort_memory_info*)) \
  slot(96, 1, ReleaseValue, void(ort_value*)) \
  slot(98, 1, ReleaseTypeInfo, void(ort_type_info*)) \
  slot(99, 1, ReleaseTensorTypeAndShapeInfo, void(ort_tensor_info*)) \
  slot(101, 1, ReleaseCustomOpDomain, void(ort_custom_op_domain*)) \
  slot(194, 10, GetTensorMemoryInfo, ort_status*(const ort_value*, const ort_memory_info**)) \
  slot(211, 12, CreateOpAttr, ort_status*(const char*, const void*, int, std::int32_t kind, ort_attribute**)) \
  slot(212, 12, ReleaseOpAttr, void(ort_attribute*)) \
  slot(219, 13, GetTrainingApi, ort_table(std::uint32_t)) \
  slot(225, 14, MemoryInfoGetDeviceType, void(const ort_memory_info*, std::int32_t*)) \
  slot(237, 14, HasSessionConfigEntry, ort_status*(const ort_session_options*, const char*, int*)) \
  slot(238, 14, GetSessionConfigEntry, ort_status*(const ort_session_options*, const char*, char*, std::size_t*)) \
  slot(246, 15, KernelContext_GetLogger, ort_status*(const ort_kernel_context*, const ort_logger**)) \
  slot(247, 15, Logger_LogMessage, \
       ort_status*(const ort_logger*, std::int32_t severity, const char* words, const char* file, int line, \
                   const char* function)) \
  slot(248, 15, Logger_GetLoggingSeverityLevel, ort_status*(const ort_logger*, std::int32_t*)) \
  slot(254, 15, GetBuildInfoString, const char*()) \
  slot(272, 17, ReadOpAttr, ort_status*(const ort_attribute*, std::int32_t kind, void*, std::size_t, std::size_t*)) \
  slot(274, 17, KernelContext_ParallelFor, \
       ort_status*(const ort_kernel_context*, void (*)(void*, std::size_t), std::size_t, std::size_t, void*)) \
  slot(285, 22, ReleaseValueInfo, void(ort_value_info*)) \
  slot(286, 22, ReleaseNode, void(ort_node*)) \
  slot(289, 22, GetValueInfoName, ort_status*(const ort_value_info*, const char**)) \
  slot(290, 22, GetValueInfoTypeInfo, ort_status*(const ort_value_info*, const ort_type_info**)) \
  slot(291, 22, GetModelEditorApi, ort_table()) \
  slot(294, 22, GetCompileApi, ort_table()) \
  slot(295, 22, CreateKeyValuePairs, void(ort_key_values**)) \
  slot(296, 22, AddKeyValuePair, void(ort_key_values*, const char*, const char*)) \
  slot(297, 22, GetKeyValue, const char*(const ort_key_values*, const char*)) \
  slot(298, 22, GetKeyValuePairs, \
       void(const ort_key_values*, const char* const** keys, const char* const** values, std::size_t*)) \
  slot(299, 22, RemoveKeyValuePair, void(ort_key_values*, const char*)) \
  slot(300, 22, ReleaseKeyValuePairs, void(ort_key_values*)) \
  slot(307, 22, HardwareDevice_Type, std::int32_t(const ort_hardware_device*)) \
  slot(308, 22, HardwareDevice_VendorId, std::uint32_t(const ort_hardware_device*)) \
  slot(309, 22, HardwareDevice_Vendor, const char*(const ort_hardware_device*)) \
  slot(310, 22, HardwareDevice_DeviceId, std::uint32_t(const ort_hardware_device*)) \
  slot(311, 22, HardwareDevice_Metadata, const ort_key_values*(const ort_hardware_device*)) \
  slot(312, 22, EpDevice_EpName, const char*(const ort_ep_device*)) \
  slot(313, 22, EpDevice_EpVendor, const char*(const ort_ep_device*)) \
  slot(314, 22, EpDevice_EpMetadata, const ort_key_values*(const ort_ep_device*)) \
  slot(315, 22, EpDevice_EpOptions, const ort_key_values*(const ort_ep_device*)) \
  slot(316, 22, EpDevice_Device, const ort_hardware_device*(const ort_ep_device*)) \
  slot(317, 22, GetEpApi, ort_table()) \
  slot(318, 23, GetTensorSizeInBytes, ort_status*(const ort_value*, std::size_t*)) \
  slot(320, 23, CreateMemoryInfo_V2, \
       ort_status*(const char*, std::int32_t device, std::uint32_t vendor, std::int32_t id, std::int32_t memory, \
                   std::size_t alignment, std::int32_t kind, ort_memory_info**)) \
  slot(321, 23, MemoryInfoGetDeviceMemType, std::int32_t(const ort_memory_info*)) \
  slot(322, 23, MemoryInfoGetVendorId, std::uint32_t(const ort_memory_info*)) \
  slot(323, 23, ValueInfo_GetValueProducer, ort_status*(const ort_value_info*, const ort_node**, std::size_t*)) \
  slot(324, 23, ValueInfo_GetValueNumConsumers, ort_status*(const ort_value_info*, std::size_t*)) \
  slot(325, 23, ValueInfo_GetValueConsumers, \
       ort_status*(const ort_value_info*, const ort_node**, std::int64_t*, std::size_t)) \
  slot(326, 23, ValueInfo_GetInitializerValue, ort_status*(const ort_value_info*, const ort_value**)) \
  slot(327, 23, ValueInfo_GetExternalInitializerInfo, ort_status*(const ort_value_info*, void**)) \
  slot(328, 23, ValueInfo_IsRequiredGraphInput, ort_status*(const ort_value_info*, bool*)) \
  slot(329, 23, ValueInfo_IsOptionalGraphInput, ort_status*(const ort_value_info*, bool*)) \
  slot(330, 23, ValueInfo_IsGraphOutput, ort_status*(const ort_value_info*, bool*)) \
  slot(331, 23, ValueInfo_IsConstantInitializer, ort_status*(const ort_value_info*, bool*)) \
  slot(332, 23, ValueInfo_IsFromOuterScope, ort_status*(const ort_value_info*, bool*)) \
  slot(333, 23, Graph_GetName, ort_status*(const ort_graph*, const char**)) \
  slot(334, 23, Graph_GetModelPath, ort_status*(const ort_graph*, const char**)) \
  slot(335, 23, Graph_GetOnnxIRVersion, ort_status*(const ort_graph*, std::int64_t*)) \
  slot(336, 23, Graph_GetNumOperatorSets, ort_status*(const ort_graph*, std::size_t*)) \
  slot(337, 23, Graph_GetOperatorSets, ort_status*(const ort_graph*, const char**, std::int64_t*, std::size_t)) \
  slot(338, 23, Graph_GetNumInputs, ort_status*(const ort_graph*, std::size_t*)) \
  slot(339, 23, Graph_GetInputs, ort_status*(const ort_graph*, const ort_value_info**, std::size_t)) \
  slot(340, 23, Graph_GetNumOutputs, ort_status*(const ort_graph*, std::size_t*)) \
  slot(341, 23, Graph_GetOutputs, ort_status*(const ort_graph*, const ort_value_info**, std::size_t)) \
  slot(342, 23, Graph_GetNumInitializers, ort_status*(const ort_graph*, std::size_t*)) \
  slot(343, 23, Graph_GetInitializers, ort_status*(const ort_graph*, const ort_value_info**, std::size_t)) \
  slot(344, 23, Graph_GetNumNodes, ort_status*(const ort_graph*, std::size_t*)) \
  slot(345, 23, Graph_GetNodes, ort_status*(const ort_graph*, const ort_node**, std::size_t)) \
  slot(346, 23, Graph_GetParentNode, ort_status*(const ort_graph*, const ort_node**)) \
  slot(347, 23, Graph_GetGraphView, \
       ort_status*(const ort_graph*, const ort_node**, std::size_t, ort_graph**)) \
  slot(348, 23, Node_GetId, ort_status*(const ort_node*, std::size_t*)) \
  slot(349, 23, Node_GetName, ort_status*(const ort_node*, const char**)) \
  slot(350, 23, Node_GetOperatorType, ort_status*(const ort_node*, const char**)) \
  slot(351, 23, Node_GetDomain, ort_status*(const ort_node*, const char**)) \
  slot(352, 23, Node_GetSinceVersion, ort_status*(const ort_node*, int*)) \
  slot(353, 23, Node_GetNumInputs, ort_status*(const ort_node*, std::size_t*)) \
  slot(354, 23, Node_GetInputs, ort_status*(const ort_node*, const ort_value_info**, std::size_t)) \
  slot(355, 23, Node_GetNumOutputs, ort_status*(const ort_node*, std::size_t*)) \
  slot(356, 23, Node_GetOutputs, ort_status*(const ort_node*, const ort_value_info**, std::size_t)) \
  slot(357, 23, Node_GetNumImplicitInputs, ort_status*(const ort_node*, std::size_t*)) \
  slot(358, 23, Node_GetImplicitInputs, ort_status*(const ort_node*, const ort_value_info**, std::size_t)) \
  slot(359, 23, Node_GetNumAttributes, ort_status*(const ort_node*, std::size_t*)) \
  slot(360, 23, Node_GetAttributes, ort_status*(const ort_node*, const ort_attribute**, std::size_t)) \
  slot(361, 23, Node_GetAttributeByName, ort_status*(const ort_node*, const char*, const ort_attribute**)) \
  slot(362, 23, OpAttr_GetTensorAttributeAsOrtValue, ort_status*(const ort_attribute*, ort_value**)) \
  slot(363, 23, OpAttr_GetType, ort_status*(const ort_attribute*, std::int32_t*)) \
  slot(364, 23, OpAttr_GetName, ort_status*(const ort_attribute*, const char**)) \
  slot(365, 23, Node_GetNumSubgraphs, ort_status*(const ort_node*, std::size_t*)) \
  slot(366, 23, Node_GetSubgraphs, ort_status*(const ort_node*, const ort_graph**, std::size_t, const char** names)) \
  slot(367, 23, Node_GetGraph, ort_status*(const ort_node*, const ort_graph**)) \
  slot(368, 23, Node_GetEpName, ort_status*(const ort_node*, const char**)) \
  slot(378, 23, GetTensorData, ort_status*(const ort_value*, const void**)) \
  slot(379, 23, GetSessionOptionsConfigEntries, ort_status*(const ort_session_options*, ort_key_values**)) \
  slot(390, 24, TensorTypeAndShape_HasShape, bool(const ort_tensor_info*)) \
  slot(395, 24, GetInteropApi, ort_table()) \
  slot(414, 24, GetTensorElementTypeAndShapeDataReference, \
       ort_status*(const ort_value*, std::int32_t*, const std::int64_t**, std::size_t*)) \
  slot(422, 27, GetExperimentalFunction, void*(const char*)) \
  slot(425, 30, KernelContext_GetPreallocatedOutput, \
       ort_status*(const ort_kernel_context*, std::size_t, ort_value**))

#define CAMEO_ORT_EP_API(slot) \
  slot(0, 22, CreateEpDevice, \
       ort_status*(ort_ep_factory*, const ort_hardware_device*, const ort_key_values* metadata, \
                   const ort_key_values* options, ort_ep_device**)) \
  slot(1, 22, ReleaseEpDevice, void(ort_ep_device*)) \
  slot(2, 23, EpGraphSupportInfo_AddNodesToFuse, \
       ort_status*(ort_support_info*, const ort_node* const*, std::size_t, const ort_fusion_options*)) \
  slot(4, 23, NodeComputeContext_NodeName, const char*(const ort_compute_context*)) \
  slot(5, 23, EpDevice_AddAllocatorInfo, ort_status*(ort_ep_device*, const ort_memory_info*)) \
  slot(6, 23, MemoryInfo_GetMemoryDevice, const ort_memory_device*(const ort_memory_info*)) \
  slot(7, 23, Value_GetMemoryDevice, const ort_memory_device*(const ort_value*)) \
  slot(8, 23, MemoryDevice_AreEqual, bool(const ort_memory_device*, const ort_memory_device*)) \
  slot(9, 23, MemoryDevice_GetDeviceType, std::int32_t(const ort_memory_device*)) \
  slot(16, 24, CreateHardwareDevice, \
       ort_status*(std::int32_t kind, std::uint32_t vendor_id, std::uint32_t id, const char* vendor, \
                   const ort_key_values*, ort_hardware_device**)) \
  slot(17, 24, ReleaseHardwareDevice, void(ort_hardware_device*)) \
  slot(49, 24, GetEnvConfigEntries, ort_status*(ort_key_values**)) \
  slot(73, 29, SessionOptionsGetWeightlessSourceModelBuffer, \
       ort_status*(const ort_session_options*, const void**, std::size_t*))

#define CAMEO_ORT_EDITOR_API(slot) \
  slot(6, 22, CreateNode, \
       ort_status*(const char* type, const char* domain, const char* name, const char* const* inputs, std::size_t, \
                   const char* const* outputs, std::size_t, ort_attribute** attributes, std::size_t, ort_node**))

#define CAMEO_ORT_FACTORY(slot) \
  slot(1, 22, GetName, const char*(const ort_ep_factory*)) \
  slot(2, 22, GetVendor, const char*(const ort_ep_factory*)) \
  slot(3, 22, GetSupportedDevices, \
       ort_status*(ort_ep_factory*, const ort_hardware_device* const*, std::size_t, ort_ep_device**, \
                   std::size_t most, std::size_t* count)) \
  slot(4, 22, CreateEp, \
       ort_status*(ort_ep_factory*, const ort_hardware_device* const*, const ort_key_values* const* metadata, \
                   std::size_t, const ort_session_options*, const ort_logger*, ort_ep**)) \
  slot(5, 22, ReleaseEp, void(ort_ep_factory*, ort_ep*)) \
  slot(6, 23, GetVendorId, std::uint32_t(const ort_ep_factory*)) \
  slot(7, 23, GetVersion, const char*(const ort_ep_factory*)) \
  slot(8, 23, ValidateCompiledModelCompatibilityInfo, \
       ort_status*(ort_ep_factory*, const ort_hardware_device* const*, std::size_t, const char* written, \
                   std::int32_t* fit)) \
  slot(9, 23, CreateAllocator, \
       ort_status*(ort_ep_factory*, const ort_memory_info*, const ort_key_values*, ort_allocator**)) \
  slot(10, 23, ReleaseAllocator, void(ort_ep_factory*, ort_allocator*)) \
  slot(11, 23, CreateDataTransfer, ort_status*(ort_ep_factory*, ort_data_transfer**)) \
  slot(12, 23, IsStreamAware, bool(const ort_ep_factory*)) \
  slot(13, 23, CreateSyncStreamForDevice, void()) \
  slot(14, 24, GetHardwareDeviceIncompatibilityDetails, void()) \
  slot(15, 24, CreateExternalResourceImporterForDevice, void()) \
  slot(16, 24, GetNumCustomOpDomains, ort_status*(ort_ep_factory*, std::size_t*)) \
  slot(17, 24, GetCustomOpDomains, ort_status*(ort_ep_factory*, ort_custom_op_domain**, std::size_t)) \
  slot(18, 25, InitGraphicsInterop, void()) \
  slot(19, 25, DeinitGraphicsInterop, void()) \
  slot(20, 28, SelectBestModelCandidate, void())

#define CAMEO_ORT_EP(slot) \
  slot(1, 22, GetName, const char*(const ort_ep*)) \
  slot(2, 23, GetCapability, ort_status*(ort_ep*, const ort_graph*, ort_support_info*)) \
  slot(3, 23, Compile, \
       ort_status*(ort_ep*, const ort_graph**, const ort_node** fused, std::size_t, ort_node_compute_info**, \
                   ort_node** contexts)) \
  slot(4, 23, ReleaseNodeComputeInfos, void(ort_ep*, ort_node_compute_info**, std::size_t)) \
  slot(5, 23, GetPreferredDataLayout, ort_status*(ort_ep*, std::int32_t*)) \
  slot(6, 23, ShouldConvertDataLayoutForOp, void()) \
  slot(7, 23, SetDynamicOptions, void()) \
  slot(8, 23, OnRunStart, void()) \
  slot(9, 23, OnRunEnd, void()) \
  slot(10, 23, CreateAllocator, void()) \
  slot(11, 23, CreateSyncStreamForDevice, void()) \
  slot(12, 23, GetCompiledModelCompatibilityInfo, const char*(ort_ep*, const ort_graph*)) \
  slot(13, 24, GetKernelRegistry, void()) \
  slot(14, 24, IsConcurrentRunSupported, ort_status*(ort_ep*, bool*)) \
  slot(15, 25, Sync, void()) \
  slot(16, 25, CreateProfiler, void()) \
  slot(17, 26, IsGraphCaptureEnabled, void()) \
  slot(18, 26, IsGraphCaptured, void()) \
  slot(19, 26, ReplayGraph, void()) \
  slot(20, 26, GetGraphCaptureNodeAssignmentPolicy, void()) \
  slot(21, 26, GetAvailableResource, void()) \
  slot(22, 27, OnSessionInitializationEnd, ort_status*(ort_ep*)) \
  slot(23, 27, GetDefaultMemoryDevice, void()) \
  slot(24, 27, ReleaseCapturedGraph, void()) \
  slot(25, 29, GetWeightlessSupport, ort_status*(const ort_ep*, std::int32_t* support))

#define CAMEO_ORT_COMPUTE(slot) \
  slot(1, 23, CreateState, ort_status*(ort_node_compute_info*, ort_compute_context*, void** state)) \
  slot(2, 23, Compute, ort_status*(ort_node_compute_info*, void* state, ort_kernel_context*)) \
  slot(3, 23, ReleaseState, void(ort_node_compute_info*, void* state))

#define CAMEO_ORT_ALLOCATOR(slot) \
  slot(1, 1, Alloc, void*(ort_allocator*, std::size_t)) \
  slot(2, 1, Free, void(ort_allocator*, void*)) \
  slot(3, 1, Info, const ort_memory_info*(const ort_allocator*)) \
  slot(4, 18, Reserve, void*(ort_allocator*, std::size_t)) \
  slot(5, 23, GetStats, void()) \
  slot(6, 23, AllocOnStream, void()) \
  slot(7, 25, Shrink, void())

#define CAMEO_ORT_DATA_TRANSFER(slot) \
  slot(1, 23, Release, void(ort_data_transfer*)) \
  slot(2, 23, CanCopy, bool(const ort_data_transfer*, const ort_memory_device*, const ort_memory_device*)) \
  slot(3, 23, CopyTensors, \
       ort_status*(ort_data_transfer*, const ort_value** from, ort_value** to, void** streams, std::size_t))

#define CAMEO_ORT_CUSTOM_OP(slot) \
  slot(1, 1, CreateKernel, void*(const ort_custom_op*, ort_table, const void* about)) \
  slot(2, 1, GetName, const char*(const ort_custom_op*)) \
  slot(3, 1, GetExecutionProviderType, const char*(const ort_custom_op*)) \
  slot(4, 1, GetInputType, std::int32_t(const ort_custom_op*, std::size_t)) \
  slot(5, 1, GetInputTypeCount, std::size_t(const ort_custom_op*)) \
  slot(6, 1, GetOutputType, std::int32_t(const ort_custom_op*, std::size_t)) \
  slot(7, 1, GetOutputTypeCount, std::size_t(const ort_custom_op*)) \
  slot(8, 1, KernelCompute, void(void* kernel, ort_kernel_context*)) \
  slot(9, 1, KernelDestroy, void(void* kernel)) \
  slot(10, 8, GetInputCharacteristic, std::int32_t(const ort_custom_op*, std::size_t)) \
  slot(11, 8, GetOutputCharacteristic, std::int32_t(const ort_custom_op*, std::size_t)) \
  slot(12, 13, GetInputMemoryType, std::int32_t(const ort_custom_op*, std::size_t)) \
  slot(13, 14, GetVariadicInputMinArity, int(const ort_custom_op*)) \
  slot(14, 14, GetVariadicInputHomogeneity, int(const ort_custom_op*)) \
  slot(15, 14, GetVariadicOutputMinArity, int(const ort_custom_op*)) \
  slot(16, 14, GetVariadicOutputHomogeneity, int(const ort_custom_op*)) \
  slot(17, 16, CreateKernelV2, ort_status*(const ort_custom_op*, ort_table, const void* about, void** kernel)) \
  slot(18, 16, KernelComputeV2, ort_status*(void* kernel, ort_kernel_context*)) \
  slot(19, 17, InferOutputShapeFn, void()) \
  slot(20, 17, GetStartVersion, int(const ort_custom_op*)) \
  slot(21, 17, GetEndVersion, int(const ort_custom_op*)) \
  slot(22, 18, GetMayInplace, void()) \
  slot(23, 18, ReleaseMayInplace, void()) \
  slot(24, 18, GetAliasMap, void()) \
  slot(25, 18, ReleaseAliasMap, void())
// clang-format on

/// A function's index in its table and the version that introduced it.
struct slot_row {
  std::uint16_t number;
  std::uint8_t since;
  std::string_view name;
};
/// True if the rows of a table are sorted by index, without duplicates.
constexpr bool in_order(const slot_row* rows, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i)
    if (rows[i - 1].number >= rows[i].number) return false;
  return true;
}
/// True if a table of callbacks is also complete: indices start at 1, as the version lies at 0, and have no gaps.
constexpr bool is_complete(const slot_row* rows, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (rows[i].number != i + 1 || (i > 0 && rows[i].since < rows[i - 1].since)) return false;
  return true;
}

/// The type and the name of the function at an index of a table.
template <auto Slot>
struct slot_type;

#define CAMEO_ORT_NUMBER(number, since, name, ...) name = number,
#define CAMEO_ORT_ROW(number, since, name, ...) {number, since, #name},
#define CAMEO_ORT_MEMBER(number, since, name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#define CAMEO_ORT_TABLE(slots, names, list)                    \
  enum class names : std::uint16_t { list(CAMEO_ORT_NUMBER) }; \
  inline constexpr slot_row slots[] = {list(CAMEO_ORT_ROW)};   \
  static_assert(in_order(slots, std::size(slots)), "places of " #list " rise");
CAMEO_ORT_TABLE(api_rows, api, CAMEO_ORT_API)
CAMEO_ORT_TABLE(ep_api_rows, ep_api, CAMEO_ORT_EP_API)
CAMEO_ORT_TABLE(editor_api_rows, editor_api, CAMEO_ORT_EDITOR_API)
#undef CAMEO_ORT_TABLE

#define CAMEO_ORT_TYPE(number, since, name, ...)      \
  template <>                                         \
  struct slot_type<api::name> {                       \
    using type = __VA_ARGS__;                         \
    static constexpr std::string_view called = #name; \
  };
CAMEO_ORT_API(CAMEO_ORT_TYPE)
#undef CAMEO_ORT_TYPE
#define CAMEO_ORT_TYPE(number, since, name, ...)      \
  template <>                                         \
  struct slot_type<ep_api::name> {                    \
    using type = __VA_ARGS__;                         \
    static constexpr std::string_view called = #name; \
  };
CAMEO_ORT_EP_API(CAMEO_ORT_TYPE)
#undef CAMEO_ORT_TYPE
#define CAMEO_ORT_TYPE(number, since, name, ...)      \
  template <>                                         \
  struct slot_type<editor_api::name> {                \
    using type = __VA_ARGS__;                         \
    static constexpr std::string_view called = #name; \
  };
CAMEO_ORT_EDITOR_API(CAMEO_ORT_TYPE)
#undef CAMEO_ORT_TYPE

// Structures of callbacks: the version that they were written for, then the functions, each at its index.
#define CAMEO_ORT_CALLBACKS(object, rows, list)                                                          \
  struct object {                                                                                        \
    std::uint32_t version = 0;                                                                           \
    list(CAMEO_ORT_MEMBER)                                                                               \
  };                                                                                                     \
  inline constexpr slot_row rows[] = {list(CAMEO_ORT_ROW)};                                              \
  static_assert(is_complete(rows, std::size(rows)), "callbacks of " #list " are complete and in order"); \
  static_assert(sizeof(object) == (1 + std::size(rows)) * sizeof(void*));
CAMEO_ORT_CALLBACKS(ort_ep_factory, factory_rows, CAMEO_ORT_FACTORY)
CAMEO_ORT_CALLBACKS(ort_ep, ep_rows, CAMEO_ORT_EP)
CAMEO_ORT_CALLBACKS(ort_node_compute_info, compute_rows, CAMEO_ORT_COMPUTE)
CAMEO_ORT_CALLBACKS(ort_custom_op, custom_op_rows, CAMEO_ORT_CUSTOM_OP)
CAMEO_ORT_CALLBACKS(ort_allocator, allocator_rows, CAMEO_ORT_ALLOCATOR)
CAMEO_ORT_CALLBACKS(ort_data_transfer, data_transfer_rows, CAMEO_ORT_DATA_TRANSFER)
#undef CAMEO_ORT_CALLBACKS
#undef CAMEO_ORT_MEMBER
#undef CAMEO_ORT_ROW
#undef CAMEO_ORT_NUMBER
#undef CAMEO_ORT_API
#undef CAMEO_ORT_EP_API
#undef CAMEO_ORT_EDITOR_API
#undef CAMEO_ORT_FACTORY
#undef CAMEO_ORT_EP
#undef CAMEO_ORT_COMPUTE
#undef CAMEO_ORT_CUSTOM_OP

/// ONNX Runtime's number for a status code. Codes that ONNX Runtime does not have become the number of FAIL, 1.
constexpr std::int32_t number_of(status_code code) {
  const std::int32_t number = status_rows[std::size_t(code)].number;
  return number < 100 ? number : 1;
}
/// The status code for an error number of ONNX Runtime; FAIL for unknown numbers and for 0, which is not an error.
constexpr status_code code_of(std::int32_t number) {
  for (const status_row& row : status_rows)
    if (number > 0 && row.number == number) return row.id;
  return status_code::fail;
}

/// The function at an index of a table, with its type.
template <auto Slot>
auto* at(ort_table table) {
  using function = typename slot_type<Slot>::type;
  return reinterpret_cast<function*>(const_cast<void*>(table[std::size_t(Slot)]));
}

}  // namespace CAMEO_NAMESPACE::detail::ort
