#include "recording_reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace penstock::test {
namespace {

void read_plain(std::string_view bytes, Block& block) {
  for (; block.used_bytes < bytes.size(); block.used_bytes += trace::record_bytes) {
    RawRecord raw;
    std::memcpy(raw.data(), bytes.data() + block.used_bytes, raw.size());
    if (ReadRecording::kind_of(raw) == trace::RecordKind::none) break;
    block.records.push_back(raw);
  }
}

void read_deltas(std::string_view bytes, Block& block) {
  constexpr std::size_t word_bytes = 4;
  std::map<int, RawRecord> bases;
  while (block.used_bytes + sizeof(trace::DeltaHead) <= bytes.size()) {
    trace::DeltaHead head;
    std::memcpy(&head, bytes.data() + block.used_bytes, sizeof head);
    if (head.kind == trace::RecordKind::none) break;
    block.used_bytes += sizeof head;
    RawRecord& record = bases.try_emplace(head.base, RawRecord{}).first->second;
    for (std::size_t word = 0; word < trace::record_words; ++word) {
      if ((head.changed >> word & 1) == 0) continue;
      std::memcpy(record.data() + word * word_bytes, bytes.substr(block.used_bytes, word_bytes).data(),
                  word_bytes);
      block.used_bytes += word_bytes;
    }
    if (ReadRecording::kind_of(record) != head.kind) throw std::runtime_error("two kinds in one record");
    block.records.push_back(record);
  }
}

}  // namespace

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
    std::memcpy(&block.header, bytes.data() + at, sizeof block.header);
    if (block.header.kind == trace::RecordKind::none) continue;  // claimed, never begun
    if (block.header.kind != trace::RecordKind::block) throw std::runtime_error("block without header");
    const std::string_view behind_header =
        std::string_view(bytes).substr(at + trace::record_bytes, trace::block_bytes - trace::record_bytes);
    if (block.header.coding == trace::BlockCoding::delta) {
      read_deltas(behind_header, block);
    } else {
      read_plain(behind_header, block);
    }
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
