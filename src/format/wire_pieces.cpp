#include "wire_pieces.hpp"

namespace CAMEO_NAMESPACE {

void wire_pieces::append(const wire_pieces& more) {
  for (const piece& p : more.borrowed) borrowed.push_back({text.size() + p.at, p.bytes});
  text.append(more.text);
  borrowed_bytes += more.borrowed_bytes;
}
void wire_pieces::borrow(std::span<const std::byte> bytes) {
  borrowed.push_back({text.size(), bytes});
  borrowed_bytes += bytes.size();
}

std::string wire_pieces::joined() const {
  std::string all;
  all.reserve(size());
  for (std::span<const std::byte> piece : spans())
    all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return all;
}

std::vector<std::span<const std::byte>> wire_pieces::spans() const {
  std::vector<std::span<const std::byte>> all;
  const std::span<const std::byte> own = std::as_bytes(std::span{text.data(), text.size()});
  std::size_t at = 0;
  for (const piece& p : borrowed) {
    if (p.at != at) all.push_back(own.subspan(at, p.at - at));
    if (!p.bytes.empty()) all.push_back(p.bytes);
    at = p.at;
  }
  if (at != own.size()) all.push_back(own.subspan(at));
  return all;
}

}  // namespace CAMEO_NAMESPACE
