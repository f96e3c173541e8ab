// Files of LIME records: headers of 144 bytes with a type, and data behind each. Written from the format's
// description, "LIME Version 1.1" (SciDAC Software Coordinating Committee), appendix A. Knows nothing of what
// the data are.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dslash {

/// Something in a file that cannot be: what, and where.
class FormatError : public std::runtime_error {
 public:
  FormatError(const std::string& what, std::uint64_t offset)
      : std::runtime_error(what + ", at offset " + std::to_string(offset)) {}
};

struct LimeRecord {
  std::string type;
  std::uint64_t offset;  ///< of the data
  std::uint64_t bytes;
};

/// All records of the file; throws FormatError.
[[nodiscard]] std::vector<LimeRecord> lime_records(std::istream& file);

/// Bytes from the file; throws FormatError where there are fewer.
void read_bytes(std::istream& file, std::uint64_t offset, void* data, std::uint64_t bytes);

/// The header of a record with so many bytes of data, which is a message by itself.
void write_lime_header(std::ostream& file, std::string_view type, std::uint64_t bytes);
/// What comes after its data.
void write_lime_padding(std::ostream& file, std::uint64_t bytes);

}  // namespace dslash
