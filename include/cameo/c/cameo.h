/* cameo for C99, and for every language that calls C. A program includes this file and is linked with libcameo.so
   (`pkg-config --cflags --libs cameo`); docs/c.md has a whole program.

   Handles    Everything that cameo makes is an opaque handle, and what makes it says who frees it. No structure is
              declared with its members, so none can change its size. Functions named _free take NULL, too.
   Errors     A function that can fail returns NULL for success, and otherwise an error that the caller frees with
              cameo_error_free. What it would have made is then left as it was. A NULL where a handle is needed is
              INVALID_ARGUMENT; functions that return no error say 0, -1, NULL or "" of it.
   Texts      UTF-8, ended by a zero. A text that is returned lives as long as the handle that it was asked of. Paths, and
              names in models, may have other bytes; errors quote them as they are.
   Threads    A runtime and a session may be used by any number of threads at once. Options, values and bindings are used
              by one thread at a time; values may be read by several. A stop may be requested from any thread.
   Versions   Symbols have the version CAMEO_C_1. Later versions of cameo add functions and numbers, and change none. */
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

/** Why a function failed. */
typedef struct cameo_error cameo_error;
/** Providers of the build that models are loaded for. */
typedef struct cameo_runtime cameo_runtime;
/** How a model is loaded and run. */
typedef struct cameo_options cameo_options;
/** A loaded model. */
typedef struct cameo_session cameo_session;
/** An input or an output of a session. */
typedef struct cameo_io cameo_io;
/** A tensor, a sequence, a map, or nothing. */
typedef struct cameo_value cameo_value;
/** A session with its inputs and outputs bound to memory. */
typedef struct cameo_binding cameo_binding;
/** Ends loading and runs early. */
typedef struct cameo_stop cameo_stop;

/** The codes of errors: ONNX Runtime's numbers, and from 100 on what it lacks. */
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

/** The element types of tensors, numbered as in ONNX's TensorProto.DataType. Types of 4 and 2 bits are packed, the first
    element in the lowest bits of a byte. */
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

/** The kinds of values. An optional that is empty is CAMEO_NONE; one that is not has the kind of what it holds. */
enum { CAMEO_NONE = 0, CAMEO_TENSOR = 1, CAMEO_SEQUENCE = 2, CAMEO_MAP = 3, CAMEO_SPARSE_TENSOR = 4 };

/** The severities of messages about loading. */
enum { CAMEO_LOG_VERBOSE = 0, CAMEO_LOG_INFO = 1, CAMEO_LOG_WARNING = 2 };

/** The version of the library that is loaded: "0.2.0". Lives as long as the process. */
CAMEO_C_API const char* cameo_version(void);

/* --- errors --- */

/** The code of an error, which is never CAMEO_OK; CAMEO_OK of NULL. */
CAMEO_C_API int cameo_error_code(const cameo_error* error);
/** The name of that code: "INVALID_ARGUMENT". */
CAMEO_C_API const char* cameo_error_name(const cameo_error* error);
/** What happened, in words: file, node, types and shapes, and what would be right. May be empty. */
CAMEO_C_API const char* cameo_error_words(const cameo_error* error);
/** Frees an error. */
CAMEO_C_API void cameo_error_free(cameo_error* error);

/* --- runtimes --- */

/** The number of providers that the library was built with; at least one. */
CAMEO_C_API size_t cameo_provider_count(void);
/** The short name of a provider ("cpu"), in the order of the build; the last is the fallback. NULL for a number that is
    not below cameo_provider_count(). Lives as long as the process. */
CAMEO_C_API const char* cameo_provider_name(size_t number);
/** Makes a runtime of these providers of the build, by short or long name, in order of priority; the fallback is last,
    named or not. Without any name it is the fallback alone, and a policy in the options may choose among all. The caller
    frees it; sessions may outlive it. INVALID_ARGUMENT for a name that the build does not have. */
CAMEO_C_API cameo_error* cameo_runtime_new(const char* const* providers, size_t count, cameo_runtime** made);
/** Frees a runtime. */
CAMEO_C_API void cameo_runtime_free(cameo_runtime* runtime);

/* --- options --- */

/** Makes options with the defaults of everything; NULL when memory runs out. The caller frees them. Loading copies what
    they say, so they may be freed or changed then. */
CAMEO_C_API cameo_options* cameo_options_new(void);
/** Frees options. */
CAMEO_C_API void cameo_options_free(cameo_options* options);
/** Sets an option by its name in docs/options.md ("memory_limit"), or a session key, which has a dot
    (docs/session_keys.md); an option of a provider is "ep.<long name in lower case>.<option>". `text` is the value. Where
    the page shows a list, each call adds to it; otherwise the last call counts. INVALID_ARGUMENT for an unknown name, and
    for a value that the option does not accept. An unknown key is an error of loading. */
CAMEO_C_API cameo_error* cameo_options_set(cameo_options* options, const char* key, const char* text);
/** Threads in all, the caller's included; 0: what cpuset and CPU quota allow, which is the default. INVALID_ARGUMENT for
    more than 1024. */
CAMEO_C_API cameo_error* cameo_options_set_threads(cameo_options* options, size_t threads);
/** How far the graph is rewritten: 0 none, 1 basic, 2 extended, 3 layout, 99 all, which is the default.
    INVALID_ARGUMENT for another number. */
CAMEO_C_API cameo_error* cameo_options_set_optimization(cameo_options* options, int level);
/** The size of a dim that the model's inputs leave open, by its name: the model is planned for it. */
CAMEO_C_API cameo_error* cameo_options_set_free_dim(cameo_options* options, const char* name, int64_t size);
/** Bytes for the values of one run; 0: the machine's memory, which is the default. */
CAMEO_C_API cameo_error* cameo_options_set_memory_limit(cameo_options* options, size_t bytes);
/** A policy that chooses devices, and with them providers, in a runtime that was made without names: "prefer_cpu",
    "prefer_npu", "prefer_gpu", "max_performance", "max_efficiency", "min_overall_power" or "default".
    INVALID_ARGUMENT for another name. */
CAMEO_C_API cameo_error* cameo_options_set_policy(cameo_options* options, const char* policy);
/** Receives messages of at least this severity: about loading on the thread that loads, and about the first run whose
    output is not as declared on that run's thread. `words` is valid during the call. `user` is passed on, and outlives the
    sessions. Without a function there are no messages. */
CAMEO_C_API cameo_error* cameo_options_set_log(cameo_options* options,
                                               void (*log)(void* user, int severity, const char* words), void* user,
                                               int least_severity);
/** Called while a model is loaded, on the thread that loads it, some hundred times at most: with the stage ("read", ...,
    "done") and an estimate from 0 to 1 that never falls. */
CAMEO_C_API cameo_error* cameo_options_set_progress(cameo_options* options,
                                                    void (*progress)(void* user, const char* stage, double fraction),
                                                    void* user);
/** Loading ends with MODEL_LOAD_CANCELED once a stop is requested. The stop may be freed before the options. NULL: never,
    which is the default. */
CAMEO_C_API cameo_error* cameo_options_set_stop(cameo_options* options, const cameo_stop* stop);

/* --- sessions --- */

/** Loads a model, .onnx or .ort, from a file. `options` may be NULL. The caller frees the session; bindings of it may
    outlive it. Errors are those of the C++ function runtime::load; docs/errors.md lists the codes with their causes. */
CAMEO_C_API cameo_error* cameo_session_load(const cameo_runtime* runtime, const char* path,
                                            const cameo_options* options, cameo_session** made);
/** The same from memory. Weights are not copied: the bytes stay valid and unchanged until the session and its bindings
    are freed. `name` stands for the file in messages; NULL: "model". */
CAMEO_C_API cameo_error* cameo_session_load_bytes(const cameo_runtime* runtime, const void* bytes, size_t size,
                                                  const char* name, const cameo_options* options,
                                                  cameo_session** made);
/** Frees a session. No run of it may be under way. */
CAMEO_C_API void cameo_session_free(cameo_session* session);
/** The number of inputs, without initializers that a caller may not replace. */
CAMEO_C_API size_t cameo_session_input_count(const cameo_session* session);
/** The number of outputs. */
CAMEO_C_API size_t cameo_session_output_count(const cameo_session* session);
/** An input, in the model's order; NULL for a number that is too large. Lives as long as the session. */
CAMEO_C_API const cameo_io* cameo_session_input(const cameo_session* session, size_t number);
/** An output; see cameo_session_input. */
CAMEO_C_API const cameo_io* cameo_session_output(const cameo_session* session, size_t number);

/** Its name in the model. */
CAMEO_C_API const char* cameo_io_name(const cameo_io* io);
/** Its type in words: "tensor(float)[batch,3,224,224]", "seq(tensor(int64))". */
CAMEO_C_API const char* cameo_io_type_text(const cameo_io* io);
/** The type of a tensor's elements; CAMEO_UNDEFINED where it is no tensor. */
CAMEO_C_API int cameo_io_element_type(const cameo_io* io);
/** The rank of a tensor; -1 where the model leaves it open, or where it is no tensor. */
CAMEO_C_API int cameo_io_rank(const cameo_io* io);
/** A tensor's size along an axis below its rank; -1 where the model leaves it open. `name`, if not NULL, then receives the
    name that the model gives the size ("batch"), or "" for none. */
CAMEO_C_API int64_t cameo_io_dim(const cameo_io* io, int axis, const char** name);
/** 1 for an input with a default, or one of an optional type, which a run may be given without; else 0. */
CAMEO_C_API int cameo_io_is_optional(const cameo_io* io);

/* --- values --- */

/** A tensor of `rank` dims in the caller's memory, dense and row-major, which stays valid as long as the value is used; not
    of strings. INVALID_ARGUMENT when the elements take another number of bytes than `bytes`. The caller frees it. */
CAMEO_C_API cameo_error* cameo_value_tensor(int element_type, const int64_t* dims, size_t rank, const void* elements,
                                            size_t bytes, cameo_value** made);
/** A tensor of strings, which are copied. `lengths` in bytes; NULL: each text ends at its zero. The caller frees it. */
CAMEO_C_API cameo_error* cameo_value_strings(const int64_t* dims, size_t rank, const char* const* texts,
                                             const size_t* lengths, cameo_value** made);
/** A sequence of copies of these values. The caller frees it. */
CAMEO_C_API cameo_error* cameo_value_sequence(const cameo_value* const* parts, size_t count, cameo_value** made);
/** Frees a value; not one that belongs to a binding or to another value. */
CAMEO_C_API void cameo_value_free(cameo_value* value);
/** CAMEO_TENSOR and so on. */
CAMEO_C_API int cameo_value_kind(const cameo_value* value);
/** The type of its elements; of a map, of its keys. */
CAMEO_C_API int cameo_value_element_type(const cameo_value* value);
/** A tensor's dims, of which there are `*rank` (`rank` may be NULL). */
CAMEO_C_API const int64_t* cameo_value_dims(const cameo_value* value, size_t* rank);
/** A tensor's elements, dense and row-major, and how many bytes they take (`bytes` may be NULL). NULL for a tensor of
    strings, and for what is no tensor. */
CAMEO_C_API const void* cameo_value_data(const cameo_value* value, size_t* bytes);
/** A string of a tensor, by its number in row-major order. It need not end with a zero: `*length` is its bytes. NULL for
    what is no tensor of strings, and for a number that is too large. */
CAMEO_C_API const char* cameo_value_string(const cameo_value* value, size_t number, size_t* length);
/** The number of parts: the elements of a sequence; 2 for a map (keys, values) and for a sparse tensor (values, indices);
    0 for a tensor. */
CAMEO_C_API size_t cameo_value_part_count(const cameo_value* value);
/** A part; NULL for a number that is too large. Lives as long as the value. */
CAMEO_C_API const cameo_value* cameo_value_part(const cameo_value* value, size_t number);

/* --- runs --- */

/** One run: `count` inputs by name, and all outputs in the model's order. `output_count` is the number of outputs, and
    `outputs` receives values that the caller frees, one by one. A value NULL stands for an empty optional. `stop` may be
    NULL; the run ends with DEADLINE_EXCEEDED after `timeout` nanoseconds, at once if it is 0, and never if it is
    negative. Inputs stay unchanged until it returns.
      INVALID_ARGUMENT             an input is missing, unknown, given twice, or of another type, rank or size
      CANCELED, DEADLINE_EXCEEDED  by the stop and the timeout
      OUT_OF_MEMORY                memory or the limit in the options is used up
      RUNTIME_EXCEPTION            a kernel threw */
CAMEO_C_API cameo_error* cameo_session_run(const cameo_session* session, const char* const* names,
                                           const cameo_value* const* inputs, size_t count, const cameo_stop* stop,
                                           int64_t timeout, cameo_value** outputs, size_t output_count);

/** Makes a binding, which has memory of its own: running it again copies nothing and, from the second run on, allocates
    nothing. One run at a time; different bindings run at once. The caller frees it. */
CAMEO_C_API cameo_error* cameo_session_bind(const cameo_session* session, cameo_binding** made);
/** Frees a binding. */
CAMEO_C_API void cameo_binding_free(cameo_binding* binding);
/** Every run reads this value until the input is bound again. The value may be freed at once; a tensor's elements stay
    where they are, and may change between runs. A value NULL stands for an empty optional. INVALID_ARGUMENT as of a
    run. */
CAMEO_C_API cameo_error* cameo_binding_input(cameo_binding* binding, const char* name, const cameo_value* value);
/** Runs write the output here: room for a tensor of these dims, `bytes` in all, which stays valid until the output is bound
    again. A smaller output fits, and its value has the dims that it has; a larger one ends the run with INVALID_ARGUMENT.
    `elements` NULL: the binding's own memory again. INVALID_ARGUMENT for another type, and for strings. */
CAMEO_C_API cameo_error* cameo_binding_output(cameo_binding* binding, const char* name, int element_type,
                                              const int64_t* dims, size_t rank, void* elements, size_t bytes);
/** Runs the binding once; stop, timeout and errors as of cameo_session_run. */
CAMEO_C_API cameo_error* cameo_binding_run(cameo_binding* binding, const cameo_stop* stop, int64_t timeout);
/** An output of the last run, by its number; NULL before the first run, after a run that failed, and for a number that is
    too large. It belongs to the binding and is valid until the next run. */
CAMEO_C_API const cameo_value* cameo_binding_result(const cameo_binding* binding, size_t number);

/** Makes a stop that is not requested; NULL when memory runs out. The caller frees it, once no run that was given it is
    under way. */
CAMEO_C_API cameo_stop* cameo_stop_new(void);
/** Ends all that was given this stop, now and later. From any thread. */
CAMEO_C_API void cameo_stop_request(const cameo_stop* stop);
/** Frees a stop. */
CAMEO_C_API void cameo_stop_free(cameo_stop* stop);

/* --- compiling --- */

/** Compiles a model for the runtime's providers and writes it, contexts inside the model if `embed` is not 0 and else in
    files beside it (docs/contexts.md). `options` may be NULL; so may `compiled_nodes`, which receives how many nodes hold
    a compiled program. Errors are those of the C++ function runtime::compile. */
CAMEO_C_API cameo_error* cameo_compile(const cameo_runtime* runtime, const char* from, const char* to,
                                       const cameo_options* options, int embed, size_t* compiled_nodes);

#ifdef __cplusplus
}
#endif

#endif
