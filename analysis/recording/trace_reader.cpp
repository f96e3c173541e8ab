#include "analysis/recording/trace_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace penstock::analysis {
namespace {

/// Reads up to `bytes`; returns fewer only at the end of the file. Throws TraceError if the system call
/// fails.
std::size_t read_at(int descriptor, const std::filesystem::path& file, std::uint64_t offset, void* to,
                    std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(descriptor, static_cast<std::byte*>(to) + done, bytes - done,
                                static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw TraceError({file, offset + done, fmt::format("cannot be read ({})", std::strerror(errno))});
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return done;
}

template <std::size_t size>
void terminate(char (&text)[size]) {
  text[size - 1] = '\0';
}

/// Throws unless this reader supports the header's format.
void check(const trace::FileHeader& header, const std::filesystem::path& file, std::size_t bytes_read) {
  const auto refuse = [&file](std::size_t offset, std::string what) {
    throw TraceError({file, offset, std::move(what)});
  };
  if (bytes_read < sizeof header.magic) {
    refuse(bytes_read, bytes_read == 0 ? "empty file" : "cut off inside the header");
  }
  if (header.magic != trace::file_magic) {
    refuse(0, header.magic == 0 ? "zero-filled, not a Penstock recording" : "not a Penstock recording");
  }
  if (bytes_read < offsetof(trace::FileHeader, version) + sizeof header.version) {
    refuse(bytes_read, "cut off inside the header");
  }
  if (header.version < trace::oldest_readable_version || header.version > trace::format_version) {
    refuse(offsetof(trace::FileHeader, version),
           fmt::format("recording of format version {}, this penstock reads versions {} to {}",
                       header.version, trace::oldest_readable_version, trace::format_version));
  }
  if (bytes_read < trace::file_header_bytes) {
    refuse(bytes_read, "cut off inside the header");
  }
  if (header.header_bytes != trace::file_header_bytes || header.record_bytes != trace::record_bytes ||
      header.block_bytes != trace::block_bytes) {
    refuse(offsetof(trace::FileHeader, header_bytes), "sizes in the header are not those of this format");
  }
  if (header.world_size < 1 || header.world_rank < 0 || header.world_rank >= header.world_size) {
    refuse(offsetof(trace::FileHeader, world_rank),
           fmt::format("rank {} of {} ranks is impossible", header.world_rank, header.world_size));
  }
}

}  // namespace

TraceReader::TraceReader(std::filesystem::path file)
    : file_(std::move(file)),
      descriptor_(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)),
      block_(std::make_unique_for_overwrite<std::byte[]>(trace::block_bytes)) {
  if (descriptor_ < 0) {
    throw TraceError({file_, std::nullopt, fmt::format("cannot be opened ({})", std::strerror(errno))});
  }
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      throw TraceError({file_, std::nullopt, "not a plain file"});
    }
    size_bytes_ = static_cast<std::uint64_t>(status.st_size);
    const std::size_t got = read_at(descriptor_, file_, 0, block_.get(), trace::file_header_bytes);
    std::memcpy(&header_, block_.get(), std::min(got, sizeof header_));
    check(header_, file_, got);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  terminate(header_.host_name);
  terminate(header_.program);
  terminate(header_.mpi_version);
  terminate(header_.device_name);
  terminate(header_.features_note);
}

TraceReader::TraceReader(TraceReader&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_),
      header_(other.header_),
      most_blocks_(other.most_blocks_),
      flaws_(std::move(other.flaws_)),
      block_(std::move(other.block_)) {}

TraceReader::~TraceReader() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

std::vector<trace::OpenCall> TraceReader::open_calls() const {
  constexpr std::size_t bytes = trace::most_open_calls * sizeof(trace::OpenCall);
  const std::uint32_t slots = std::min(header_.open_call_slots, trace::most_open_calls);
  std::vector<trace::OpenCall> before(trace::most_open_calls);
  std::vector<trace::OpenCall> after(trace::most_open_calls);
  std::vector<trace::OpenCall> calls;
  if (read_at(descriptor_, file_, trace::open_calls_offset, before.data(), bytes) != bytes ||
      read_at(descriptor_, file_, trace::open_calls_offset, after.data(), bytes) != bytes) {
    return calls;
  }
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (after[slot].call.kind == trace::RecordKind::mpi_call &&
        std::memcmp(&before[slot], &after[slot], sizeof(trace::OpenCall)) == 0) {
      calls.push_back(after[slot]);
    }
  }
  return calls;
}

LostRecords TraceReader::lost() const {
  LostRecords lost;
  if (!keeps_newest()) {
    return lost;
  }
  const auto generation_now = [this] {
    std::uint64_t generation = 0;
    static_cast<void>(read_at(descriptor_, file_, offsetof(trace::FileHeader, losses_generation), &generation,
                              sizeof generation));
    return generation;
  };
  const auto table = std::make_unique<trace::Losses>();
  constexpr int attempts =
      1000;  // a copy is overwritten after it was replaced, which takes a block of records
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::uint64_t generation = generation_now();
    const std::uint64_t offset = trace::file_header_bytes + generation % 2 * (trace::block_bytes / 2);
    if (read_at(descriptor_, file_, offset, table.get(), sizeof *table) != sizeof *table) {
      break;
    }
    if (generation_now() == generation) {
      lost.known_from_ns = table->known_from_ns;
      lost.records = table->lost_records;
      lost.last_block = table->last_lost_block;
      lost.knows_all_halves = table->is_full == 0;
      lost.halves.assign(table->lost_halves,
                         table->lost_halves + std::min(table->groups, trace::Losses::most_groups));
      return lost;
    }
  }
  lost.known_from_ns = trace::nothing_missing;
  lost.knows_all_halves = false;
  return lost;
}

bool TraceReader::read_at_most(std::uint64_t bytes) noexcept {
  most_blocks_ = 2 * std::max<std::uint64_t>(1, bytes / 2 / trace::block_bytes);
  return block_count() > most_blocks_;
}

std::uint64_t TraceReader::block_count() const noexcept {
  return size_bytes_ <= trace::file_header_bytes
             ? 0
             : (size_bytes_ - trace::file_header_bytes + trace::block_bytes - 1) / trace::block_bytes;
}

/// Lists the blocks: as they lie in the file, or, if the oldest are overwritten, as they were begun.
void TraceReader::begin_pass() {
  next_ = 0;
  earliest_ns_ = header_.begin_ns > year_ns ? header_.begin_ns - year_ns : 0;
  offsets_.clear();
  const auto offset_of = [](std::uint64_t block) {
    return trace::file_header_bytes + block * trace::block_bytes;
  };
  if (!keeps_newest()) {
    for (std::uint64_t block = 0; block < block_count(); ++block) {
      offsets_.push_back(offset_of(block));
    }
  } else {
    const std::uint64_t last_lost = lost().last_block;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> by_sequence;
    for (std::uint64_t block = 1; block < block_count(); ++block) {
      trace::BlockHeader header{};
      if (read_at(descriptor_, file_, offset_of(block), &header, sizeof header) != sizeof header ||
          header.kind == trace::RecordKind::none ||
          (header.kind == trace::RecordKind::block && header.sequence == last_lost)) {
        continue;
      }
      by_sequence.emplace_back(header.sequence, offset_of(block));
    }
    std::sort(by_sequence.begin(), by_sequence.end());
    for (const auto& [sequence, offset] : by_sequence) {
      offsets_.push_back(offset);
    }
  }
  if (offsets_.size() > most_blocks_) {
    const auto half = static_cast<std::ptrdiff_t>(most_blocks_ / 2);
    offsets_.erase(offsets_.begin() + half, offsets_.end() - half);
  }
}

/// Moves to the next block that a writer has claimed. Unclaimed blocks are zero and are skipped.
bool TraceReader::next_block() {
  while (next_ < offsets_.size()) {
    block_offset_ = offsets_[next_++];
    std::size_t got = read_at(descriptor_, file_, block_offset_, block_.get(), trace::record_bytes);
    if (got < trace::record_bytes) {
      return false;  // cut off; take_flaws() reports it
    }
    const auto kind = static_cast<trace::RecordKind>(block_[kind_offset_bytes]);
    if (kind == trace::RecordKind::none) {
      continue;
    }
    if (kind != trace::RecordKind::block) {
      flaws_.push_back({file_, block_offset_, "not the beginning of a block; the block was left out"});
      continue;
    }
    std::memcpy(&block_header_, block_.get(), sizeof block_header_);
    got += read_at(descriptor_, file_, block_offset_ + got, block_.get() + got, trace::block_bytes - got);
    if (block_header_.coding > trace::BlockCoding::delta) {
      flaws_.push_back({file_, block_offset_, "coded in an unknown way; the block was left out"});
      continue;
    }
    block_end_ = got;
    next_offset_ = trace::record_bytes;
    deltas_.begin();
    if (keeps_newest() && !is_still_there()) {
      continue;
    }
    return true;
  }
  return false;
}

/// Returns false if the block that was read has been given to another writer meanwhile.
bool TraceReader::is_still_there() const {
  trace::BlockHeader now{};
  return read_at(descriptor_, file_, block_offset_, &now, sizeof now) == sizeof now &&
         std::memcmp(&now, &block_header_, sizeof now) == 0;
}

void TraceReader::skip(const char* what) {
  if (skipped_records_++ == 0) {
    first_skipped_ = {file_, block_offset_ + record_offset_, what, true};
  }
}

/// Checks the end of a block, which a zero kind marks. If a record follows, beyond where one that was never
/// committed may have left some bytes, the block is damaged there.
void TraceReader::note_end_of_block(std::size_t behind_bytes) {
  const std::size_t from = record_offset_ + behind_bytes;
  if (from + trace::record_bytes <= block_end_ &&
      std::any_of(block_.get() + from, block_.get() + from + trace::record_bytes,
                  [](std::byte each) { return each != std::byte{0}; })) {
    skip("record wiped out; the rest of its block was left out");
  }
}

bool TraceReader::is_cut_off() const noexcept {
  const std::uint64_t payload_bytes = size_bytes_ - trace::file_header_bytes;
  return payload_bytes % trace::block_bytes != 0 ||
         payload_bytes / trace::block_bytes < header_.claimed_blocks;
}

std::vector<Flaw> TraceReader::take_flaws() {
  if (skipped_records_ != 0) {
    if (skipped_records_ > 1) {
      first_skipped_.what += fmt::format(" ({} records were left out)", skipped_records_);
    }
    flaws_.push_back(first_skipped_);
  }
  if (header_.end_ns != 0 && header_.end_ns < header_.begin_ns) {
    flaws_.push_back({file_, offsetof(trace::FileHeader, end_ns), "the end lies before the beginning"});
  }
  if (is_cut_off()) {
    flaws_.push_back({file_, size_bytes_, "cut off; what stands before it was used", true});
  }
  skipped_records_ = 0;
  return std::exchange(flaws_, {});
}

}  // namespace penstock::analysis
