// Reads a recording back for the tests: plainly, whole, by the words of trace_format.hpp alone, without the
// recorder's own code for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "interpose/record/trace_format.hpp"

namespace penstock::test {

using RawRecord = std::array<std::byte, trace::record_bytes>;

struct Block {
  trace::BlockHeader header;
  std::size_t used_bytes = 0;  ///< by records
  std::vector<RawRecord> records;
};

/// Errors: throws std::runtime_error when the file is not a recording.
class ReadRecording {
 public:
  explicit ReadRecording(const std::filesystem::path& path);

  [[nodiscard]] const trace::FileHeader& header() const { return header_; }
  /// All slots of the header's table, free ones too.
  [[nodiscard]] const std::array<trace::OpenCall, trace::most_open_calls>& open_calls() const {
    return open_calls_;
  }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  /// "" for no_string; throws std::out_of_range for an id without text.
  [[nodiscard]] std::string text(std::uint32_t id) const { return id == 0 ? "" : texts_.at(id); }
  [[nodiscard]] std::size_t text_count() const { return texts_.size(); }
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

  /// All records of one kind, in the file's order.
  template <typename Record>
  [[nodiscard]] std::vector<Record> all(trace::RecordKind kind) const {
    std::vector<Record> found;
    for (const Block& block : blocks_) {
      for (const RawRecord& raw : block.records) {
        if (kind_of(raw) != kind) continue;
        std::memcpy(&found.emplace_back(), raw.data(), sizeof(Record));
      }
    }
    return found;
  }

  [[nodiscard]] static trace::RecordKind kind_of(const RawRecord& raw) {
    return static_cast<trace::RecordKind>(raw.back());
  }

 private:
  void read_texts(const Block& block);

  trace::FileHeader header_{};
  std::array<trace::OpenCall, trace::most_open_calls> open_calls_{};
  std::vector<Block> blocks_;
  std::map<std::uint32_t, std::string> texts_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace penstock::test
