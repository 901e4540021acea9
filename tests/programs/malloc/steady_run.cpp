// Tests that a run of one thread, after the first run, makes no heap call and no system call. Heap calls are counted by
// replacing malloc and related functions. System calls are trapped by a seccomp filter in a child process, which also
// detects locks that block. 1,000 steps of a decoder with a growing cache must make none either, if the cache has had
// that size before; also if the decoder is one compiled node.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/test_paths.hpp>
#if __has_include(<cameo/eps/frozen.hpp>)
#include <cameo/eps/frozen.hpp>
#endif

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> heap_calls{0};
void count_call() {
  if (counting.load(std::memory_order_relaxed)) heap_calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) { return count_call(), __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) { return count_call(), __libc_calloc(count, bytes); }
void* realloc(void* old, std::size_t bytes) { return count_call(), __libc_realloc(old, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return count_call(), __libc_memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  return count_call(), (*to = __libc_memalign(alignment, bytes)) ? 0 : 12;
}
void free(void* memory) { count_call(), __libc_free(memory); }
}

namespace {

#if __has_include(<cameo/eps/frozen.hpp>)
using runtime = cameo::runtime<cameo::eps::frozen<cameo::eps::cpu>, cameo::eps::cpu>;
constexpr bool can_compile = true;
#else
using runtime = cameo::runtime<cameo::eps::cpu>;
constexpr bool can_compile = false;
#endif

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::_Exit(1);
}
template <class T>
T must(cameo::result<T> r, const std::string& what) {
  if (!r) fail(what + ": " + r.error().name() + ": " + std::string{r.error().words()});
  return std::move(*r);
}
void must(cameo::status s, const std::string& what) {
  if (!s) fail(what + ": " + s.name() + ": " + std::string{s.words()});
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return {};
  const std::string all{std::istreambuf_iterator<char>{file}, {}};
  const auto* const first = reinterpret_cast<const std::byte*>(all.data());
  return {first, first + all.size()};
}

cameo::session load(const std::string& path, bool compiled = false) {
  cameo::session_options options;
  options.threads = 1;
  options.providers = {compiled ? "frozen" : "cpu"};
  return must(runtime{}.load(path, options), path);
}

/// Binds the inputs of a conformance case, in the model's order.
void bind_inputs(const cameo::session& s, cameo::io_binding& binding, const std::string& folder, cameo::arena& memory) {
  for (std::size_t i = 0; i < s.inputs().size(); ++i) {
    const std::vector<std::byte> bytes = bytes_of(folder + "/test_data_set_0/input_" + std::to_string(i) + ".pb");
    if (bytes.empty()) fail(folder + ": no input " + std::to_string(i) + "; tests/run makes the cases");
    const bool sequence = s.inputs()[i].type.kind == cameo::type_kind::sequence;
    const cameo::pb_kind kind = sequence ? cameo::pb_kind::sequence : cameo::pb_kind::tensor;
    must(binding.bind_input(s.inputs()[i].name, must(cameo::read_pb(bytes, kind, memory), folder)), folder);
  }
}

void on_system_call(int, siginfo_t* info, void*) {
  char line[] = "FAILED: system call number 0000\n";
  for (int n = info->si_syscall, at = 30; at > 26; n /= 10) line[--at + 1] = char('0' + n % 10);
  counting = false;
  static_cast<void>(!write(2, line, sizeof line - 1));
  std::_Exit(3);
}

/// From now on, any system call except write and exit_group calls on_system_call().
void forbid_system_calls() {
  struct sigaction action{};
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(filter), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    fail("no seccomp filter can be set here");
}

/// Runs `work` in a child that may make no heap call and no system call.
template <class Work>
void in_steady_child(const std::string& name, Work work) {
  const pid_t child = fork();
  if (child == 0) {
    forbid_system_calls();
    counting = true;
    const bool done = work();
    counting = false;
    if (heap_calls) {
      char line[] = "FAILED: heap calls were made\n";
      static_cast<void>(!write(2, line, sizeof line - 1));
    }
    std::_Exit(done && heap_calls == 0 ? 0 : 1);
  }
  int how = 0;
  waitpid(child, &how, 0);
  if (how != 0) fail(name + ": the steady runs failed (wait status " + std::to_string(how) + ")");
  std::printf("%s: steady\n", name.c_str());
}

void check_case(const std::string& folder, int runs) {
  const cameo::session s = load(folder + "/model.onnx");
  cameo::io_binding binding = must(s.bind(), folder);
  cameo::detail::heap_arena memory;
  bind_inputs(s, binding, folder, memory);
  must(s.run(binding), folder);
  in_steady_child(folder.substr(folder.rfind('/') + 1), [&] {
    for (int i = 0; i < runs; ++i)
      if (!s.run(binding)) return false;
    return true;
  });
}

/// A decoder with two bindings that are used alternately: each step reads the cache in the memory of the other binding.
class decoder {
 public:
  explicit decoder(bool compiled)
      : session_{load(std::string{cameo::test::source_dir} + "/tests/data/decoder.onnx", compiled)},
        bindings_{must(session_.bind(), "decoder"), must(session_.bind(), "decoder")} {
    if (compiled && session_.step_count() != 1) fail("the decoder is not one compiled node");
  }

  cameo::status decode(int steps) {
    const cameo::value none = cameo::value::tensor(cameo::dtype::f32, {1, 4, 0, 16}, &nothing_);
    for (int i = 0; i < steps; ++i) {
      cameo::io_binding& now = bindings_[i % 2];
      const cameo::io_binding& before = bindings_[(i + 1) % 2];
      token_ = i * 31 % 64;
      if (cameo::status s = now.bind_input("input_ids", cameo::value::tensor(cameo::dtype::i64, {1, 1}, &token_)); !s)
        return s;
      for (std::size_t k = 0; k < 4; ++k)
        if (cameo::status s = now.bind_input(names_[k], i == 0 ? none : before.output(k + 1)); !s) return s;
      if (cameo::status s = session_.run(now); !s) return s;
    }
    return {};
  }
  const cameo::value& last(int steps) const { return bindings_[(steps + 1) % 2].output(0); }

 private:
  static constexpr const char* names_[] = {"past_key_0", "past_value_0", "past_key_1", "past_value_1"};
  cameo::session session_;
  cameo::io_binding bindings_[2];
  std::int64_t token_ = 0;
  float nothing_ = 0;
};

long resident_kb() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  return 0;
}

void check_decoder(bool compiled) {
  decoder d{compiled};
  must(d.decode(1000), "decoder");
  std::vector<float> first(64);
  std::memcpy(first.data(), d.last(1000).data, sizeof(float) * 64);
  const long resident = resident_kb();
  counting = true;
  const cameo::status again = d.decode(1000);
  counting = false;
  must(again, "decoder");
  if (heap_calls) fail("the decoder made " + std::to_string(heap_calls) + " heap calls after its peak");
  if (std::memcmp(first.data(), d.last(1000).data, sizeof(float) * 64)) fail("the decoder's logits changed");
  const long grown = resident_kb() - resident;
  if (grown > 256) fail("the decoder's resident memory grew by " + std::to_string(grown) + " kB");
  std::printf("decoder: 1,000 steps, no heap call, resident memory grew by %ld kB\n", grown);
  in_steady_child("decoder", [&] { return bool(d.decode(1000)); });
}

/// Checks that the test detects a system call and a heap call.
void check_the_checks() {
  const pid_t child = fork();
  if (child == 0) {
    close(2);  // the handler's message is expected here
    forbid_system_calls();
    static_cast<void>(getppid());
    std::_Exit(0);
  }
  int how = 0;
  waitpid(child, &how, 0);
  if (!WIFEXITED(how) || WEXITSTATUS(how) != 3) fail("a system call went unseen");
  counting = true;
  void* volatile seen = std::malloc(1);  // volatile: compilers may remove an allocation that is not used
  std::free(seen);
  counting = false;
  if (heap_calls.exchange(0) == 0) fail("a heap call went unseen");
}

}  // namespace

int main() {
  check_the_checks();
  const std::string cases = std::string{cameo::test::source_dir} + "/build/cases/";
  check_case(cases + "light/test_light_resnet50", 2);
  for (const char* name :
       {"test_loop11", "test_loop13_seq", "test_scan9_sum", "test_if_seq", "test_string_concat",
        "test_string_split_basic", "test_sequence_insert_at_back", "test_sequence_map_add_2_sequences"})
    check_case(cases + "node/" + name, 100);
  for (const char* name :
       {"test_sequence_model4", "test_strnorm_model_monday_casesensintive_lower", "test_expand_shape_model1"})
    check_case(cases + "simple/" + name, 100);
  check_decoder(false);
  if (can_compile) check_decoder(true);
  return 0;
}
