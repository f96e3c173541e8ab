#include "interpose/record/python/own_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace penstock::record {

bool read_own_memory(std::uint64_t at, std::span<std::byte> to) noexcept {
  if (to.empty()) return true;
  const iovec local{to.data(), to.size()};
  const iovec remote{reinterpret_cast<void*>(at), to.size()};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
}

bool ReadLog::read(std::uint64_t at, std::span<std::byte> to) {
  if (!read_own_memory(at, to)) return false;
  if (places_.size() == most_places || to.size() > most_bytes - bytes_.size()) has_all_ = false;
  if (!has_all_) return true;
  bytes_.insert(bytes_.end(), to.begin(), to.end());
  places_.push_back({at, to.size()});
  return true;
}

bool ReadLog::is_unchanged(std::vector<std::byte>& scratch) const {
  if (!has_all_ || places_.empty()) return false;
  scratch.resize(bytes_.size());
  std::array<iovec, most_places> remote;
  for (std::size_t i = 0; i < places_.size(); ++i)
    remote[i] = {reinterpret_cast<void*>(places_[i].at), places_[i].bytes};
  const iovec local{scratch.data(), scratch.size()};
  return process_vm_readv(getpid(), &local, 1, remote.data(), places_.size(), 0) ==
             static_cast<ssize_t>(scratch.size()) &&
         std::memcmp(scratch.data(), bytes_.data(), bytes_.size()) == 0;
}

void ReadLog::clear() noexcept {
  places_.clear();
  bytes_.clear();
  has_all_ = true;
}

}  // namespace penstock::record
