#include "tests/analysis/recording_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>

#include "interpose/record/delta_coding.hpp"

namespace penstock::analysis::testing {
namespace {

template <std::size_t size>
void set(char (&field)[size], std::string_view text) {
  std::memset(field, 0, size);
  text.copy(field, size - 1);
}

}  // namespace

RecordingBuilder::RecordingBuilder(std::int32_t rank, std::int32_t size) {
  header_.magic = trace::file_magic;
  header_.version = trace::format_version;
  header_.header_bytes = trace::file_header_bytes;
  header_.record_bytes = trace::record_bytes;
  header_.block_bytes = trace::block_bytes;
  header_.world_rank = rank;
  header_.world_size = size;
  header_.process_id = 4000 + rank;
  header_.job_id_low = 11;
  header_.job_id_high = 12;
  header_.realtime_offset_ns = 1'700'000'000'000'000'000;
  header_.features = trace::feature::kernels | trace::feature::ranges | trace::feature::gpu_used;
  header_.mpi_family = 1;
  header_.clock_error_ns = 0;
  set(header_.host_name, "node01");
  set(header_.program, "./solver --steps 10");
  set(header_.mpi_version, "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7");
  set(header_.device_name, "Test GPU");
  runs(0, 1000);

  trace::Communicator world{};
  world.global_id = world_id;
  world.local_id = 1;
  world.name = text("MPI_COMM_WORLD");
  world.size = size;
  world.rank = rank;
  world.kind = trace::RecordKind::communicator;
  append(&world);
}

RecordingBuilder& RecordingBuilder::runs(std::uint64_t begin, std::uint64_t end) {
  header_.begin_ns = origin_ns + begin;
  header_.end_ns = origin_ns + end;
  return *this;
}

RecordingBuilder& RecordingBuilder::never_finishes() {
  header_.end_ns = 0;
  return *this;
}

RecordingBuilder& RecordingBuilder::on_lane(std::uint64_t lane) {
  lane_ = lane;
  return *this;
}

RecordingBuilder& RecordingBuilder::named(std::string_view name) {
  thread_names_[lane_] = name;
  return *this;
}

RecordingBuilder& RecordingBuilder::launches(std::uint64_t thread_id, std::uint8_t device) {
  launching_thread_ = thread_id;
  device_ = device;
  return *this;
}

RecordingBuilder& RecordingBuilder::call(const CallWords& words) {
  trace::MpiCall record{};
  record.begin_ns = origin_ns + words.begin;
  record.end_ns = origin_ns + words.end;
  record.bytes = words.bytes;
  record.call_site = words.call_site;
  record.function = text(words.function);
  record.communicator = words.communicator;
  record.peer = words.peer;
  record.tag = words.tag;
  record.collective_ordinal = words.collective_ordinal;
  record.repeats = 1;
  record.waits = words.waits;
  record.kind = trace::RecordKind::mpi_call;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::in_call(const OpenCallWords& words) {
  trace::OpenCall open{};
  open.call.begin_ns = origin_ns + words.begin;
  open.call.call_site = words.call_site;
  open.call.function = text(words.function);
  open.call.communicator = 1;
  open.call.peer = words.peer;
  open.call.tag = words.tag;
  open.call.collective_ordinal = words.collective_ordinal;
  open.call.waits = 1;
  open.call.kind = trace::RecordKind::mpi_call;
  open.first_post_ns = origin_ns + words.first_post;
  open.last_post_ns = origin_ns + words.last_post;
  open.operations = words.operations;
  open.source = words.source;
  open.source_tag = words.source_tag;
  open.receives = words.source != -1 ? 1 : 0;
  open.thread_id = thread_of_lane(lane_);
  open_calls_.push_back(open);
  return *this;
}

RecordingBuilder& RecordingBuilder::alive_until(std::uint64_t time, trace::Ending ending) {
  header_.alive_ns = origin_ns + time;
  header_.ended_by = ending;
  header_.open_call_slots = trace::most_open_calls;
  return *this;
}

RecordingBuilder& RecordingBuilder::window(std::uint32_t local_id) {
  trace::Communicator record{};
  record.global_id = world_id + local_id;
  record.local_id = local_id;
  record.name = text("window");
  record.size = header_.world_size;
  record.kind = trace::RecordKind::communicator;
  append(&record);
  return *this;
}

RecordingBuilder& RecordingBuilder::half(const HalfWords& words) {
  trace::MessageHalf record{};
  record.post_ns = origin_ns + words.post;
  record.complete_ns = origin_ns + words.complete;
  record.bytes = words.bytes;
  record.key = words.key;
  record.matched_ns = words.matched == 0 ? 0 : origin_ns + words.matched;
  record.peer = words.peer;
  record.tag = words.tag;
  record.communicator = 1;
  record.direction = words.direction;
  record.buffer = words.buffer;
  record.blocking = words.blocking ? 1 : 0;
  record.kind = trace::RecordKind::message_half;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::operation(const OperationWords& words) {
  trace::CollectiveOperation record{};
  record.post_ns = origin_ns + words.post;
  record.complete_ns = origin_ns + words.complete;
  record.bytes = words.bytes;
  record.call_site = words.call_site;
  record.function = text(words.function);
  record.communicator = 1;
  record.collective_ordinal = words.collective_ordinal;
  record.root = words.root;
  record.start = words.start;
  record.kind = trace::RecordKind::collective_operation;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::transfer(const TransferWords& words) {
  trace::Transfer record{};
  record.begin_ns = origin_ns + words.begin;
  record.end_ns = origin_ns + words.end;
  record.bytes = words.bytes;
  record.key = words.key;
  record.reason = text(words.reason);
  record.wait_ns = words.wait;
  record.pack_ns = words.pack;
  record.peer = -1;
  record.source = trace::BufferKind::device;
  record.destination = trace::BufferKind::device;
  record.transport = words.transport;
  record.packed_words = words.packed_words;
  record.kind = trace::RecordKind::transfer;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::kernel(std::uint64_t begin, std::uint64_t end, std::string_view name,
                                           bool own) {
  trace::DeviceActivity record{};
  record.begin_ns = origin_ns + begin;
  record.end_ns = origin_ns + end;
  record.name = text(name);
  record.own = own ? 1 : 0;
  record.device = device_;
  record.thread_id = static_cast<std::uint32_t>(launching_thread_);
  record.kind = trace::RecordKind::kernel;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::launched_kernel(std::uint64_t issued, std::uint64_t begin,
                                                    std::uint64_t end, std::string_view name) {
  trace::DeviceActivity record{};
  record.begin_ns = origin_ns + begin;
  record.end_ns = origin_ns + end;
  record.name = text(name);
  record.device = device_;
  record.thread_id = static_cast<std::uint32_t>(launching_thread_);
  record.issued_ns = origin_ns + issued;
  record.kind = trace::RecordKind::kernel;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::nccl_call(const NcclCallWords& words) {
  header_.features |= trace::feature::nccl;
  trace::NcclCall record{};
  record.begin_ns = origin_ns + words.begin;
  record.end_ns = origin_ns + words.end;
  record.communicator = words.communicator;
  record.bytes = words.bytes.value_or(0);
  record.knows_bytes = words.bytes ? 1 : 0;
  record.function = text(words.function);
  record.ordinal = words.ordinal;
  record.thread_id = static_cast<std::uint32_t>(launching_thread_);
  record.peer = words.peer;
  record.ranks = words.ranks;
  record.rank = words.rank;
  record.kind = trace::RecordKind::nccl_call;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::copy(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes,
                                         std::uint8_t kind) {
  trace::DeviceActivity record{};
  record.begin_ns = origin_ns + begin;
  record.end_ns = origin_ns + end;
  record.bytes = bytes;
  record.copy_kind = kind;
  record.kind = trace::RecordKind::device_copy;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::cuda_synchronisation(std::uint64_t begin, std::uint64_t end) {
  trace::CudaSynchronisation record{};
  record.begin_ns = origin_ns + begin;
  record.end_ns = origin_ns + end;
  record.what = text("stream");
  record.kind = trace::RecordKind::cuda_synchronisation;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::range(std::string_view name, std::uint64_t begin, std::uint64_t end,
                                          std::uint64_t thread) {
  return entered(name, 0, begin, end, thread);
}

RecordingBuilder& RecordingBuilder::entered(std::string_view name, std::uint32_t entry, std::uint64_t begin,
                                            std::uint64_t end, std::uint64_t thread) {
  trace::Range record{};
  record.thread_id = thread;
  record.begin_ns = origin_ns + begin;
  record.end_ns = origin_ns + end;
  record.name = text(name);
  record.entry = entry;
  record.kind = trace::RecordKind::range;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::lost_until(std::uint64_t time) {
  lost_until_ = origin_ns + time;
  header_.losses_generation = 3;
  header_.features |= trace::feature::keeps_last;
  return *this;
}

RecordingBuilder& RecordingBuilder::lost_halves(trace::Direction direction, std::int32_t peer,
                                                std::uint64_t halves, std::uint64_t last_post,
                                                std::int32_t tag) {
  trace::LostHalves lost{};
  lost.halves = halves;
  lost.last_post_ns = origin_ns + last_post;
  lost.communicator = 1;
  lost.peer = peer;
  lost.tag = tag;
  lost.direction = direction;
  lost_halves_.push_back(lost);
  return *this;
}

RecordingBuilder& RecordingBuilder::counts_no_more() {
  counts_no_more_ = true;
  return *this;
}

RecordingBuilder& RecordingBuilder::of_window(std::uint64_t begin, std::uint64_t end) {
  header_.features |= trace::feature::window;
  header_.window_begin_ns = begin == 0 ? 0 : origin_ns + begin;
  header_.window_end_ns = end == 0 ? 0 : origin_ns + end;
  header_.missing_from_ns = end == 0 ? trace::nothing_missing : origin_ns + end;
  return *this;
}

RecordingBuilder& RecordingBuilder::notice(std::string_view words) {
  trace::Notice record{};
  record.at_ns = header_.begin_ns;
  record.text = text(words);
  record.kind = trace::RecordKind::notice;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::gpu_sample(const GpuSampleWords& words) {
  trace::GpuSample record{};
  record.begin_ns = origin_ns + words.at;
  record.end_ns = record.begin_ns;
  record.energy_mj = words.energy_mj;
  record.throttle_reasons = words.throttle_reasons;
  record.gpu = text(words.gpu);
  record.power_mw = words.power_mw;
  record.sm_mhz = words.sm_mhz;
  record.most_sm_mhz = 1980;
  record.index = words.index;
  record.temperature_c = words.temperature_c;
  record.kind = trace::RecordKind::gpu_sample;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::fact(std::string_view name, std::string_view value) {
  trace::Fact record{};
  record.name = text(name);
  record.value = text(value);
  record.kind = trace::RecordKind::fact;
  return raw(record);
}

RecordingBuilder& RecordingBuilder::module(std::string_view path, std::uint64_t begin, std::uint64_t end,
                                           std::uint64_t file_offset, std::uint64_t load_bias,
                                           const trace::ModuleBuild& build) {
  trace::Module record{};
  record.begin = begin;
  record.end = end;
  record.file_offset = file_offset;
  record.load_bias = load_bias;
  record.path = text(path);
  record.build = build;
  record.kind = trace::RecordKind::module;
  return raw(record);
}

std::uint64_t RecordingBuilder::path(const std::vector<std::uint64_t>& return_addresses) {
  trace::CallPath part{};
  part.id = ++paths_;
  part.kind = trace::RecordKind::call_path;
  for (std::size_t i = 0; i < return_addresses.size(); i += part.frames) {
    part.first = static_cast<std::uint8_t>(i);
    part.frames =
        static_cast<std::uint8_t>(std::min(std::size(part.return_addresses), return_addresses.size() - i));
    std::copy_n(return_addresses.data() + i, part.frames, part.return_addresses);
    raw(part);
  }
  return trace::call_path_bit | part.id;
}

std::uint32_t RecordingBuilder::text(std::string_view words) {
  if (const auto known = texts_.find(words); known != texts_.end()) {
    return known->second;
  }
  const auto id = static_cast<std::uint32_t>(texts_.size() + 1);
  texts_.emplace(words, id);
  do {
    trace::Text piece{};
    piece.id = id;
    piece.bytes = static_cast<std::uint8_t>(words.copy(piece.characters, sizeof piece.characters));
    words.remove_prefix(piece.bytes);
    piece.more = words.empty() ? 0 : 1;
    piece.kind = trace::RecordKind::text;
    append(&piece);
  } while (!words.empty());
  return id;
}

void RecordingBuilder::append(const void* record) {
  std::vector<std::byte>& records = records_by_lane_[lane_];
  const auto* const first = static_cast<const std::byte*>(record);
  records.insert(records.end(), first, first + trace::record_bytes);
}

RecordingBuilder& RecordingBuilder::shuffle(std::uint32_t seed) {
  std::mt19937 random(seed);
  using Record = std::array<std::byte, trace::record_bytes>;
  for (auto& [lane, bytes] : records_by_lane_) {
    std::vector<Record> records(bytes.size() / trace::record_bytes);
    std::memcpy(records.data(), bytes.data(), bytes.size());
    const auto texts = std::stable_partition(records.begin(), records.end(), [](const Record& each) {
      return each.back() == static_cast<std::byte>(trace::RecordKind::text);
    });
    std::shuffle(texts, records.end(), random);
    std::memcpy(bytes.data(), records.data(), bytes.size());
  }
  return *this;
}

RecordingBuilder& RecordingBuilder::coded(trace::BlockCoding coding) {
  coding_ = coding;
  return *this;
}

/// Fills a block with the records from `done` on, and moves that on.
std::vector<std::byte> RecordingBuilder::block_of(const trace::BlockHeader& header,
                                                  const std::vector<std::byte>& records,
                                                  std::size_t& done) const {
  std::vector<std::byte> block(trace::block_bytes);
  std::memcpy(block.data(), &header, sizeof header);
  if (coding_ == trace::BlockCoding::plain) {
    const std::size_t bytes = std::min(block.size() - sizeof header, records.size() - done);
    std::memcpy(block.data() + sizeof header, records.data() + done, bytes);
    done += bytes;
    return block;
  }
  trace::DeltaWriter deltas;
  std::byte* next = block.data() + sizeof header;
  const std::byte* const last = block.data() + block.size() - trace::most_delta_bytes - sizeof(std::uint32_t);
  for (; done < records.size() && next <= last; done += trace::record_bytes) {
    next = deltas.write(records.data() + done, next);
  }
  return block;
}

std::vector<std::byte> RecordingBuilder::bytes() const {
  std::vector<std::byte> file(trace::file_header_bytes);
  trace::FileHeader header = header_;
  header.claimed_blocks = 0;
  std::uint64_t sequence = 0;
  if (lost_until_) {
    const auto losses = std::make_unique<trace::Losses>();
    losses->known_from_ns = *lost_until_;
    losses->lost_records = 1 + lost_halves_.size();
    losses->is_full = counts_no_more_ ? 1 : 0;
    losses->groups = static_cast<std::uint32_t>(lost_halves_.size());
    std::copy(lost_halves_.begin(), lost_halves_.end(), losses->lost_halves);
    file.resize(file.size() + trace::block_bytes);
    std::memcpy(
        file.data() + trace::file_header_bytes + header.losses_generation % 2 * (trace::block_bytes / 2),
        losses.get(), sizeof *losses);
    ++header.claimed_blocks;
  }
  for (const auto& [lane, records] : records_by_lane_) {
    std::uint64_t ordinal = 0;
    for (std::size_t done = 0; done < records.size();) {
      trace::BlockHeader block{};
      block.lane = lane;
      block.ordinal = ordinal++;
      block.sequence = lost_until_ ? ++sequence : 0;
      block.thread_id = thread_of_lane(lane);
      if (const auto name = thread_names_.find(lane); name != thread_names_.end()) {
        name->second.copy(block.thread_name, sizeof block.thread_name);
      }
      block.coding = coding_;
      block.kind = trace::RecordKind::block;
      const std::vector<std::byte> filled = block_of(block, records, done);
      file.insert(file.end(), filled.begin(), filled.end());
      ++header.claimed_blocks;
    }
  }
  std::memcpy(file.data(), &header, sizeof header);
  const std::size_t open_calls = std::min<std::size_t>(open_calls_.size(), trace::most_open_calls);
  if (open_calls != 0) {
    std::memcpy(file.data() + trace::open_calls_offset, open_calls_.data(),
                open_calls * sizeof(trace::OpenCall));
  }
  return file;
}

std::filesystem::path RecordingBuilder::write(const std::filesystem::path& directory) const {
  const std::filesystem::path file = directory / fmt::format("rank-{}.penstock", header_.world_rank);
  write_bytes(file, bytes());
  return file;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "penstock-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary directory");
  }
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_bytes(const std::filesystem::path& file, const std::vector<std::byte>& bytes) {
  std::filesystem::remove(file);  // some file systems flush a file that is written over
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

}  // namespace penstock::analysis::testing
