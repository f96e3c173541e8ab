#include "interpose/windows/memory/host_reach.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace penstock::interpose {
namespace {

/// The kernel takes 1,024 pieces a call (UIO_MAXIOV).
constexpr std::size_t most_pieces = 512;

using CopyPieces = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                               unsigned long);

/// Copies until all pieces are done: the kernel may stop between two of them.
template <std::size_t size>
Status copy_pieces(CopyPieces copy, const char* what, pid_t process, char* packed,
                   std::array<iovec, size>& pieces, std::size_t count) noexcept {
  for (std::size_t first = 0; first < count;) {
    std::size_t bytes = 0;
    for (std::size_t i = first; i < count; ++i) bytes += pieces[i].iov_len;
    const iovec local{packed, bytes};
    const ssize_t copied = copy(process, &local, 1, &pieces[first], count - first, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) return {Code::system_failed, what, copied < 0 ? errno : EFAULT};
    packed += copied;
    auto left = static_cast<std::size_t>(copied);
    while (first < count && left >= pieces[first].iov_len) left -= pieces[first++].iov_len;
    if (first == count) break;
    pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
    pieces[first].iov_len -= left;
  }
  return {};
}

Status copy_layout(CopyPieces copy, const char* what, std::int64_t process, std::uint64_t base,
                   const transports::Layout& where, char* packed) noexcept {
  std::array<iovec, most_pieces> pieces;
  std::size_t count = 0;
  std::size_t bytes = 0;
  const auto flush = [&]() -> Status {
    Status copied = copy_pieces(copy, what, static_cast<pid_t>(process), packed, pieces, count);
    packed += bytes;
    count = bytes = 0;
    return copied;
  };
  for (const transports::Block& block : where.blocks()) {
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::ptrdiff_t offset = block.offset + static_cast<std::ptrdiff_t>(i) * block.stride;
      pieces[count++] = {reinterpret_cast<void*>(base + static_cast<std::uint64_t>(offset)), block.bytes};
      bytes += block.bytes;
      if (count < most_pieces) continue;
      if (Status copied = flush(); !copied.ok()) return copied;
    }
  }
  return count == 0 ? Status{} : flush();
}

}  // namespace

void allow_others_to_reach_memory() noexcept {
  static_cast<void>(::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));  // fails where it is not needed
}

Status read_host_memory(std::int64_t process, std::uint64_t base, const transports::Layout& where,
                        void* packed) noexcept {
  return copy_layout(::process_vm_readv, "process_vm_readv", process, base, where,
                     static_cast<char*>(packed));
}

Status write_host_memory(std::int64_t process, std::uint64_t base, const transports::Layout& where,
                         const void* packed) noexcept {
  return copy_layout(::process_vm_writev, "process_vm_writev", process, base, where,
                     const_cast<char*>(static_cast<const char*>(packed)));
}

}  // namespace penstock::interpose
