#include "tests/analysis/recording_stream.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace penstock::analysis::testing {

RecordingStream::RecordingStream(std::filesystem::path file, const trace::FileHeader& header,
                                 const std::vector<trace::BlockCoding>& lanes)
    : file_(std::move(file)), header_(header), lanes_(lanes.size()) {
  std::filesystem::remove(file_);  // some file systems flush a file that is written over
  out_.open(file_, std::ios::binary);
  header_.claimed_blocks = 0;
  const std::vector<char> room(trace::file_header_bytes);
  out_.write(room.data(), static_cast<std::streamsize>(room.size()));
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    lanes_[lane].block.resize(trace::block_bytes);
    lanes_[lane].coding = lanes[lane];
  }
}

void RecordingStream::append(std::size_t lane, const void* record) {
  Lane& own = lanes_.at(lane);
  const bool is_plain = own.coding == trace::BlockCoding::plain;
  const std::size_t room_for_one =
      is_plain ? trace::record_bytes : trace::most_delta_bytes + sizeof(std::uint32_t);
  if (own.used_bytes + room_for_one > trace::block_bytes) {
    flush(lane);
  }
  if (own.used_bytes == 0) {
    own.used_bytes = sizeof(trace::BlockHeader);
    own.deltas.begin();
  }
  std::byte* const place = own.block.data() + own.used_bytes;
  if (is_plain) {
    std::memcpy(place, record, trace::record_bytes);
    own.used_bytes += trace::record_bytes;
  } else {
    own.used_bytes += static_cast<std::size_t>(own.deltas.write(record, place) - place);
  }
}

void RecordingStream::flush(std::size_t lane) {
  Lane& own = lanes_[lane];
  if (own.used_bytes == 0) {
    return;
  }
  trace::BlockHeader block{};
  block.lane = lane;
  block.ordinal = own.blocks++;
  block.thread_id = 100 + lane;
  block.coding = own.coding;
  block.kind = trace::RecordKind::block;
  std::memcpy(own.block.data(), &block, sizeof block);
  std::fill(own.block.begin() + static_cast<std::ptrdiff_t>(own.used_bytes), own.block.end(), std::byte{0});
  out_.write(reinterpret_cast<const char*>(own.block.data()), trace::block_bytes);
  own.used_bytes = 0;
  ++header_.claimed_blocks;
}

std::uint32_t RecordingStream::text(std::string_view words) {
  trace::Text record{};
  record.id = ++texts_;
  if (words.size() > sizeof record.characters) {
    throw std::runtime_error("a text that is too long");
  }
  record.bytes = static_cast<std::uint8_t>(words.copy(record.characters, sizeof record.characters));
  record.kind = trace::RecordKind::text;
  write(0, record);
  return record.id;
}

void RecordingStream::finish() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    flush(lane);
  }
  out_.seekp(0);
  out_.write(reinterpret_cast<const char*>(&header_), sizeof header_);
  out_.close();
  if (!out_) {
    throw std::runtime_error("cannot write " + file_.string());
  }
}

}  // namespace penstock::analysis::testing
