#pragma once
#include <cameo/format/ort_draft.hpp>
#include <cameo/run/runner.hpp>

namespace cameo::inline CAMEO_ABI {

/// How a minimal session is made.
struct minimal_options {
  /// Kernels may keep copies of constants in an order of their own: faster, and as large as the constants once more.
  bool prepack = false;
};

/// A model from an ORT file, planned and ready to run within one stretch of memory of the caller's: no heap, no graph,
/// no exceptions. Made by minimal_runtime. Constants and names stay in the file. One run at a time; no thread-safety.
class minimal_session {
 public:
  minimal_session(minimal_session&& from) noexcept : impl_{std::exchange(from.impl_, nullptr)} {}
  minimal_session& operator=(minimal_session&& from) noexcept { return std::swap(impl_, from.impl_), *this; }
  CAMEO_API ~minimal_session();

  /// What the model wants and gives, in its order: name, element type, shape with -1 for what a run decides.
  CAMEO_API std::size_t input_count() const;
  /// See input_count().
  CAMEO_API std::size_t output_count() const;
  /// `i` is below the count.
  CAMEO_API const draft_value& input(std::size_t i) const;
  /// See input().
  CAMEO_API const draft_value& output(std::size_t i) const;
  /// No input or output.
  static constexpr std::size_t not_found = std::size_t(-1);
  /// The number of an input, or `not_found`.
  CAMEO_API std::size_t find_input(std::string_view name) const;
  /// The number of an output, or `not_found`.
  CAMEO_API std::size_t find_output(std::string_view name) const;

  /// Runs once: all inputs and outputs, in the model's order. An output that comes with `data` is the caller's memory,
  /// `type` and `shape` say what fits; others come back in the session's memory, good until the next run.
  ///   INVALID_ARGUMENT  an input of another type or shape than the model's, or at an address that it can't be read at;
  ///                     too many or too few; an output that does not fit
  ///   OUT_OF_MEMORY     the session's memory is used up
  ///   others            as kernels say
  /// After an error outputs mean nothing, and the next run starts afresh.
  CAMEO_API status run(std::span<const value> inputs, std::span<value> outputs, const run_options& = {});

  /// Bytes of the caller's memory that are taken: by the plan, and after a run by all that it needed. The same for
  /// every load of a file by the same program, so what it says once is how much memory to give. (Memory that starts at
  /// a multiple of 64 is used best.)
  CAMEO_API std::size_t memory_used() const;

  /// For minimal_runtime.
  CAMEO_API static result<minimal_session> load(std::span<const std::byte> file, std::span<std::byte> memory,
                                                std::span<const kernel_table* const> lists, const minimal_options&,
                                                const ort_draft_checks* = &all_ort_draft_checks);

 private:
  struct impl;
  explicit minimal_session(impl* made) : impl_{made} {}
  impl* impl_;
};

/// What a minimal_runtime does, by how it reads: `Checked` files from anywhere, `Trusted` those that it trusts.
template <const ort_draft_checks* Checked, const ort_draft_checks* Trusted, class... Lists>
struct minimal_loader {
  /// Reads, plans and prepares. `file` (an ORT file's bytes, at any address) and `memory` outlive the session. Codes as
  /// read_ort_draft's and make_plan's; OUT_OF_MEMORY says that `memory` is too small.
  static result<minimal_session> load(std::span<const std::byte> file, std::span<std::byte> memory,
                                      const minimal_options& options = {}) {
    return minimal_session::load(file, memory, lists, options, Checked);
  }
  /// load() of a file that is a part of the program, and trusted as its code is: nothing in it is checked, and the code
  /// that checks is not linked. It must be one that load() takes, as cameo writes it (not ONNX Runtime); of any other
  /// anything may come. Try it with load() where that costs nothing: in a test on a host.
  static result<minimal_session> load_trusted(std::span<const std::byte> file, std::span<std::byte> memory,
                                              const minimal_options& options = {}) {
    return minimal_session::load(file, memory, lists, options, Trusted);
  }
  /// How much memory load() of this file takes, found by a load into `scratch`, which is free again afterwards: the
  /// same on every device with this program. Where all shapes are in the file, runs take little more, what kernels need
  /// for a moment; memory_used() after one says how much. Errors as load()'s: OUT_OF_MEMORY says that `scratch` is too
  /// small.
  static result<std::size_t> memory_needed(std::span<const std::byte> file, std::span<std::byte> scratch,
                                           const minimal_options& options = {}) {
    const result<minimal_session> made = load(file, scratch, options);
    if (!made) return made.error();
    return made->memory_used();
  }

 private:
  static constexpr const kernel_table* lists[] = {&Lists::table...};
};

/// The kernels that a program has: kernel lists, each node to the first that takes it. What is in none of them is not
/// in the program.
///
///     using runtime = cameo::minimal_runtime<my_kernels>;
///     auto session = runtime::load(file, memory);
template <class... Lists>
struct minimal_runtime : minimal_loader<&all_ort_draft_checks, nullptr, Lists...> {};

/// First in the list of a minimal_runtime: what files have saved for later is done when they are loaded, as
/// replaying_ort_draft_checks says, with codes of its own. A program that does not name it carries nothing of it.
struct saved_optimizations {};
template <class... Lists>
struct minimal_runtime<saved_optimizations, Lists...>
    : minimal_loader<&replaying_ort_draft_checks, &replaying_trusted_ort_draft, Lists...> {};

}  // namespace cameo::inline CAMEO_ABI
