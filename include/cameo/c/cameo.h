/* cameo for C99, and for every language that calls C. A program includes this file and is linked with libcameo.so
   (`pkg-config --cflags --libs cameo`); docs/c.md has a whole program.

   Handles    Every object is an opaque handle; the function that creates it documents who frees it. No structure is
              declared with its members, so sizes can't change between versions. Functions named _free accept NULL.
   Errors     A function that can fail returns NULL for success, and otherwise an error that the caller frees with
              cameo_error_free; its output arguments are then unchanged. Passing NULL where a handle is needed gives
              INVALID_ARGUMENT; functions that do not return an error then return 0, -1, NULL or "".
   Texts      UTF-8, terminated by a zero byte. A returned text lives as long as the handle that was passed to the
              function. Paths, and names in models, need not be valid UTF-8; errors quote their bytes unchanged.
   Threads    A runtime and a session may be used by any number of threads at once. Options, values and bindings must be
              used by one thread at a time, but several threads may read a value. Any thread may request a stop.
   Versions   Symbols have the version CAMEO_C_1. Later versions of cameo add functions and enumerators but change
              none. */
#ifndef CAMEO_C_CAMEO_H
#define CAMEO_C_CAMEO_H

#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32)
#define CAMEO_C_API __attribute__((visibility("default")))
#elif defined(CAMEO_BUILDS_LIBRARY)
#define CAMEO_C_API __declspec(dllexport)
#elif defined(CAMEO_USES_SHARED)
#define CAMEO_C_API __declspec(dllimport)
#else
#define CAMEO_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The reason why a function failed. */
typedef struct cameo_error cameo_error;
/** A list of providers for which models are loaded. */
typedef struct cameo_runtime cameo_runtime;
/** Options for loading and running a model. */
typedef struct cameo_options cameo_options;
/** A loaded model. */
typedef struct cameo_session cameo_session;
/** An input or an output of a session. */
typedef struct cameo_io cameo_io;
/** A tensor, a sequence, a map, or nothing. */
typedef struct cameo_value cameo_value;
/** A session's inputs and outputs bound to memory. */
typedef struct cameo_binding cameo_binding;
/** A request to end loading and runs early. */
typedef struct cameo_stop cameo_stop;

/** The codes of errors: ONNX Runtime's numbers, and from 100 on codes that it lacks. */
enum {
  CAMEO_OK = 0,
  CAMEO_FAIL = 1,
  CAMEO_INVALID_ARGUMENT = 2,
  CAMEO_NO_SUCHFILE = 3,
  CAMEO_NO_MODEL = 4,
  CAMEO_ENGINE_ERROR = 5,
  CAMEO_RUNTIME_EXCEPTION = 6,
  CAMEO_INVALID_PROTOBUF = 7,
  CAMEO_MODEL_LOADED = 8,
  CAMEO_NOT_IMPLEMENTED = 9,
  CAMEO_INVALID_GRAPH = 10,
  CAMEO_EP_FAIL = 11,
  CAMEO_MODEL_LOAD_CANCELED = 12,
  CAMEO_MODEL_REQUIRES_COMPILATION = 13,
  CAMEO_NOT_FOUND = 14,
  CAMEO_CANCELED = 100,
  CAMEO_DEADLINE_EXCEEDED = 101,
  CAMEO_OUT_OF_MEMORY = 102
};

/** The element types of tensors, numbered as in ONNX's TensorProto.DataType. Types of 4 and 2 bits are packed, the
    first element in the lowest bits of a byte. */
enum {
  CAMEO_UNDEFINED = 0,
  CAMEO_FLOAT = 1,
  CAMEO_UINT8 = 2,
  CAMEO_INT8 = 3,
  CAMEO_UINT16 = 4,
  CAMEO_INT16 = 5,
  CAMEO_INT32 = 6,
  CAMEO_INT64 = 7,
  CAMEO_STRING = 8,
  CAMEO_BOOL = 9,
  CAMEO_FLOAT16 = 10,
  CAMEO_DOUBLE = 11,
  CAMEO_UINT32 = 12,
  CAMEO_UINT64 = 13,
  CAMEO_COMPLEX64 = 14,
  CAMEO_COMPLEX128 = 15,
  CAMEO_BFLOAT16 = 16,
  CAMEO_FLOAT8E4M3FN = 17,
  CAMEO_FLOAT8E4M3FNUZ = 18,
  CAMEO_FLOAT8E5M2 = 19,
  CAMEO_FLOAT8E5M2FNUZ = 20,
  CAMEO_UINT4 = 21,
  CAMEO_INT4 = 22,
  CAMEO_FLOAT4E2M1 = 23,
  CAMEO_FLOAT8E8M0 = 24,
  CAMEO_UINT2 = 25,
  CAMEO_INT2 = 26,
  CAMEO_FLOAT6E2M3 = 27,
  CAMEO_FLOAT6E3M2 = 28
};

/** The kinds of values. An empty optional is CAMEO_NONE; any other optional has the kind of its contents. */
enum { CAMEO_NONE = 0, CAMEO_TENSOR = 1, CAMEO_SEQUENCE = 2, CAMEO_MAP = 3, CAMEO_SPARSE_TENSOR = 4 };

/** The severities of messages about loading. */
enum { CAMEO_LOG_VERBOSE = 0, CAMEO_LOG_INFO = 1, CAMEO_LOG_WARNING = 2 };

/** The version of the loaded library: "0.2.0". Lives as long as the process. */
CAMEO_C_API const char* cameo_version(void);

/* --- errors --- */

/** The code of an error, which is never CAMEO_OK; for NULL it is CAMEO_OK. */
CAMEO_C_API int cameo_error_code(const cameo_error* error);
/** The name of an error's code: "INVALID_ARGUMENT". */
CAMEO_C_API const char* cameo_error_name(const cameo_error* error);
/** The message: what was wrong with which file, node, type or shape, and what was expected. May be empty. */
CAMEO_C_API const char* cameo_error_words(const cameo_error* error);
/** Frees an error. */
CAMEO_C_API void cameo_error_free(cameo_error* error);

/* --- runtimes --- */

/** The number of providers that the library was built with; at least one. */
CAMEO_C_API size_t cameo_provider_count(void);
/** The short name of a provider of the library ("cpu"); the last one is the fallback. NULL unless `number` is below
    cameo_provider_count(). Lives as long as the process. */
CAMEO_C_API const char* cameo_provider_name(size_t number);
/** Creates a runtime for these providers, given by short or long name in order of priority. The fallback is always
    last, even if it is not named. Without any name, the runtime has only the fallback, unless a policy in the options
    chooses among all providers. The caller frees the runtime; sessions may outlive it. INVALID_ARGUMENT for a provider
    that the library does not have. */
CAMEO_C_API cameo_error* cameo_runtime_new(const char* const* providers, size_t count, cameo_runtime** made);
/** Frees a runtime. */
CAMEO_C_API void cameo_runtime_free(cameo_runtime* runtime);

/* --- options --- */

/** Creates options with default values; NULL when memory runs out. The caller frees them. Loading copies them, so they
    may be changed or freed afterwards. */
CAMEO_C_API cameo_options* cameo_options_new(void);
/** Frees options. */
CAMEO_C_API void cameo_options_free(cameo_options* options);
/** Sets an option by its name in docs/options.md ("memory_limit"), or a configuration entry, whose key has a dot
    (docs/session_keys.md); the key of a provider's option is "ep.<long name in lower case>.<option>". `text` is the
    value. Where the page shows a list, each call adds to it; otherwise a later value replaces an earlier one.
    INVALID_ARGUMENT for an unknown name, and for a value that the option does not accept. Loading fails with an unknown
    key. */
CAMEO_C_API cameo_error* cameo_options_set(cameo_options* options, const char* key, const char* text);
/** Sets the number of threads, including the caller's; 0, the default: as many as cpuset and CPU quota allow.
    INVALID_ARGUMENT for more than 1024. */
CAMEO_C_API cameo_error* cameo_options_set_threads(cameo_options* options, size_t threads);
/** Sets the level of rewrites of the graph: 0 none, 1 basic, 2 extended, 3 layout, 99 all (the default).
    INVALID_ARGUMENT for another number. */
CAMEO_C_API cameo_error* cameo_options_set_optimization(cameo_options* options, int level);
/** Fixes a dim that the model's inputs leave open, given by its name, so that the model is planned for this size. */
CAMEO_C_API cameo_error* cameo_options_set_free_dim(cameo_options* options, const char* name, int64_t size);
/** Limits the number of bytes for the values of one run; 0, the default: the machine's memory. */
CAMEO_C_API cameo_error* cameo_options_set_memory_limit(cameo_options* options, size_t bytes);
/** Sets the policy that chooses devices, and with them providers, for a runtime that was created without names:
    "prefer_cpu", "prefer_npu", "prefer_gpu", "max_performance", "max_efficiency", "min_overall_power" or "default".
    INVALID_ARGUMENT for another name. */
CAMEO_C_API cameo_error* cameo_options_set_policy(cameo_options* options, const char* policy);
/** Sets the function that receives messages of at least this severity: messages about loading, on the thread that
    loads; and one for the first run whose output differs from its declaration, on that run's thread. `words` is valid
    during the call. `user` is passed to the function and must outlive the sessions. NULL: there are no messages. */
CAMEO_C_API cameo_error* cameo_options_set_log(cameo_options* options,
                                               void (*log)(void* user, int severity, const char* words), void* user,
                                               int least_severity);
/** Sets the function that reports progress while a model is loaded: it is called on the loading thread, at most some
    hundred times, with the stage ("read", ..., "done") and an estimate from 0 to 1 that never decreases. */
CAMEO_C_API cameo_error* cameo_options_set_progress(cameo_options* options,
                                                    void (*progress)(void* user, const char* stage, double fraction),
                                                    void* user);
/** Sets the stop whose request ends loading with MODEL_LOAD_CANCELED; NULL, the default: none. The stop may be freed
    before the options. */
CAMEO_C_API cameo_error* cameo_options_set_stop(cameo_options* options, const cameo_stop* stop);

/* --- sessions --- */

/** Loads a model file, .onnx or .ort. `options` may be NULL. The caller frees the session; its bindings may outlive it.
    Errors are those of the C++ function runtime::load; docs/errors.md lists the codes with their causes. */
CAMEO_C_API cameo_error* cameo_session_load(const cameo_runtime* runtime, const char* path,
                                            const cameo_options* options, cameo_session** made);
/** Loads a model from memory. Weights are not copied: the bytes must stay valid and unchanged until the session and its
    bindings are freed. Messages use `name` in place of the file's name; NULL: "model". */
CAMEO_C_API cameo_error* cameo_session_load_bytes(const cameo_runtime* runtime, const void* bytes, size_t size,
                                                  const char* name, const cameo_options* options, cameo_session** made);
/** Frees a session, which must not be running. */
CAMEO_C_API void cameo_session_free(cameo_session* session);
/** The number of inputs, without initializers that a caller may not replace. */
CAMEO_C_API size_t cameo_session_input_count(const cameo_session* session);
/** The number of outputs. */
CAMEO_C_API size_t cameo_session_output_count(const cameo_session* session);
/** An input by its index in the model's order; NULL for an index that is too large. Lives as long as the session. */
CAMEO_C_API const cameo_io* cameo_session_input(const cameo_session* session, size_t number);
/** An output by its index; see cameo_session_input. */
CAMEO_C_API const cameo_io* cameo_session_output(const cameo_session* session, size_t number);

/** The name of an input or output in the model. */
CAMEO_C_API const char* cameo_io_name(const cameo_io* io);
/** The type of an input or output as text: "tensor(float)[batch,3,224,224]", "seq(tensor(int64))". */
CAMEO_C_API const char* cameo_io_type_text(const cameo_io* io);
/** The element type of a tensor; CAMEO_UNDEFINED for other types. */
CAMEO_C_API int cameo_io_element_type(const cameo_io* io);
/** The rank of a tensor; -1 if the model leaves it open, and for other types. */
CAMEO_C_API int cameo_io_rank(const cameo_io* io);
/** A tensor's size along an axis below its rank; -1 if the model leaves it open. `name`, if not NULL, receives the name
    of the size in the model ("batch"), or "" if it has none. */
CAMEO_C_API int64_t cameo_io_dim(const cameo_io* io, int axis, const char** name);
/** 1 for an input that a run may omit, because it has a default or an optional type; otherwise 0. */
CAMEO_C_API int cameo_io_is_optional(const cameo_io* io);

/* --- values --- */

/** Creates a tensor of `rank` dims whose elements, other than strings, are in the caller's memory, dense and row-major.
    That memory must stay valid while the value is used. INVALID_ARGUMENT unless the elements take exactly `bytes`
    bytes. The caller frees the value. */
CAMEO_C_API cameo_error* cameo_value_tensor(int element_type, const int64_t* dims, size_t rank, const void* elements,
                                            size_t bytes, cameo_value** made);
/** Creates a tensor of strings, which are copied. `lengths` are in bytes; NULL: each string is terminated by a zero
    byte. The caller frees the value. */
CAMEO_C_API cameo_error* cameo_value_strings(const int64_t* dims, size_t rank, const char* const* texts,
                                             const size_t* lengths, cameo_value** made);
/** Creates a sequence of copies of these values. The caller frees it. */
CAMEO_C_API cameo_error* cameo_value_sequence(const cameo_value* const* parts, size_t count, cameo_value** made);
/** Frees a value. A value that belongs to a binding or to another value must not be freed. */
CAMEO_C_API void cameo_value_free(cameo_value* value);
/** The kind of a value: CAMEO_TENSOR and so on. */
CAMEO_C_API int cameo_value_kind(const cameo_value* value);
/** The type of a value's elements; for a map, that of its keys. */
CAMEO_C_API int cameo_value_element_type(const cameo_value* value);
/** The dims of a tensor; their number is stored in `*rank` (`rank` may be NULL). */
CAMEO_C_API const int64_t* cameo_value_dims(const cameo_value* value, size_t* rank);
/** The elements of a tensor, dense and row-major; their size is stored in `*bytes` (`bytes` may be NULL). NULL for a
    tensor of strings, and for other kinds. */
CAMEO_C_API const void* cameo_value_data(const cameo_value* value, size_t* bytes);
/** A string of a tensor, by its index in row-major order. It need not end with a zero byte: its size in bytes is stored
    in `*length`. NULL unless the value is a tensor of strings and the index is in range. */
CAMEO_C_API const char* cameo_value_string(const cameo_value* value, size_t number, size_t* length);
/** The number of nested values: the elements of a sequence; 2 for a map (keys, values) and for a sparse tensor (values,
    indices); 0 for a tensor. */
CAMEO_C_API size_t cameo_value_part_count(const cameo_value* value);
/** A nested value by its index; NULL for an index that is too large. Lives as long as `value`. */
CAMEO_C_API const cameo_value* cameo_value_part(const cameo_value* value, size_t number);

/* --- runs --- */

/** Runs the model once with `count` inputs, given by name. `outputs` receives all outputs in the model's order, which
    the caller frees one by one; `output_count` must be their number. An input that is NULL is an empty optional. `stop`
    may be NULL. The run ends with DEADLINE_EXCEEDED after `timeout` nanoseconds: 0 ends it at once, and a negative
    number sets no limit. Inputs must stay unchanged until the function returns.
      INVALID_ARGUMENT             an input is missing, unknown, given twice, or of another type, rank or size
      CANCELED, DEADLINE_EXCEEDED  the stop was requested, or the time is up
      OUT_OF_MEMORY                memory or the limit in the options is used up
      RUNTIME_EXCEPTION            a kernel threw */
CAMEO_C_API cameo_error* cameo_session_run(const cameo_session* session, const char* const* names,
                                           const cameo_value* const* inputs, size_t count, const cameo_stop* stop,
                                           int64_t timeout, cameo_value** outputs, size_t output_count);

/** Creates a binding, which has separate memory: running it again copies nothing and, from the second run on, allocates
    nothing. A binding has one run at a time; different bindings may run concurrently. The caller frees it. */
CAMEO_C_API cameo_error* cameo_session_bind(const cameo_session* session, cameo_binding** made);
/** Frees a binding. */
CAMEO_C_API void cameo_binding_free(cameo_binding* binding);
/** Makes every run read this value until the input is bound again. The value may be freed at once, but the memory of a
    tensor's elements must stay valid; the elements may change between runs. NULL is an empty optional. INVALID_ARGUMENT
    as for cameo_session_run. */
CAMEO_C_API cameo_error* cameo_binding_input(cameo_binding* binding, const char* name, const cameo_value* value);
/** Makes runs write the output to `elements`, a buffer of `bytes` bytes for a tensor of these dims, which must stay
    valid until the output is bound again. A smaller output fits, and its value has its actual dims; a larger one ends
    the run with INVALID_ARGUMENT. If `elements` is NULL, the output is in the binding's own memory again.
    INVALID_ARGUMENT for another type, and for strings. */
CAMEO_C_API cameo_error* cameo_binding_output(cameo_binding* binding, const char* name, int element_type,
                                              const int64_t* dims, size_t rank, void* elements, size_t bytes);
/** Runs the binding once; stop, timeout and errors are those of cameo_session_run. */
CAMEO_C_API cameo_error* cameo_binding_run(cameo_binding* binding, const cameo_stop* stop, int64_t timeout);
/** An output of the last run by its index; NULL before the first run, after a run that failed, and for an index that is
    too large. It belongs to the binding and is valid until the next run. */
CAMEO_C_API const cameo_value* cameo_binding_result(const cameo_binding* binding, size_t number);

/** Creates a stop that has not been requested; NULL when memory runs out. The caller frees it after the runs to which
    it was passed have ended. */
CAMEO_C_API cameo_stop* cameo_stop_new(void);
/** Ends all loads and runs that have this stop, including those that begin later. May be called from any thread. */
CAMEO_C_API void cameo_stop_request(const cameo_stop* stop);
/** Frees a stop. */
CAMEO_C_API void cameo_stop_free(cameo_stop* stop);

/* --- compiling --- */

/** Compiles the model file `from` for the runtime's providers and writes it to `to` (docs/contexts.md). The compiled
    programs are inside the model if `embed` is not 0, otherwise in files beside it. `options` may be NULL.
    `compiled_nodes`, unless NULL, receives the number of nodes that contain a compiled program. Errors are those of the
    C++ function runtime::compile. */
CAMEO_C_API cameo_error* cameo_compile(const cameo_runtime* runtime, const char* from, const char* to,
                                       const cameo_options* options, int embed, size_t* compiled_nodes);

#ifdef __cplusplus
}
#endif

#endif
