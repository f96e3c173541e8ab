#include "interpose/node/node_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "interpose/node/launcher.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/prefetch.hpp"
#include "transports/host/retried.hpp"

namespace penstock::interpose {
namespace {

constexpr char folder[] = "/dev/shm";
constexpr std::uint64_t layout_version = 0x50454e53544f0014ull;  // ranks with another layout use another file

/// The largest page size of GPU hosts (aarch64).
constexpr std::size_t page_bytes = 65536;

/// Removes files that no process holds any more: a job killed inside MPI_Init leaves its file behind.
void sweep_stale_files() noexcept {
  DIR* listing = ::opendir(folder);
  if (listing == nullptr) return;
  char prefix[40];
  std::snprintf(prefix, sizeof prefix, "penstock-%u-", static_cast<unsigned>(::geteuid()));
  while (const dirent* entry = ::readdir(listing)) {
    if (std::strncmp(entry->d_name, prefix, std::strlen(prefix)) != 0) continue;
    char path[sizeof folder + sizeof entry->d_name];
    std::snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    const int file = ::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path);
    ::close(file);
  }
  ::closedir(listing);
}

/// Returns where a search for a rank in a table of that size begins. Ranks of one node may be far apart.
constexpr std::uint32_t hash_of(int world_rank, std::uint32_t table_size) noexcept {
  return static_cast<std::uint32_t>(
             (static_cast<std::uint64_t>(static_cast<std::uint32_t>(world_rank)) * 0x9e3779b97f4a7c15ull) >>
             32) %
         table_size;
}

void say_off(const char* what, int error) noexcept {
  char line[256];
  std::snprintf(line, sizeof line,
                "shared memory of the ranks of this node: %s: %s; device messages are staged in host memory",
                what, std::strerror(error));
  record::notice(line);
}

}  // namespace

/// Zero-filled when made. Rows are claimed in order; each row owns what is exchanged of the same index.
struct NodeDirectory::Shared {
  /// What a rank shares beside its row. Begins and ends with a page.
  struct Exchanged {
    Slot slots[slots_per_rank];
    PartitionArea partitions;
    char up_to_adverts[page_bytes - sizeof(PartitionArea) % page_bytes];
    Advert adverts[adverts_per_rank];  ///< touched only if the rank has_adverts
    char up_to_a_page[page_bytes - sizeof(Advert) * adverts_per_rank % page_bytes];
  };
  static_assert(sizeof(Slot) * slots_per_rank % page_bytes == 0 &&
                offsetof(Exchanged, adverts) % page_bytes == 0 && sizeof(Exchanged) % page_bytes == 0);

  std::atomic<std::uint64_t> version;
  JobNonce nonce;
  std::atomic<std::uint32_t> rows_taken;
  std::atomic<std::uint32_t> gpu_seen;
  std::atomic<std::uint32_t> spoke_of_tuning;
  std::atomic<DeviceCollectives> device_collectives_seen;
  DirectoryRow rows[directory_rows];
  char up_to_a_page[page_bytes - (alignof(DirectoryRow) + sizeof(rows)) % page_bytes];
  Exchanged exchanged[directory_rows];

  /// Returns false, with errno, if there is no room.
  [[nodiscard]] static bool reserve(int file, std::size_t offset, std::size_t bytes) noexcept {
    errno = penstock::reserve_space(file, offset, bytes);
    return errno == 0;
  }
  /// The bytes of Exchanged that a rank touches.
  [[nodiscard]] static std::size_t exchanged_bytes() noexcept {
    return settings().posted_receives ? sizeof(Exchanged) : offsetof(Exchanged, adverts);
  }
  [[nodiscard]] static bool reserve_row(int file, std::uint32_t row) noexcept {
    return reserve(file, offsetof(Shared, rows) + row * sizeof(DirectoryRow), sizeof(DirectoryRow)) &&
           reserve(file, offsetof(Shared, exchanged) + row * sizeof(Exchanged), exchanged_bytes());
  }
};

std::span<std::byte> NodeDirectory::flag_memory() noexcept {
  static_assert(offsetof(Shared, exchanged) % page_bytes == 0);
  if (shared_ == nullptr) return {};
  return {reinterpret_cast<std::byte*>(&shared_->exchanged[own_]), Shared::exchanged_bytes()};
}

std::span<Advert> NodeDirectory::adverts_of(const DirectoryRow& row) noexcept {
  if (shared_ == nullptr || !row.has_adverts.load(std::memory_order_acquire)) return {};
  return shared_->exchanged[&row - shared_->rows].adverts;
}

PartitionArea& NodeDirectory::partitions_of(const DirectoryRow& row) noexcept {
  return shared_->exchanged[&row - shared_->rows].partitions;
}

void NodeDirectory::join() noexcept {
  if (::prctl(PR_GET_DUMPABLE) != 1) {
    // the other ranks could not open this one's memory files
    record::notice(
        "this process forbids others of its user to read it (PR_SET_DUMPABLE, or a program file that may not "
        "be read): device messages are staged in host memory");
    return;
  }
  sweep_stale_files();
  const JobIdentity job = identify_job(settings().node);
  std::snprintf(path_, sizeof path_, "%s/penstock-%u-%016llx%016llx", folder,
                static_cast<unsigned>(::geteuid()),
                static_cast<unsigned long long>(job.key[0] ^ layout_version),
                static_cast<unsigned long long>(job.key[1]));
  struct stat status {};
  for (int attempt = 0; attempt < 100; ++attempt) {
    file_ = retried([&] { return ::open(path_, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600); });
    if (file_ < 0) return say_off(path_, errno);
    // held while the job starts, so that no other process sweeps the file away; a sweeper may have been
    // quicker
    if (retried([&] { return ::flock(file_, LOCK_SH); }) != 0 || ::fstat(file_, &status) != 0) break;
    if (status.st_nlink > 0) break;
    ::close(file_);
    file_ = -1;
  }
  if (file_ < 0 || status.st_uid != ::geteuid() || !S_ISREG(status.st_mode) || (status.st_mode & 077) != 0) {
    say_off(path_, EPERM);
    if (file_ >= 0) ::close(file_);
    file_ = -1;
    return;
  }
  // All ranks set the same size. The file is sparse, so each rank reserves what it touches: a write without
  // room would raise a signal.
  void* mapped = MAP_FAILED;
  rlimit largest_file{};
  if (::getrlimit(RLIMIT_FSIZE, &largest_file) != 0 || largest_file.rlim_cur < sizeof(Shared)) {
    errno = EFBIG;  // growing the file would raise a signal
  } else if (retried([&] { return ::ftruncate(file_, sizeof(Shared)); }) == 0 &&
             Shared::reserve(file_, 0, offsetof(Shared, rows))) {
    mapped = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  }
  if (mapped == MAP_FAILED) return say_off(path_, errno);
  auto* shared = static_cast<Shared*>(mapped);

  // the first rank draws the nonce; version 1 means "being drawn"
  std::uint64_t expected = 0;
  if (shared->version.compare_exchange_strong(expected, 1)) {
    if (::getrandom(&shared->nonce, sizeof shared->nonce, 0) != static_cast<ssize_t>(sizeof shared->nonce)) {
      shared->nonce = {job.key[0], job.key[1]};
    }
    shared->version.store(layout_version, std::memory_order_release);
  }
  for (int waited_us = 0; shared->version.load(std::memory_order_acquire) != layout_version;
       waited_us += 100) {
    if (waited_us > 1'000'000) {  // its maker died in between
      ::munmap(mapped, sizeof(Shared));
      return say_off("the rank that creates it did not finish", ETIMEDOUT);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // sleeps the full time despite signals
  }
  // reserve the row before claiming it: the others read every row that is taken
  own_ = shared->rows_taken.load();
  do {
    const bool has_room = own_ < directory_rows;
    if (!has_room || !Shared::reserve_row(file_, own_)) {
      const int error = has_room ? errno : EUSERS;
      ::munmap(mapped, sizeof(Shared));
      return say_off(path_, error);
    }
  } while (!shared->rows_taken.compare_exchange_weak(own_, own_ + 1));
  shared_ = shared;
  gpu_word.store(&shared_->gpu_seen, std::memory_order_relaxed);
  nonce_ = shared->nonce;
  DirectoryRow& row = shared_->rows[own_];
  row.process = transports::this_process();
  row.has_adverts.store(settings().posted_receives, std::memory_order_release);
  row.number_of_launcher.store(job.environment_rank + 1, std::memory_order_relaxed);
  row.world_rank.store(job.environment_rank, std::memory_order_release);
}

/// Those of one world have all joined by now.
bool NodeDirectory::is_of_several_worlds(int world_size) const noexcept {
  const std::uint32_t taken = rows_taken();
  if (taken > static_cast<std::uint32_t>(world_size)) return true;
  for (std::uint32_t i = 0; i < taken; ++i) {
    const DirectoryRow& row = shared_->rows[i];
    const int size_there = row.world_size.load(std::memory_order_relaxed);
    if (size_there != 0 && size_there != world_size) return true;
    const int number = row.number_of_launcher.load(std::memory_order_relaxed);
    for (std::uint32_t other = 0; other < i && number > 0; ++other) {
      if (shared_->rows[other].number_of_launcher.load(std::memory_order_relaxed) == number) return true;
    }
  }
  return false;
}

void NodeDirectory::publish(int world_rank, int world_size) noexcept {
  if (shared_ != nullptr && is_of_several_worlds(world_size)) {
    leave();
    record::notice(
        "one launcher has started several jobs at a time on this node, or its MPI is not this program's, so "
        "that each rank is a job: device messages are staged in host memory");
    return;
  }
  if (shared_ != nullptr) {
    shared_->rows[own_].world_size.store(world_size, std::memory_order_relaxed);
    shared_->rows[own_].world_rank.store(world_rank, std::memory_order_release);
    shared_->rows[own_].is_published.store(true, std::memory_order_release);
  }
  // every rank that takes part joined before any returned from PMPI_Init
  remove_name();
}

void NodeDirectory::remove_name() noexcept {
  if (file_ < 0) return;
  ::unlink(path_);
  ::close(file_);
  file_ = -1;
}

void NodeDirectory::announce_parting() noexcept {
  if (shared_ != nullptr) shared_->rows[own_].is_parting.store(true, std::memory_order_release);
}

bool NodeDirectory::is_awaited() noexcept {
  if (shared_ == nullptr) return false;
  return std::ranges::any_of(shared_->exchanged[own_].slots, [this](const Slot& slot) {
    if (slot.get() == SlotState::free || slot.is_over()) return false;
    const DirectoryRow* const receiver = row_of(static_cast<int>(slot.receiver));
    return receiver != nullptr && !receiver->is_parting.load(std::memory_order_acquire) &&
           transports::is_alive(receiver->process);
  });
}

void NodeDirectory::leave() noexcept {
  remove_name();
  if (shared_ == nullptr) return;
  shared_->rows[own_].world_rank.store(-1, std::memory_order_release);
  shared_->rows[own_].is_published.store(true, std::memory_order_release);
  gpu_word.store(&no_gpu, std::memory_order_relaxed);
  ::munmap(shared_, sizeof(Shared));
  shared_ = nullptr;
}

std::uint64_t NodeDirectory::next_key() noexcept {
  static std::atomic<std::uint64_t> number{0};
  return key_of(own_row()->world_rank.load(), number.fetch_add(1, std::memory_order_relaxed));
}

DirectoryRow* NodeDirectory::own_row() noexcept {
  return shared_ == nullptr ? nullptr : &shared_->rows[own_];
}

std::uint32_t NodeDirectory::rows_taken() const noexcept {
  return shared_ == nullptr ? 0
                            : std::min(shared_->rows_taken.load(std::memory_order_acquire), directory_rows);
}

DirectoryRow* NodeDirectory::row_of(int world_rank) noexcept {
  if (shared_ == nullptr || world_rank < 0) return nullptr;
  if (DirectoryRow* const row = mapped_row_of(world_rank)) return row;
  const std::uint32_t taken = rows_taken();
  return rows_mapped_.load(std::memory_order_acquire) == taken ? nullptr : search_row_of(world_rank, taken);
}

DirectoryRow* NodeDirectory::mapped_row_of(int world_rank) noexcept {
  for (std::uint32_t at = hash_of(world_rank, map_size);; at = (at + 1) % map_size) {
    const std::uint64_t word = map_[at].load(std::memory_order_acquire);
    if (word == 0) return nullptr;
    if (static_cast<int>(word >> 32) != world_rank) continue;
    DirectoryRow& row = shared_->rows[static_cast<std::uint32_t>(word) - 1];
    // null if that rank has left
    return row.world_rank.load(std::memory_order_acquire) == world_rank ? &row : nullptr;
  }
}

DirectoryRow* NodeDirectory::search_row_of(int world_rank, std::uint32_t taken) noexcept {
  const std::lock_guard guard(map_lock_);
  DirectoryRow* found = nullptr;
  for (std::uint32_t i = 0; i < taken; ++i) {
    DirectoryRow& row = shared_->rows[i];
    const bool is_final = row.is_published.load(std::memory_order_acquire);
    const int rank_there = row.world_rank.load(std::memory_order_acquire);
    if (rank_there == world_rank) found = &row;
    if (!is_final || std::exchange(is_mapped_[i], true)) continue;
    if (rank_there >= 0) {  // otherwise it has left already
      std::uint32_t at = hash_of(rank_there, map_size);
      while (map_[at].load(std::memory_order_relaxed) != 0) at = (at + 1) % map_size;
      map_[at].store(std::uint64_t{static_cast<std::uint32_t>(rank_there)} << 32 | (i + 1),
                     std::memory_order_release);
    }
    rows_mapped_.fetch_add(1, std::memory_order_release);
  }
  return found;
}

Slot* NodeDirectory::take_slot(std::uint32_t* index) noexcept {
  if (shared_ == nullptr) return nullptr;
  for (std::uint32_t tried = 0; tried < slots_per_rank; ++tried) {
    const std::uint32_t candidate = next_slot_;
    next_slot_ = (next_slot_ + 1) % slots_per_rank;
    Slot& slot = shared_->exchanged[own_].slots[candidate];
    if (!slot.take()) continue;
    slot.ready.store(0, std::memory_order_relaxed);
    slot.stashed.store(0, std::memory_order_relaxed);
    slot.failure.store({}, std::memory_order_relaxed);
    slot.request.store(SlotRequest::relay, std::memory_order_relaxed);  // not the last message's push
    *index = candidate;
    return &slot;
  }
  return nullptr;
}

void NodeDirectory::free_slot(Slot* slot) noexcept {
  static_cast<void>(slot->move<Side::sender, SlotState::done, SlotState::free>() ||
                    slot->move<Side::sender, SlotState::failed, SlotState::free>());
}

Slot* NodeDirectory::find(const Envelope& envelope) noexcept {
  if (shared_ == nullptr || envelope.row >= directory_rows || envelope.slot >= slots_per_rank) return nullptr;
  Slot& slot = shared_->exchanged[envelope.row].slots[envelope.slot];
  const bool valid =
      slot.get(envelope.generation) != SlotState::free && slot.offer.payload_bytes == envelope.payload_bytes;
  return valid ? &slot : nullptr;
}

void NodeDirectory::prefetch_slot(const Envelope& envelope) noexcept {
  if (shared_ == nullptr || envelope.row >= directory_rows || envelope.slot >= slots_per_rank) return;
  Slot& slot = shared_->exchanged[envelope.row].slots[envelope.slot];
  transports::prefetch_to_write(&slot.state);
  const auto* const offer = reinterpret_cast<const std::byte*>(&slot.offer);
  for (std::size_t line = 0; line < sizeof(slot.offer); line += 64)
    transports::prefetch_to_read(offer + line);
}

void NodeDirectory::note_gpu() noexcept {
  // stored once only: each message calls this, and all ranks read that cache line with each of their messages
  if (shared_ != nullptr && !gpu_seen()) shared_->gpu_seen.store(1, std::memory_order_relaxed);
}

void NodeDirectory::note_device_collective(DeviceCollectives kind) noexcept {
  if (shared_ == nullptr) return;
  DeviceCollectives before = device_collectives_seen();
  while (before < kind && !shared_->device_collectives_seen.compare_exchange_weak(before, kind)) {
  }
}

NodeDirectory::DeviceCollectives NodeDirectory::device_collectives_seen() const noexcept {
  return shared_ == nullptr ? DeviceCollectives::none
                            : shared_->device_collectives_seen.load(std::memory_order_relaxed);
}

bool NodeDirectory::shares_gpu(std::uint64_t gpu) noexcept {
  if (shared_ == nullptr) return false;
  for (std::atomic<std::uint64_t>& place : shared_->rows[own_].gpus) {
    std::uint64_t noted = 0;
    if (place.compare_exchange_strong(noted, gpu) || noted == gpu) break;
  }
  const std::uint32_t taken = rows_taken();
  for (std::uint32_t i = 0; i < taken; ++i) {
    const DirectoryRow& row = shared_->rows[i];
    if (i == own_ || row.world_rank.load(std::memory_order_relaxed) < 0) continue;
    for (const std::atomic<std::uint64_t>& place : row.gpus) {
      if (place.load(std::memory_order_relaxed) == gpu) return true;
    }
  }
  return false;
}

bool NodeDirectory::speaks_of_tuning() noexcept {
  return shared_ == nullptr || shared_->spoke_of_tuning.exchange(1, std::memory_order_relaxed) == 0;
}

NodeDirectory& node_directory() noexcept {
  static NodeDirectory directory;
  return directory;
}

}  // namespace penstock::interpose
