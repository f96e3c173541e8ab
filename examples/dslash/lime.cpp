#include "examples/dslash/lime.hpp"

#include <algorithm>
#include <array>

namespace dslash {
namespace {

constexpr std::uint64_t header_bytes = 144;
constexpr std::uint32_t magic = 0x456789AB;
constexpr std::uint64_t type_offset = 16;
constexpr std::uint64_t type_bytes = 128;
constexpr std::uint64_t alignment = 8;

using Header = std::array<unsigned char, header_bytes>;

std::uint64_t big_endian(const Header& header, std::size_t offset, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    number = number << 8 | header[offset + i];
  }
  return number;
}

void put_big_endian(Header& header, std::size_t offset, std::size_t bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < bytes; ++i) {
    header[offset + i] = static_cast<unsigned char>(number >> 8 * (bytes - 1 - i));
  }
}

std::uint64_t padding_of(std::uint64_t bytes) {
  return (alignment - bytes % alignment) % alignment;
}

std::uint64_t size_of(std::istream& file) {
  file.clear();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (size < 0) {
    throw FormatError("its size cannot be found", 0);
  }
  return static_cast<std::uint64_t>(size);
}

LimeRecord record_at(std::istream& file, std::uint64_t at, std::uint64_t file_bytes) {
  Header header{};
  if (file_bytes - at < header_bytes) {
    throw FormatError("a LIME header is cut off", at);
  }
  read_bytes(file, at, header.data(), header_bytes);
  if (big_endian(header, 0, 4) != magic) {
    throw FormatError("LIME's magic number is not there", at);
  }
  if (const std::uint64_t version = big_endian(header, 4, 2); version != 1) {
    throw FormatError("LIME's version is " + std::to_string(version) + ", not 1", at + 4);
  }
  const std::uint64_t bytes = big_endian(header, 8, 8);
  const std::uint64_t left = file_bytes - at - header_bytes;
  if (bytes > left || padding_of(bytes) > left - bytes) {
    throw FormatError("a LIME record's length of " + std::to_string(bytes) + " bytes goes beyond the file",
                      at + 8);
  }
  const unsigned char* const type = header.data() + type_offset;
  const unsigned char* const type_end = std::find(type, type + type_bytes, 0);
  if (type_end == type + type_bytes) {
    throw FormatError("a LIME record's type does not end", at + type_offset);
  }
  return {std::string(type, type_end), at + header_bytes, bytes};
}

}  // namespace

void read_bytes(std::istream& file, std::uint64_t offset, void* data, std::uint64_t bytes) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
  if (!file) {
    throw FormatError("the file cannot be read", offset);
  }
}

std::vector<LimeRecord> lime_records(std::istream& file) {
  const std::uint64_t file_bytes = size_of(file);
  std::vector<LimeRecord> records;
  std::uint64_t at = 0;
  do {
    records.push_back(record_at(file, at, file_bytes));
    at = records.back().offset + records.back().bytes + padding_of(records.back().bytes);
  } while (at < file_bytes);
  return records;
}

void write_lime_header(std::ostream& file, std::string_view type, std::uint64_t bytes) {
  Header header{};
  put_big_endian(header, 0, 4, magic);
  put_big_endian(header, 4, 2, 1);
  header[6] = 0xC0;  // a message begins, and ends
  put_big_endian(header, 8, 8, bytes);
  std::copy_n(type.begin(), std::min<std::size_t>(type.size(), type_bytes - 1), header.begin() + type_offset);
  file.write(reinterpret_cast<const char*>(header.data()), header_bytes);
}

void write_lime_padding(std::ostream& file, std::uint64_t bytes) {
  constexpr char zeros[alignment] = {};
  file.write(zeros, static_cast<std::streamsize>(padding_of(bytes)));
}

}  // namespace dslash
