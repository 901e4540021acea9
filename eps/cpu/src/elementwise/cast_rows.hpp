#pragma once
#include <cameo/eps/cpu/cast.hpp>

// A cast without a separate loop goes through one of four wide types, which hold every value of the source type
// exactly: int64 for integers, uint64 for uint64, float for floats, double for double. So there is code for each type,
// not for each pair of types.
namespace CAMEO_NAMESPACE::eps {

/// The number of elements of a block; a multiple of 8, so that blocks of packed types start at a whole byte.
inline constexpr std::int64_t cast_block = 512;

/// Converts n elements of one type to another; `to` may be the buffer of `from` if the elements have the same size.
using direct_cast = void (*)(const void* from, void* to, std::int64_t n);
/// Returns the loop for two types that C++ converts as ONNX defines it; null for all others.
direct_cast direct_cast_of(dtype from, dtype to);

/// Reads the elements [first, first + n) of `type` into `to`. W is a wide type that holds their values exactly.
template <class W>
void read_wide(dtype type, const void* from, std::int64_t first, W* to, std::int64_t n);

/// Writes n wide numbers to the elements from `first` on.
template <class W>
void write_wide(const cast_state& how, const W* from, void* to, std::int64_t first, std::int64_t n);

/// Parses a number. Returns false if `text` is not a number, and then leaves `out` unchanged.
bool parse_number(std::string_view text, double& out);
bool parse_number(std::string_view text, std::int64_t& out);
bool parse_number(std::string_view text, std::uint64_t& out);
/// Prints a number of an element type to `out`, at most 32 characters; returns their count.
std::size_t print_number(dtype, std::int64_t number, char* out);
std::size_t print_number(dtype, std::uint64_t number, char* out);
std::size_t print_number(dtype, float number, char* out);
std::size_t print_number(dtype, double number, char* out);

}  // namespace CAMEO_NAMESPACE::eps
