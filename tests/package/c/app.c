/* Tests the interface in cameo/c/cameo.h. The program is valid C99 and C++: tests/package/run.py compiles it as both with
   the installed library, and tests/programs/c_api.cpp includes it in cameo's build. The argument is the path of
   examples/digits/digits.onnx. Prints "ok". */
#include <cameo/c/cameo.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* words, int line) {
  if (holds) return;
  printf("line %d: %s\n", line, words);
  ++failures;
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)

/* Checks that an error has this code, and that its message contains these words, and frees it. */
static void expect_error(cameo_error* error, int code, const char* name, const char* words, int line) {
  if (cameo_error_code(error) != code || strcmp(cameo_error_name(error), name) != 0 ||
      !strstr(cameo_error_words(error), words)) {
    printf("line %d: expected %s with \"%s\", got %s: %s\n", line, name, words, cameo_error_name(error),
           cameo_error_words(error));
    ++failures;
  }
  cameo_error_free(error);
}
#define EXPECT_ERROR(call, code, words) expect_error(call, CAMEO_##code, #code, words, __LINE__)
#define EXPECT_OK(call) expect_error(call, CAMEO_OK, "OK", "", __LINE__)

static const float seven[64] = {0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1,
                                0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1,
                                1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
static const int64_t image_dims[4] = {1, 1, 8, 8};

static int largest(const float* elements, int count) {
  int i, at = 0;
  for (i = 1; i < count; ++i)
    if (elements[i] > elements[at]) at = i;
  return at;
}

static cameo_value* image(const float* pixels) {
  cameo_value* made = NULL;
  EXPECT_OK(cameo_value_tensor(CAMEO_FLOAT, image_dims, 4, pixels, 64 * sizeof(float), &made));
  return made;
}

static void runtimes(void) {
  cameo_runtime* runtime = NULL;
  const char* names[2];
  const size_t count = cameo_provider_count();
  EXPECT(strncmp(cameo_version(), "0.", 2) == 0);
  EXPECT(count >= 1 && cameo_provider_name(count) == NULL);
  names[0] = cameo_provider_name(count - 1), names[1] = "abacus";
  EXPECT_ERROR(cameo_runtime_new(names, 2, &runtime), INVALID_ARGUMENT, "no provider 'abacus'; it has ");
  EXPECT(runtime == NULL);
  EXPECT_ERROR(cameo_runtime_new(NULL, 1, &runtime), INVALID_ARGUMENT, "providers: is NULL");
  EXPECT_OK(cameo_runtime_new(names, 1, &runtime));
  EXPECT(runtime != NULL);
  cameo_runtime_free(runtime);
}

static void loading_fails(const cameo_runtime* runtime) {
  cameo_session* session = NULL;
  cameo_options* options = cameo_options_new();
  cameo_stop* stop = cameo_stop_new();
  EXPECT_ERROR(cameo_session_load(runtime, "absent.onnx", NULL, &session), NO_SUCHFILE, "absent.onnx");
  EXPECT_ERROR(cameo_session_load(runtime, NULL, NULL, &session), INVALID_ARGUMENT, "path: is NULL");
  EXPECT_ERROR(cameo_session_load_bytes(runtime, "rubbish", 7, "memory", NULL, &session), INVALID_PROTOBUF, "memory");
  EXPECT_ERROR(cameo_options_set_optimization(options, 7), INVALID_ARGUMENT, "optimize: needs none, basic");
  EXPECT_ERROR(cameo_options_set_policy(options, "prefer_abacus"), INVALID_ARGUMENT, "prefer_abacus");
  EXPECT_ERROR(cameo_options_set_log(options, NULL, NULL, 9), INVALID_ARGUMENT, "not '9'");
  EXPECT_ERROR(cameo_options_set(options, "session.key", NULL), INVALID_ARGUMENT, "text: is NULL");
  EXPECT_ERROR(cameo_options_set(options, "memory_limits", "1"), INVALID_ARGUMENT, "did you mean 'memory_limit'?");
  EXPECT_ERROR(cameo_options_set(options, "parallel", "yes"), INVALID_ARGUMENT, "parallel: needs 0 or 1, not 'yes'");
  EXPECT(session == NULL);
  cameo_stop_free(stop);
  cameo_options_free(options);
}

static void count_calls(void* user, const char* stage, double fraction) {
  if (strlen(stage) > 0 && fraction >= 0 && fraction <= 1) ++*(int*)user;
}

static void values(void) {
  const int64_t dims[2] = {2, 1}, negative[1] = {-1};
  const char* const texts[2] = {"one", "a\0b"};
  const size_t lengths[2] = {3, 3};
  const int64_t* shape;
  size_t rank = 0, length = 0, bytes = 1;
  cameo_value *strings = NULL, *sequence = NULL, *none = NULL;
  const cameo_value* parts[2];
  EXPECT_ERROR(cameo_value_tensor(CAMEO_FLOAT, dims, 2, seven, 4, &none), INVALID_ARGUMENT,
               "float[2,1] takes 8 bytes, and 4 are given");
  EXPECT_ERROR(cameo_value_tensor(CAMEO_STRING, dims, 2, seven, 8, &none), INVALID_ARGUMENT, "not a type of elements");
  EXPECT_ERROR(cameo_value_tensor(1000, dims, 2, seven, 8, &none), INVALID_ARGUMENT, "1000 is not a type of elements");
  EXPECT_ERROR(cameo_value_tensor(CAMEO_FLOAT, negative, 1, seven, 8, &none), INVALID_ARGUMENT, "[-1] is not a shape");
  EXPECT_ERROR(cameo_value_tensor(CAMEO_FLOAT, dims, 99, seven, 8, &none), INVALID_ARGUMENT, "rank 99");
  EXPECT(none == NULL);
  EXPECT_OK(cameo_value_strings(dims, 2, texts, lengths, &strings));
  EXPECT(cameo_value_kind(strings) == CAMEO_TENSOR && cameo_value_element_type(strings) == CAMEO_STRING);
  EXPECT(cameo_value_data(strings, &bytes) == NULL && bytes == 0);
  shape = cameo_value_dims(strings, &rank);
  EXPECT(rank == 2 && shape[0] == 2 && shape[1] == 1);
  EXPECT(memcmp(cameo_value_string(strings, 1, &length), "a\0b", 3) == 0 && length == 3);
  EXPECT(cameo_value_string(strings, 2, &length) == NULL);
  parts[0] = strings, parts[1] = strings;
  EXPECT_OK(cameo_value_sequence(parts, 2, &sequence));
  cameo_value_free(strings);
  EXPECT(cameo_value_kind(sequence) == CAMEO_SEQUENCE && cameo_value_part_count(sequence) == 2);
  EXPECT(cameo_value_part(sequence, 2) == NULL);
  EXPECT(memcmp(cameo_value_string(cameo_value_part(sequence, 1), 0, &length), "one", 3) == 0 && length == 3);
  cameo_value_free(sequence);
  cameo_value_free(NULL);
}

static void ios(const cameo_session* session) {
  const char* name = NULL;
  const cameo_io* input = cameo_session_input(session, 0);
  EXPECT(cameo_session_input_count(session) == 1 && cameo_session_output_count(session) == 2);
  EXPECT(cameo_session_input(session, 1) == NULL && cameo_session_output(session, 2) == NULL);
  EXPECT(strcmp(cameo_io_name(input), "image") == 0 && strstr(cameo_io_type_text(input), "tensor(float)") != NULL);
  EXPECT(cameo_io_element_type(input) == CAMEO_FLOAT && cameo_io_rank(input) == 4);
  EXPECT(cameo_io_dim(input, 3, &name) == 8 && strcmp(name, "") == 0 && cameo_io_dim(input, 4, NULL) == -1);
  EXPECT(cameo_io_is_optional(input) == 0);
  EXPECT(strcmp(cameo_io_name(cameo_session_output(session, 1)), "probabilities") == 0);
}

static void runs(const cameo_session* session) {
  const char* names[2] = {"image", "image"};
  cameo_value *given[2], *outputs[2] = {NULL, NULL};
  cameo_stop* stop = cameo_stop_new();
  const int64_t* dims;
  size_t rank = 0, bytes = 0;
  const float* elements;
  given[0] = image(seven), given[1] = given[0];
  EXPECT_OK(cameo_session_run(session, names, (const cameo_value* const*)given, 1, NULL, -1, outputs, 2));
  dims = cameo_value_dims(outputs[1], &rank);
  elements = (const float*)cameo_value_data(outputs[1], &bytes);
  EXPECT(rank == 2 && dims[0] == 1 && dims[1] == 10 && bytes == 10 * sizeof(float));
  EXPECT(largest(elements, 10) == 7 && fabs(elements[7] - 0.999995f) < 1e-5f);
  cameo_value_free(outputs[0]);
  cameo_value_free(outputs[1]);
  outputs[0] = NULL;
  EXPECT_ERROR(cameo_session_run(session, names, (const cameo_value* const*)given, 2, NULL, -1, outputs, 2),
               INVALID_ARGUMENT, "input 'image' is given twice");
  EXPECT_ERROR(cameo_session_run(session, NULL, NULL, 0, NULL, -1, outputs, 2), INVALID_ARGUMENT,
               "input 'image' is missing");
  EXPECT_ERROR(cameo_session_run(session, names, (const cameo_value* const*)given, 1, NULL, -1, outputs, 1),
               INVALID_ARGUMENT, "the model has 2 outputs, but `outputs` has space for 1");
  EXPECT_ERROR(cameo_session_run(session, names, (const cameo_value* const*)given, 1, NULL, 0, outputs, 2),
               DEADLINE_EXCEEDED, "");
  cameo_stop_request(stop);
  EXPECT_ERROR(cameo_session_run(session, names, (const cameo_value* const*)given, 1, stop, -1, outputs, 2), CANCELED,
               "");
  EXPECT(outputs[0] == NULL);
  cameo_stop_free(stop);
  cameo_value_free(given[0]);
}

/* Tests that a binding outlives the session's handle, and that a bound value may be freed. */
static void bindings(cameo_session* session) {
  float pixels[64], probabilities[10];
  const int64_t dims[2] = {1, 10};
  cameo_binding* binding = NULL;
  cameo_value* given;
  memcpy(pixels, seven, sizeof pixels);
  memset(probabilities, 0, sizeof probabilities);
  given = image(pixels);
  EXPECT_OK(cameo_session_bind(session, &binding));
  cameo_session_free(session);
  EXPECT(cameo_binding_result(binding, 0) == NULL);
  EXPECT_ERROR(cameo_binding_run(binding, NULL, -1), INVALID_ARGUMENT, "input 'image' is missing");
  EXPECT_ERROR(cameo_binding_input(binding, "picture", given), INVALID_ARGUMENT, "no input 'picture'");
  EXPECT_ERROR(cameo_binding_input(binding, "image", NULL), INVALID_ARGUMENT, "is given nothing");
  EXPECT_OK(cameo_binding_input(binding, "image", given));
  cameo_value_free(given);
  EXPECT_ERROR(
      cameo_binding_output(binding, "probabilities", CAMEO_DOUBLE, dims, 2, probabilities, 10 * sizeof(double)),
      INVALID_ARGUMENT, "output 'probabilities'");
  EXPECT_OK(cameo_binding_output(binding, "probabilities", CAMEO_FLOAT, dims, 2, probabilities, sizeof probabilities));
  EXPECT_OK(cameo_binding_run(binding, NULL, -1));
  EXPECT(largest(probabilities, 10) == 7);
  EXPECT(cameo_value_data(cameo_binding_result(binding, 1), NULL) == probabilities);
  EXPECT(cameo_value_kind(cameo_binding_result(binding, 0)) == CAMEO_TENSOR);
  EXPECT(cameo_binding_result(binding, 2) == NULL);
  memset(pixels, 0, sizeof pixels); /* elements may change between runs */
  EXPECT_OK(cameo_binding_run(binding, NULL, -1));
  EXPECT(probabilities[7] < 0.9f);
  EXPECT_ERROR(cameo_binding_run(binding, NULL, 0), DEADLINE_EXCEEDED, "");
  EXPECT(cameo_binding_result(binding, 0) == NULL); /* the output could refer to freed memory */
  EXPECT_OK(cameo_binding_output(binding, "probabilities", CAMEO_FLOAT, dims, 2, NULL, 0));
  probabilities[7] = -1;
  EXPECT_OK(cameo_binding_run(binding, NULL, -1));
  EXPECT(probabilities[7] == -1);
  cameo_binding_free(binding);
}

/* Tests a session that is loaded from bytes, with options that are freed before it runs. */
static void from_bytes(const cameo_runtime* runtime, const char* path) {
  cameo_options* options = cameo_options_new();
  cameo_stop* stop = cameo_stop_new();
  cameo_session* session = NULL;
  int calls = 0;
  long size;
  char* bytes;
  FILE* file = fopen(path, "rb");
  EXPECT(file != NULL);
  if (!file) return;
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  rewind(file);
  bytes = (char*)malloc((size_t)size);
  EXPECT(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  EXPECT_OK(cameo_options_set_threads(options, 1));
  EXPECT_OK(cameo_options_set_optimization(options, 99));
  EXPECT_OK(cameo_options_set_memory_limit(options, 1u << 20));
  EXPECT_OK(cameo_options_set(options, "session.set_denormal_as_zero", "1"));
  EXPECT_OK(cameo_options_set(options, "parallel", "1"));
  EXPECT_OK(cameo_options_set_progress(options, count_calls, &calls));
  EXPECT_OK(cameo_options_set_stop(options, stop));
  EXPECT_OK(cameo_session_load_bytes(runtime, bytes, (size_t)size, "digits", options, &session));
  EXPECT(calls > 0);
  runs(session);
  cameo_session_free(session);
  session = NULL;
  cameo_stop_request(stop);
  cameo_stop_free(stop);
  EXPECT_ERROR(cameo_session_load_bytes(runtime, bytes, (size_t)size, "digits", options, &session), MODEL_LOAD_CANCELED,
               "digits");
  EXPECT(session == NULL);
  cameo_options_free(options);
  free(bytes);
}

int main(int count, char** arguments) {
  cameo_runtime* runtime = NULL;
  cameo_session* session = NULL;
  if (count != 2) return printf("needs the path of digits.onnx\n"), 2;
  EXPECT_OK(cameo_runtime_new(NULL, 0, &runtime));
  runtimes();
  values();
  loading_fails(runtime);
  from_bytes(runtime, arguments[1]);
  EXPECT_OK(cameo_session_load(runtime, arguments[1], NULL, &session));
  cameo_runtime_free(runtime);
  if (session) ios(session), runs(session), bindings(session);
  if (failures) return 1;
  printf("ok\n");
  return 0;
}
