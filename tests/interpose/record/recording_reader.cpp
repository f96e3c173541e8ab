#include "recording_reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace penstock::test {

ReadRecording::ReadRecording(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < trace::file_header_bytes) throw std::runtime_error("not a recording: " + path.string());
  file_bytes_ = bytes.size();
  std::memcpy(&header_, bytes.data(), sizeof header_);
  std::memcpy(open_calls_.data(), bytes.data() + trace::open_calls_offset, sizeof open_calls_);
  if (header_.magic != trace::file_magic) throw std::runtime_error("no magic: " + path.string());

  const std::size_t table_bytes = header_.losses_generation == 0 ? 0 : trace::block_bytes;
  for (std::size_t at = trace::file_header_bytes + table_bytes; at + trace::block_bytes <= bytes.size();
       at += trace::block_bytes) {
    Block block;
    for (std::size_t record = at; record < at + trace::block_bytes; record += trace::record_bytes) {
      RawRecord raw;
      std::memcpy(raw.data(), bytes.data() + record, raw.size());
      if (kind_of(raw) == trace::RecordKind::none) break;
      block.records.push_back(raw);
    }
    if (block.records.empty()) continue;  // claimed, never begun
    if (kind_of(block.records.front()) != trace::RecordKind::block)
      throw std::runtime_error("block without header");
    std::memcpy(&block.header, block.records.front().data(), sizeof block.header);
    block.records.erase(block.records.begin());
    read_texts(block);
    blocks_.push_back(std::move(block));
  }
  // a block that was made ready early may lie behind one that its lane was given later
  std::stable_sort(blocks_.begin(), blocks_.end(), [](const Block& one, const Block& other) {
    return std::pair(one.header.lane, one.header.ordinal) <
           std::pair(other.header.lane, other.header.ordinal);
  });
}

void ReadRecording::read_texts(const Block& block) {
  std::string text;
  for (const RawRecord& raw : block.records) {
    if (kind_of(raw) != trace::RecordKind::text) continue;
    trace::Text piece{};
    std::memcpy(&piece, raw.data(), sizeof piece);
    text.append(piece.characters, piece.bytes);
    if (piece.more != 0) continue;
    if (!texts_.emplace(piece.id, text).second) throw std::runtime_error("two texts for one id");
    text.clear();
  }
  if (!text.empty()) throw std::runtime_error("a text goes on behind its block");
}

}  // namespace penstock::test
