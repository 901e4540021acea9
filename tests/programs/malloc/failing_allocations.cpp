// Makes each allocation of a call fail once: the first one, then the second, and so on until no allocation is left. The
// call must return OUT_OF_MEMORY with a message, or succeed (some memory is only needed for speed). No memory may leak,
// and the same call must succeed the next time. A call that ends the process, or throws an exception, counts as wrong,
// and the next allocation is tried.
//
// Without arguments: every allocation of loading, binding, running, compiling and converting digits.onnx, also through
// the C API; and a tenth of those of six other models, chosen by a constant seed. `--all`, or `--all MODEL...`, tries
// every allocation of these models, or of others; tests/closing/failing_allocations runs that.
#include <cameo/c/cameo.h>
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/session/compile.hpp>
#include <cameo/test_paths.hpp>
#if __has_include(<cameo/eps/frozen.hpp>)
#include <cameo/eps/frozen.hpp>
#endif

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <istream>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr long never = 1L << 62;
std::atomic<long> until_failure{never};  // allocations until one fails
std::atomic<long> in_use{0};             // allocated blocks

bool fails() { return until_failure.fetch_sub(1, std::memory_order_relaxed) == 1; }
void* counted(void* made) {
  if (made) in_use.fetch_add(1, std::memory_order_relaxed);
  return made;
}
void* refused() { return errno = ENOMEM, nullptr; }

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) { return fails() ? refused() : counted(__libc_malloc(bytes)); }
void* calloc(std::size_t count, std::size_t bytes) {
  return fails() ? refused() : counted(__libc_calloc(count, bytes));
}
void* realloc(void* old, std::size_t bytes) {
  if (fails()) return refused();
  void* const made = __libc_realloc(old, bytes);
  return old ? made : counted(made);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails() ? refused() : counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  return fails() || !(*to = counted(__libc_memalign(alignment, bytes))) ? ENOMEM : 0;
}
void free(void* memory) {
  if (memory) in_use.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(memory);
}
}

namespace {

#if __has_include(<cameo/eps/frozen.hpp>)
using runtime = cameo::runtime<cameo::eps::frozen<cameo::eps::cpu>, cameo::eps::cpu>;
constexpr bool can_compile = true;
#else
using runtime = cameo::runtime<cameo::eps::cpu>;
constexpr bool can_compile = false;
#endif

using cameo::result;
using cameo::status;
using cameo::status_code;

/// Makes the n-th allocation from now on fail, until the destructor.
class failing {
 public:
  explicit failing(long n) { until_failure.store(n); }
  ~failing() { until_failure.store(never); }
  static bool happened() { return until_failure.load() <= 0; }
};

/// An attempt of a scenario in which the n-th allocation of its calls fails. Preparations and checks do not count.
struct attempt {
  explicit attempt(long n) : left{n} {}
  long left;               // allocations until the one that fails
  bool failed = false;     // true: that one was reached
  std::string wrong = {};  // what went wrong; empty: nothing

  /// Calls `work` and returns its result. Allocations are counted over all calls of the attempt.
  template <class Work>
  auto call(Work&& work) -> decltype(work()) {
    const failing now{left};
    auto done = work();
    failed = failed || failing::happened();
    left = failing::happened() ? never : until_failure.load();
    return done;
  }
  /// Checks that an error is OUT_OF_MEMORY with a message, and that there is none without a failed allocation.
  void check(const status& s) {
    if (s) return;
    const std::string words{s.words()};
    if (!failed) wrong = "an error without a failed allocation: " + words;
    else if (s.code() != status_code::out_of_memory) wrong = std::string{s.name()} + ": " + words;
    else if (words.empty() || words.find("no details") != words.npos) wrong = "words that say nothing: '" + words + "'";
  }
};
using scenario = std::function<void(attempt&)>;

/// The progress of a process, in memory that it shares with its parent.
struct report {
  std::atomic<long> at{0};  // the allocation that fails
  std::atomic<long> tried{0}, wrong{0};
  std::atomic<bool> finished{false};
};

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

long wrong_calls = 0;

void report_wrong(const std::string& name, long n, const std::string& what) {
  std::printf("FAILED: %s, allocation %ld: %s\n", name.c_str(), n, what.c_str());
  std::fflush(stdout);
}

void report_wrong(const std::string& name, long n, const std::string& what, report& to) {
  ++to.wrong;
  report_wrong(name, n, what);
}

/// Tries allocations from `first` on: all, or one of `step`, chosen by a constant seed.
void try_each(const std::string& name, const scenario& work, long first, long step, report& to) {
  for (long n = first;; ++n) {
    if (mixed(std::uint64_t(n)) % std::uint64_t(step) != 0 && n < 1'000'000) continue;
    to.at = n;
    attempt one{n};
    const long before = in_use;
    work(one);
    if (in_use > before && one.wrong.empty()) {  // blocks that a process allocates once are not leaks: tried again
      attempt again{n};
      const long then = in_use;
      work(again);
      if (in_use > then) one.wrong = std::to_string(in_use - then) + " blocks leaked";
    }
    if (!one.wrong.empty()) report_wrong(name, n, one.wrong, to);
    if (!one.failed) break;
    ++to.tried;
  }
  to.finished = true;
}

/// Tries all allocations in a child process, since a call may end the process. Another child then continues after the
/// allocation at which it ended.
void try_all(const std::string& name, long step, const scenario& work) {
  void* const shared = ::mmap(nullptr, sizeof(report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  report& progress = *new (shared) report;
  for (long first = 1; !progress.finished; first = progress.at + 1) {
    const pid_t child = ::fork();
    if (child == 0) {
      attempt warm_up{never};  // makes the allocations that a process makes once
      for (int i = 0; i < 2; ++i) work(warm_up);
      if (warm_up.wrong.empty()) try_each(name, work, first, step, progress);
      else progress.finished = true, report_wrong(name, 0, warm_up.wrong, progress);
      std::_Exit(0);
    }
    int how = 0;
    ::waitpid(child, &how, 0);
    if (!progress.finished)
      report_wrong(name, progress.at, "it ended the process, with wait status " + std::to_string(how), progress);
  }
  std::printf("%s: %ld allocations failed, %ld of them wrongly\n", name.c_str(), progress.tried.load(),
              progress.wrong.load());
  std::fflush(stdout);
  wrong_calls += progress.wrong;
  ::munmap(shared, sizeof(report));
}

/// A scenario in which an exception of `work` is reported as wrong.
template <class Work>
scenario contained(Work work) {
  return [work](attempt& one) {
    try {
      work(one);
    } catch (const std::exception& e) {
      until_failure.store(never);
      one.failed = true;
      one.wrong = std::string{"an exception came out: "} + e.what();
    }
  };
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string all{std::istreambuf_iterator<char>{file}, {}};
  const auto* const first = reinterpret_cast<const std::byte*>(all.data());
  return {first, first + all.size()};
}

/// A stream buffer that does not allocate memory.
struct stream_of : std::streambuf {
  explicit stream_of(const std::vector<std::byte>& bytes) {
    char* const first = reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));
    setg(first, first, first + bytes.size());
  }
};

cameo::session_options options_of(std::size_t threads = 1) {
  cameo::session_options options;
  options.threads = threads;
  options.providers = {"cpu"};
  return options;
}

/// Inputs for a model: symbolic dims are 2, elements are small numbers.
class inputs {
 public:
  explicit inputs(const cameo::session& of) {
    names_.reserve(of.inputs().size());  // all_ refers to the names
    for (const cameo::io_info& each : of.inputs()) {
      if (!each.type.is_tensor() || !each.type.shape || each.optional) continue;
      cameo::extents shape;
      for (const cameo::dim& d : *each.type.shape) shape.push_back(d.known() ? d.size : 2);
      const std::size_t count = std::size_t(shape.count());
      std::vector<std::byte>& memory = memory_.emplace_back();
      if (each.type.type == cameo::dtype::string) {
        memory.resize(count * sizeof(std::string_view));
        for (std::size_t i = 0; i < count; ++i)
          new (memory.data() + i * sizeof(std::string_view)) std::string_view{i % 2 ? "two" : "one"};
      } else {
        const cameo::value sized = cameo::value::tensor(each.type.type, shape, nullptr);
        memory.resize(sized.bytes());
        if (each.type.type == cameo::dtype::f32)
          for (std::size_t i = 0; i < count; ++i) {
            const float number = float(i % 7) / 8;
            std::memcpy(memory.data() + i * sizeof number, &number, sizeof number);
          }
      }
      all_.emplace_back(std::string_view{names_.emplace_back(each.name)},
                        cameo::value::tensor(each.type.type, shape, memory.data()));
    }
  }
  inputs(const inputs&) = delete;
  std::span<const cameo::named_input> all() const { return all_; }
  /// The names of the inputs, in the order of all().
  std::span<const std::string> names() const { return names_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::string> names_;
  std::vector<cameo::named_input> all_;
};

std::string text_of(const cameo::named_values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += name + " = " + to_string(value, 1000) + "\n";
  return text;
}

/// The outputs of a session as text, or the error's message. Allocations do not fail here.
std::string outputs_of(const cameo::session& s) {
  const inputs given{s};
  const result<cameo::named_values> made = s.run(given.all());
  return made ? text_of(*made) : "error: " + std::string{made.error().words()};
}

std::string outputs_of(const std::string& path) {
  const result<cameo::session> loaded = runtime{}.load(path, options_of());
  if (!loaded) {
    std::printf("FAILED: %s\n", std::string{loaded.error().words()}.c_str());
    std::_Exit(1);
  }
  return outputs_of(*loaded);
}

/// Loading. If it succeeds, the session's outputs must be right.
template <class Load>
scenario loading(Load load, const std::string& right, const cameo::session_options& options = options_of()) {
  return contained([load, right, options](attempt& one) {
    const runtime with;
    const result<cameo::session> loaded = one.call([&] { return load(with, options); });
    one.check(loaded.error());
    if (!loaded || !one.wrong.empty()) return;
    if (const std::string made = outputs_of(*loaded); made != right) one.wrong = "another result";
  });
}

scenario running(const std::string& path, const std::string& right) {
  return contained([path, right](attempt& one) {
    const result<cameo::session> loaded = runtime{}.load(path, options_of());
    if (!loaded) return one.check(loaded.error());
    const inputs given{*loaded};
    {
      const result<cameo::named_values> made = one.call([&] { return loaded->run(given.all()); });
      one.check(made.error());
      if (made && text_of(*made) != right) one.wrong = "another result";
    }
    for (int i = 0; i < 2 && one.wrong.empty(); ++i)
      if (const std::string next = outputs_of(*loaded); next != right) one.wrong = "another result of the next run";
  });
}

/// Binding, and three runs of the binding. A run that failed must not make later runs wrong.
scenario binding(const std::string& path, const std::string& right) {
  return contained([path, right](attempt& one) {
    const result<cameo::session> loaded = runtime{}.load(path, options_of());
    if (!loaded) return one.check(loaded.error());
    const inputs given{*loaded};
    result<cameo::io_binding> bound = one.call([&] { return loaded->bind(); });
    one.check(bound.error());
    if (!bound) return;
    for (const cameo::named_input& each : given.all())
      if (status s = one.call([&] { return bound->bind_input(each); }); !s) one.check(s);
    for (const cameo::named_input& each : given.all())
      if (status s = bound->bind_input(each); !s) one.wrong = "the binding's next input: " + std::string{s.words()};
    for (int i = 0; i < 3 && one.wrong.empty(); ++i) one.check(one.call([&] { return loaded->run(*bound); }));
    if (!one.wrong.empty()) return;
    if (status s = loaded->run(*bound); !s) one.wrong = "the binding's next run: " + std::string{s.words()};
    else if (const std::string next = outputs_of(*loaded); next != right) one.wrong = "another result of the next run";
  });
}

/// Reads and checks a model, and writes it in both formats, as `cameo convert` does.
status convert(const std::string& path, std::string& made) {
  const bool is_ort = path.size() > 4 && path.substr(path.size() - 4) == ".ort";
  const runtime with;
  result<std::unique_ptr<cameo::model>> read = is_ort ? cameo::read_ort(path) : cameo::read_onnx(path);
  if (!read) return read.error();
  cameo::op_table ops;
  for (const cameo::provider& p : with.providers()) ops.more.push_back(p.row->own_ops);
  if (status s = cameo::check_model(**read, ops); !s) return s;
  result<std::string> ort = cameo::write_ort(**read);
  if (ort) made = *ort;
  else if (ort.error().code() == status_code::out_of_memory) return ort.error();
  const std::string folder;
  return cameo::onnx_format::write(**read,
                                   [&](std::span<const std::byte> piece) -> status {
                                     made.append(reinterpret_cast<const char*>(piece.data()), piece.size());
                                     return {};
                                   },
                                   folder, {});
}

scenario converting(const std::string& path) {
  std::string right;
  if (const status s = convert(path, right); !s) {
    report_wrong(path, 0, std::string{s.words()});
    std::_Exit(1);
  }
  return contained([path, right](attempt& one) {
    std::string made;
    made.reserve(right.size());
    const status done = one.call([&]() -> status {
      try {  // for allocations of the scenario itself, between those of cameo
        return convert(path, made);
      } catch (const std::bad_alloc&) {
        return status_code::out_of_memory;
      }
    });
    one.check(done);
    if (done && made != right) one.wrong = "another result";
    if (!one.wrong.empty()) return;
    made.clear();
    if (const status s = convert(path, made); !s) one.wrong = "the next time: " + std::string{s.words()};
    else if (made != right) one.wrong = "another result the next time";
  });
}

scenario compiling(const std::string& path, const std::string& right) {
  return contained([path, right](attempt& one) {
    const runtime with;
    std::string compiled;
    const auto make_options = [&] {
      compiled.clear();
      cameo::compile_options how;
      how.input = path, how.output = &compiled, how.embed = true;
      how.session.threads = 1;
      return how;
    };
    cameo::compile_options how = make_options();
    const result<cameo::compile_report> done = one.call([&] { return with.compile(std::move(how)); });
    one.check(done.error());
    if (!one.wrong.empty()) return;
    if (!done)
      if (const auto again = with.compile(make_options()); !again) {
        one.wrong = "the next time: " + std::string{again.error().words()};
        return;
      }
    cameo::session_options options;
    options.threads = 1;
    const result<cameo::session> loaded =
        with.load(std::as_bytes(std::span{compiled.data(), compiled.size()}), options);
    if (!loaded) one.wrong = "what was compiled can't be loaded: " + std::string{loaded.error().words()};
    else if (const std::string made = outputs_of(*loaded); made != right) one.wrong = "another result";
  });
}

/// Loading a compiled model with its contexts.
scenario restoring(const std::string& path, const std::string& right) {
  const runtime with;
  std::string compiled;
  cameo::compile_options how;
  how.input = path, how.output = &compiled, how.embed = true;
  how.session.threads = 1;
  if (const auto done = with.compile(std::move(how)); !done) {
    report_wrong(path, 0, std::string{done.error().words()});
    std::_Exit(1);
  }
  const auto load = [compiled](const runtime& from, const cameo::session_options& options) {
    return from.load(std::as_bytes(std::span{compiled.data(), compiled.size()}), options);
  };
  cameo::session_options options;
  options.threads = 1;
  return loading(load, right, options);
}

/// Converts an error of the C API to a status, and frees it.
status taken(cameo_error* error) {
  if (!error) return {};
  const std::string words = cameo_error_words(error);
  status made{status_code::fail, "an error with an unknown code: " + words};
  for (std::uint8_t code = 0; code < std::uint8_t(status_code::count); ++code)
    if (cameo::detail::status_rows[code].number == cameo_error_code(error)) made = {status_code(code), words};
  if (words.empty()) made = {status_code::fail, "an error without words"};
  cameo_error_free(error);
  return made;
}

/// Values of the C API, read with its functions. They refer to the elements of the C values.
class c_values {
 public:
  cameo::value view(const cameo_value* of) {
    std::size_t rank = 0;
    const std::int64_t* const dims = cameo_value_dims(of, &rank);
    const cameo::extents shape{std::span{dims, rank}};
    cameo::value made =
        cameo::value::tensor(cameo::dtype(cameo_value_element_type(of)), shape, cameo_value_data(of, nullptr));
    made.kind = cameo::value_kind(cameo_value_kind(of));
    if (made.kind == cameo::value_kind::tensor && made.type == cameo::dtype::string) {
      std::vector<std::string_view>& texts = texts_.emplace_back();
      std::size_t length = 0;
      for (std::size_t i = 0; const char* const text = cameo_value_string(of, i, &length); ++i)
        texts.emplace_back(text, length);
      made.data = texts.data();
    }
    std::vector<cameo::value> parts;
    for (std::size_t i = 0; i < cameo_value_part_count(of); ++i) parts.push_back(view(cameo_value_part(of, i)));
    made.parts = std::span{parts_.emplace_back(std::move(parts))};
    return made;
  }

 private:
  std::list<std::vector<std::string_view>> texts_;
  std::list<std::vector<cameo::value>> parts_;
};

/// Calls functions of the C API. Only their allocations count, not those of the scenario between the calls. A call that
/// fails is made once more: it must then succeed, and the next calls continue with what it made.
class c_calls {
 public:
  c_calls(attempt& one, const inputs& given, const std::string& right) : one_{one}, given_{given}, right_{right} {}
  c_calls(const c_calls&) = delete;
  ~c_calls() {
    one_.call([&] {  // a function that frees must not need memory
      for (cameo_value* each : outputs_) cameo_value_free(each);
      for (cameo_value* each : values_) cameo_value_free(each);
      cameo_binding_free(bound_);
      cameo_session_free(session_);
      cameo_runtime_free(cpu_);
      cameo_runtime_free(both_);
      cameo_stop_free(stop_);
      cameo_options_free(options_);
      return true;
    });
  }

  void load(const char* path) {
    const char* const cpu = "cpu";
    create("options", options_, [] { return cameo_options_new(); });
    create("a stop", stop_, [] { return cameo_stop_new(); });
    make("threads", [&] { return cameo_options_set_threads(options_, 1); });
    make("an option", [&] { return cameo_options_set(options_, "session.disable_prepacking", "0"); });
    make("a runtime", [&] { return cameo_runtime_new(&cpu, 1, &cpu_); });
    make("a session", [&] { return cameo_session_load(cpu_, path, options_, &session_); });
  }

  void make_inputs() {
    values_.resize(given_.all().size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const cameo::value& from = given_.all()[i].input;
      names_.push_back(given_.names()[i].c_str());
      if (from.type == cameo::dtype::string) make_strings(from, values_[i]);
      else
        make("an input", [&] {
          return cameo_value_tensor(int(from.type), from.shape.begin(), from.shape.rank(), from.data, from.bytes(),
                                    &values_[i]);
        });
    }
  }

  void run() {
    outputs_.resize(cameo_session_output_count(session_));
    make("a run", [&] {
      return cameo_session_run(session_, names_.data(), values_.data(), values_.size(), stop_, -1, outputs_.data(),
                               outputs_.size());
    });
    check("a run", [&](std::size_t i) { return outputs_[i]; });
  }

  void bind() {
    make("a binding", [&] { return cameo_session_bind(session_, &bound_); });
    for (std::size_t i = 0; i < values_.size(); ++i)
      make("binding an input", [&] { return cameo_binding_input(bound_, names_[i], values_[i]); });
    for (int i = 0; i < 2; ++i) {
      make("a run of a binding", [&] { return cameo_binding_run(bound_, stop_, -1); });
      check("a run of a binding", [&](std::size_t number) { return cameo_binding_result(bound_, number); });
    }
  }

  void compile(const std::string& from, const std::string& to) {
    const char* const names[] = {"frozen", "cpu"};
    make("a runtime of two providers", [&] { return cameo_runtime_new(names, 2, &both_); });
    make("compiling", [&] { return cameo_compile(both_, from.c_str(), to.c_str(), nullptr, 1, nullptr); });
    if (!one_.wrong.empty()) return;
    cameo::session_options options;
    options.threads = 1;
    const result<cameo::session> loaded = runtime{}.load(to, options);
    if (!loaded) one_.wrong = "what was compiled can't be loaded: " + std::string{loaded.error().words()};
    else if (outputs_of(*loaded) != right_) one_.wrong = "another result of what was compiled";
  }

 private:
  /// Makes a call, and once more if it fails. After something went wrong, it makes none.
  template <class Work>
  void make(const std::string& what, Work&& work) {
    if (!one_.wrong.empty()) return;
    const status first = taken(one_.call(work));
    one_.check(first);
    if (first || !one_.wrong.empty()) return;
    if (const status next = taken(work()); !next) one_.wrong = what + ", the next time: " + std::string{next.words()};
  }
  /// Makes a handle with a function that returns NULL, in place of an error, when memory runs out.
  template <class T, class Work>
  void create(const std::string& what, T*& made, Work&& work) {
    made = one_.call(work);
    if (!made && !one_.failed) one_.wrong = what + ": NULL without a failed allocation";
    if (!made && !(made = work())) one_.wrong = what + ": NULL the next time, too";
  }
  void make_strings(const cameo::value& from, cameo_value*& made) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const std::string_view text : from.as_unchecked<std::string_view>())
      texts.push_back(text.data()), lengths.push_back(text.size());
    make("an input of strings", [&] {
      return cameo_value_strings(from.shape.begin(), from.shape.rank(), texts.data(), lengths.data(), &made);
    });
  }
  /// Checks the outputs of a run; `output` returns one by its index.
  template <class Output>
  void check(const std::string& what, Output&& output) {
    if (!one_.wrong.empty()) return;
    c_values made;
    std::string text;
    for (std::size_t i = 0; i < cameo_session_output_count(session_); ++i)
      text += cameo_io_name(cameo_session_output(session_, i)) + (" = " + to_string(made.view(output(i)), 1000)) + "\n";
    if (text != right_) one_.wrong = what + ": another result";
  }

  attempt& one_;
  const inputs& given_;
  const std::string& right_;
  cameo_options* options_ = nullptr;
  cameo_stop* stop_ = nullptr;
  cameo_runtime *cpu_ = nullptr, *both_ = nullptr;
  cameo_session* session_ = nullptr;
  cameo_binding* bound_ = nullptr;
  std::vector<const char*> names_;
  std::vector<cameo_value*> values_, outputs_;
};

/// The functions of the C API, with inputs that are made once for the model.
scenario from_c(const std::string& path, const std::string& right, const std::string& compiled_to) {
  const result<cameo::session> loaded = runtime{}.load(path, options_of());
  if (!loaded) {
    report_wrong(path, 0, std::string{loaded.error().words()});
    std::_Exit(1);
  }
  return contained([path, right, compiled_to, given = std::make_shared<const inputs>(*loaded)](attempt& one) {
    c_calls calls{one, *given, right};
    calls.load(path.c_str());
    calls.make_inputs();
    calls.run();
    calls.bind();
    if (can_compile) calls.compile(path, compiled_to);
  });
}

void try_model(const std::string& path, long step, bool whole) {
  const std::string name = path.substr(path.rfind('/', path.rfind('/') - 1) + 1);
  const std::string right = outputs_of(path);
  const auto load = [path](const runtime& with, const cameo::session_options& how) { return with.load(path, how); };
  try_all(name + ", load", step, loading(load, right));
  try_all(name + ", run", 1, running(path, right));
  try_all(name + ", bind", 1, binding(path, right));
  try_all(name + ", convert", step, converting(path));
  if (!whole) return;
  const std::vector<std::byte> bytes = bytes_of(path);
  const auto load_bytes = [&bytes](const runtime& with, const cameo::session_options& how) {
    return with.load(std::span{bytes}, how);
  };
  const auto load_stream = [&bytes](const runtime& with, const cameo::session_options& how) {
    stream_of buffer{bytes};
    std::istream stream{&buffer};
    return with.load(stream, how);
  };
  try_all(name + ", load from memory", step, loading(load_bytes, right));
  try_all(name + ", load from a stream", step, loading(load_stream, right));
  try_all(name + ", load with three threads", step, loading(load, right, options_of(3)));
  if (!can_compile) return;
  try_all(name + ", compile", step, compiling(path, right));
  try_all(name + ", load what was compiled", step, restoring(path, right));
  const char* const folder = std::getenv("TMPDIR");
  const std::string to =
      std::string{folder ? folder : "/tmp"} + "/cameo_failing_" + std::to_string(::getpid()) + ".onnx";
  try_all(name + ", C", step, from_c(path, right, to));
  ::unlink(to.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  const bool every = count > 1 && std::string_view{arguments[1]} == "--all";
  const std::string source{cameo::test::source_dir};
  if (every && count > 2) {
    for (int i = 2; i < count; ++i) try_model(arguments[i], 1, true);
  } else {
    try_model(source + "/examples/digits/digits.onnx", 1, true);
    for (const char* name :
         {"decoder.onnx", "keywords/model.ort", "ort/attention_fused/model.ort", "ort/ml_tree_ensemble/model.ort",
          "ort/qdq_runtime_opt/model.ort", "ort/if_float/model.ort"})
      try_model(source + "/tests/data/" + name, every ? 1 : 10, every);
  }
  std::printf("%ld calls were wrong\n", wrong_calls);
  return wrong_calls ? 1 : 0;
}
