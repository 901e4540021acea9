#pragma once
#include <cameo/format/ort_draft.hpp>
#include <cameo/run/runner.hpp>

namespace CAMEO_NAMESPACE {

/// Options of a minimal session.
struct minimal_options {
  /// Allows kernels to make reordered copies of constants. Runs are then faster, but all constants need memory a second
  /// time.
  bool prepack = false;
};

/// A model from an ORT file, planned and ready to run within one block of the caller's memory: no heap, no graph, no
/// exceptions. minimal_runtime makes it. Constants and names stay in the file. One run at a time; not thread-safe.
class minimal_session {
 public:
  minimal_session(minimal_session&& from) noexcept : impl_{std::exchange(from.impl_, nullptr)} {}
  minimal_session& operator=(minimal_session&& from) noexcept { return std::swap(impl_, from.impl_), *this; }
  CAMEO_API ~minimal_session();

  /// The number of the model's inputs.
  CAMEO_API std::size_t input_count() const;
  /// The number of the model's outputs.
  CAMEO_API std::size_t output_count() const;
  /// Input i in the model's order: name, element type, and shape, with -1 for dims that are known only in a run. i must
  /// be below input_count().
  CAMEO_API const draft_value& input(std::size_t i) const;
  /// Output i, like input(). i must be below output_count().
  CAMEO_API const draft_value& output(std::size_t i) const;
  /// The result of find_input() and find_output() for an unknown name.
  static constexpr std::size_t not_found = std::size_t(-1);
  /// The index of an input, or `not_found`.
  CAMEO_API std::size_t find_input(std::string_view name) const;
  /// The index of an output, or `not_found`.
  CAMEO_API std::size_t find_output(std::string_view name) const;

  /// Runs the model once with all inputs and outputs, in the model's order. An output with `data` is the caller's
  /// memory, of the size that `type` and `shape` state; other outputs are returned in the session's memory, valid until
  /// the next run.
  ///   INVALID_ARGUMENT  an input of another type or shape than the model's, or at an unaligned address;
  ///                     too many or too few inputs or outputs; an output that does not fit
  ///   OUT_OF_MEMORY     the session's memory is used up
  ///   others            as kernels return them
  /// After an error the outputs are undefined, and the next run starts afresh.
  CAMEO_API status run(std::span<const value> inputs, std::span<value> outputs, const run_options& = {});

  /// The number of bytes of the caller's memory that are in use: by the plan and, after a run, also by the values and
  /// the scratch memory of that run. The number is equal for every load of a file by the same program, so it shows how
  /// much memory to provide. The least memory is lost to alignment if it starts at a multiple of 64.
  CAMEO_API std::size_t memory_used() const;

  /// Loads a file for minimal_runtime, whose functions are the ones to call.
  CAMEO_API static result<minimal_session> load(std::span<const std::byte> file, std::span<std::byte> memory,
                                                std::span<const detail::kernel_table* const> lists,
                                                const minimal_options&,
                                                const ort_draft_checks* = &all_ort_draft_checks);

 private:
  struct impl;
  explicit minimal_session(impl* made) : impl_{made} {}
  impl* impl_;
};

/// The functions of minimal_runtime. load() uses the checks `Checked`, for files from any source; load_trusted() uses
/// `Trusted`.
template <const ort_draft_checks* Checked, const ort_draft_checks* Trusted, class... Lists>
struct minimal_loader {
  /// Reads a model, makes its plan and prepares runs. `file` (the bytes of an ORT file, at any address) and `memory`
  /// must outlive the session. Errors are those of read_ort_draft() and make_plan(); OUT_OF_MEMORY means that `memory`
  /// is too small.
  static result<minimal_session> load(std::span<const std::byte> file, std::span<std::byte> memory,
                                      const minimal_options& options = {}) {
    return minimal_session::load(file, memory, lists, options, Checked);
  }
  /// Loads a file that is a part of the program and trusted like its code: nothing in it is checked, and the checks are
  /// not linked. The file must be one that load() accepts and that cameo wrote (not ONNX Runtime); for other files the
  /// behavior is undefined. Check the file with load() in a test on a host.
  static result<minimal_session> load_trusted(std::span<const std::byte> file, std::span<std::byte> memory,
                                              const minimal_options& options = {}) {
    return minimal_session::load(file, memory, lists, options, Trusted);
  }
  /// The number of bytes that load() of this file needs, found by a load into `scratch`, which is free again
  /// afterwards. It is equal on every device with this program. If all shapes are in the file, runs need little more,
  /// for the kernels' scratch memory; memory_used() after a run reports how much. Errors are those of load():
  /// OUT_OF_MEMORY means that `scratch` is too small.
  static result<std::size_t> memory_needed(std::span<const std::byte> file, std::span<std::byte> scratch,
                                           const minimal_options& options = {}) {
    const result<minimal_session> made = load(file, scratch, options);
    if (!made) return made.error();
    return made->memory_used();
  }

 private:
  static constexpr const detail::kernel_table* lists[] = {&Lists::table...};
};

/// Loads minimal sessions whose kernels are those of these kernel lists. A node gets the kernel of the first list that
/// has one for it. Kernels in none of the lists are not linked.
///
///     using runtime = cameo::minimal_runtime<my_kernels>;
///     auto session = runtime::load(file, memory);
template <class... Lists>
struct minimal_runtime : minimal_loader<&all_ort_draft_checks, nullptr, Lists...> {};

/// The first argument of a minimal_runtime that applies a file's saved optimizations when the file is loaded, with the
/// errors that replaying_ort_draft_checks describes. A program without it does not link that code.
struct saved_optimizations {};
template <class... Lists>
struct minimal_runtime<saved_optimizations, Lists...>
    : minimal_loader<&replaying_ort_draft_checks, &replaying_trusted_ort_draft, Lists...> {};

}  // namespace CAMEO_NAMESPACE
