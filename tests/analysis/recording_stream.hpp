// Writes a rank's recording record by record, as the recorder would: a lane fills a block, and a full block
// goes to the file. Knows nothing of what is recorded. Test only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "interpose/record/delta_coding.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis::testing {

/// Memory: a block for each lane. Errors: std::runtime_error when the file cannot be written.
class RecordingStream {
 public:
  /// `lanes`: how the records of each are coded.
  RecordingStream(std::filesystem::path file, const trace::FileHeader& header,
                  const std::vector<trace::BlockCoding>& lanes);

  template <typename Record>
  void write(std::size_t lane, const Record& record) {
    static_assert(sizeof(Record) == trace::record_bytes);
    append(lane, &record);
  }
  /// `words` of at most 55 characters, the first time that it is said. Returns its id.
  std::uint32_t text(std::string_view words);
  /// What is left in the blocks, and the header.
  void finish();

 private:
  struct Lane {
    std::vector<std::byte> block;
    trace::BlockCoding coding = trace::BlockCoding::plain;
    std::size_t used_bytes = 0;
    std::uint64_t blocks = 0;
    trace::DeltaWriter deltas;
  };
  void append(std::size_t lane, const void* record);
  void flush(std::size_t lane);

  std::filesystem::path file_;
  std::ofstream out_;
  trace::FileHeader header_;
  std::vector<Lane> lanes_;
  std::uint32_t texts_ = 0;
};

}  // namespace penstock::analysis::testing
