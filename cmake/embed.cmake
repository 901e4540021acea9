# cmake -DFROM=file -DTO=source.cpp -DNAME=symbol -P embed.cmake: writes a source with the bytes of a file as a constant
# array NAME of NAME_size bytes, in a separate section.
file(READ ${FROM} bytes HEX)
string(LENGTH "${bytes}" count)
math(EXPR count "${count} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes
  "${bytes}")
get_filename_component(file ${FROM} NAME)
file(WRITE ${TO} "// Written by CMake: the bytes of ${file}.
#include <cstddef>

extern const unsigned char ${NAME}[];
extern const std::size_t ${NAME}_size;
alignas(64) [[gnu::section(\".model\")]] const unsigned char ${NAME}[] = {
${bytes}};
const std::size_t ${NAME}_size = ${count};
")
