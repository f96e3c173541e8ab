// Writes an export under a temporary name first, so that an export that fails or is interrupted leaves an
// earlier one intact. Must not know any format. Errors: TraceError with the path that the user named.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::analysis::exports {

/// Owns a buffered file for writing.
class OutputFile {
 public:
  /// `shown`: the path in error messages.
  OutputFile(const std::filesystem::path& file, std::filesystem::path shown);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= buffer_bytes) flush();
  }
  /// Closes the file; throws the errors of the last writes.
  void close();
  [[nodiscard]] std::uint64_t bytes() const noexcept { return written_bytes_ + buffer_.size(); }

 private:
  static constexpr std::size_t buffer_bytes = 1024 * 1024;
  void flush();

  std::filesystem::path shown_;
  int descriptor_ = -1;
  std::uint64_t written_bytes_ = 0;
  std::string buffer_;
};

/// A file or a directory that gets its name when it is complete.
class Destination {
 public:
  enum class Form : std::uint8_t { file, directory };
  /// Returns true for what an earlier export left; nothing else is ever removed.
  using IsOurs = std::function<bool(const std::filesystem::path&)>;

  /// `replace`: an earlier export at `path` is replaced. Refuses anything else that exists there.
  Destination(std::filesystem::path path, Form form, bool replace, const IsOurs& is_ours);
  ~Destination();
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;

  [[nodiscard]] const std::filesystem::path& shown() const noexcept { return path_; }
  /// Returns where to write until commit(). A directory exists already.
  [[nodiscard]] const std::filesystem::path& work() const noexcept { return work_; }
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path work_;  ///< empty once it is committed
};

}  // namespace penstock::analysis::exports
