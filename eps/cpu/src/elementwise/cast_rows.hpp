#pragma once
#include <cameo/eps/cpu/cast.hpp>

// A cast that no loop of its own does goes through one of four wide types, which hold what they are read from exactly:
// integers through int64, uint64 through itself, floats through float, double through itself. So there is code per
// type, not per pair.
namespace CAMEO_NAMESPACE::eps {

/// Elements of a block; a multiple of 8, so that packed types start a block at a byte.
inline constexpr std::int64_t cast_block = 512;

/// n elements of one type as another; `to` may be `from` where the types have one size.
using direct_cast = void (*)(const void* from, void* to, std::int64_t n);
/// The loop between two types that C++ converts as ONNX wants it; null for all others.
direct_cast direct_cast_of(dtype from, dtype to);

/// Elements [first, first + n) of `type` into `to`. W is a wide type that holds them.
template <class W>
void read_wide(dtype type, const void* from, std::int64_t first, W* to, std::int64_t n);

/// n wide numbers into elements from `first` on.
template <class W>
void write_wide(const cast_state& how, const W* from, void* to, std::int64_t first, std::int64_t n);

/// Text to a number. False if it is none; `out` then is what it was.
bool parse_number(std::string_view text, double& out);
bool parse_number(std::string_view text, std::int64_t& out);
bool parse_number(std::string_view text, std::uint64_t& out);
/// A number of an element type as text, at most 32 characters into `out`; how many.
std::size_t print_number(dtype, std::int64_t number, char* out);
std::size_t print_number(dtype, std::uint64_t number, char* out);
std::size_t print_number(dtype, float number, char* out);
std::size_t print_number(dtype, double number, char* out);

}  // namespace CAMEO_NAMESPACE::eps
