#include "analysis/export/common/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "analysis/recording/flaw.hpp"

namespace penstock::analysis::exports {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string why) {
  throw TraceError({path, std::nullopt, std::move(why)});
}

[[noreturn]] void fail_by_errno(const std::filesystem::path& path) {
  fail(path, std::strerror(errno));
}

/// Returns the mode of ordinary files: mkstemp() and mkdtemp() give access to the owner only.
mode_t usual_mode(mode_t mode) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mode & ~mask;
}

std::filesystem::path make_work_name(const std::filesystem::path& path, Destination::Form form) {
  std::string name = path.string() + ".XXXXXX";
  if (form == Destination::Form::directory) {
    if (::mkdtemp(name.data()) == nullptr || ::chmod(name.c_str(), usual_mode(0777)) != 0)
      fail_by_errno(path);
    return name;
  }
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0 || ::fchmod(descriptor, usual_mode(0666)) != 0) fail_by_errno(path);
  ::close(descriptor);
  return name;
}

bool is_empty_directory(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error) && !error;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file, std::filesystem::path shown)
    : shown_(std::move(shown)),
      descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail_by_errno(shown_);
  buffer_.reserve(2 * buffer_bytes);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_by_errno(shown_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  written_bytes_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_by_errno(shown_);  // network file systems write now
}

Destination::Destination(std::filesystem::path path, Form form, bool replace, const IsOurs& is_ours)
    : path_(std::move(path)) {
  if (!path_.has_filename()) path_ = path_.parent_path();  // "folder/"
  std::error_code ignored;
  const bool is_free = !std::filesystem::exists(std::filesystem::symlink_status(path_, ignored)) ||
                       (form == Form::directory && is_empty_directory(path_));
  if (!is_free) {
    const bool is_right_form = form == Form::file ? std::filesystem::is_regular_file(path_, ignored)
                                                  : std::filesystem::is_directory(path_, ignored);
    if (!is_right_form || !is_ours(path_)) fail(path_, "is there already, and is no such export");
    if (!replace) fail(path_, "is there already; --force replaces it");
  }
  work_ = make_work_name(path_, form);
}

Destination::~Destination() {
  if (work_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(work_, ignored);
}

void Destination::commit() {
  std::error_code error;
  // rename() replaces a file or an empty directory; a full directory is an earlier export
  if (std::filesystem::is_directory(path_, error)) std::filesystem::remove_all(path_, error);
  std::filesystem::rename(work_, path_, error);
  if (error) fail(path_, error.message());
  work_.clear();
}

}  // namespace penstock::analysis::exports
