#include "interpose/binding/mpi_level.hpp"

#if PENSTOCK_HAS_MPI_4
#include "interpose/partitioned/partitioned_message.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/ready_flags.hpp"

namespace penstock::interpose {
namespace {

/// Only these transports reach into another rank's memory, as the receiver of partitions does.
bool transport_allows_direct() noexcept {
  using transports::TransportKind;
  const TransportKind forced = settings().transport;
  return settings().move && (forced == TransportKind::none || forced == TransportKind::peer);
}

/// Returns the row of a peer on this node; null if there is none, or if the ranks cannot name the message
/// alike.
DirectoryRow* row_of_peer(const CommunicatorInfo* info, int peer) noexcept {
  if (info == nullptr || !info->id_is_agreed || info->is_inter || !node_directory().is_open()) return nullptr;
  return node_directory().row_of(world_rank_of(*info, peer));
}

}  // namespace

PartitionedMessage::PartitionedMessage(const PartitionedArgument& argument, const PartitionedPeer& peer)
    : argument_(argument),
      peer_(peer),
      info_(info_of(peer.communicator)),
      errors_(ErrorTarget::of(peer.communicator).kept()),
      bytes_(payload_bytes(argument.count, argument.datatype) *
             static_cast<std::uint64_t>(std::max(argument.partitions, 0))) {}

const char* PartitionedMessage::name() const noexcept {
  return sends() ? "MPI_Psend_init" : "MPI_Precv_init";
}

void PartitionedMessage::meet(std::uint64_t ordinal, MPI_Request request) {
  request_ = request;
  DirectoryRow* const row = row_of_peer(info_.get(), peer_.rank);
  if (row == nullptr) return;
  const int own = world_rank_of(*info_, info_->rank);
  const int other = world_rank_of(*info_, peer_.rank);
  const MessageName name{.communicator = info_->global_id,
                         .ordinal = ordinal,
                         .tag = peer_.tag,
                         .sender = sends() ? own : other,
                         .receiver = sends() ? other : own};
  const auto view = buffer_.is_staged() ? buffer_.in_one_piece() : std::nullopt;
  if (view && sends()) words_ = ReadyWords::take(static_cast<std::size_t>(argument_.partitions));
  why_library_ = why_not_direct(view);
  if (*why_library_ != '\0') return show_that_library_moves(name);
  why_library_ = "the buffer of the other side cannot be reached, or has gaps";
  mover_ = Mover::undecided;
  if (sends()) {
    direct_send_ = std::make_unique<DirectSend>(name, *row, *view, words_);
    if (*direct_send_->why_not() != '\0') why_library_ = direct_send_->why_not();
  } else {
    direct_receive_ = std::make_unique<DirectReceive>(name, *row, *view);
  }
}

/// Returns why this side leaves the message to the MPI library, or nothing.
const char* PartitionedMessage::why_not_direct(
    const std::optional<transports::BufferView>& view) const noexcept {
  if (!buffer_.is_staged()) return "host memory";
  if (!view) return "its partitions do not lie in one piece of memory";
  if (!transports::belongs_to_context(view->buffer.kind)) return "managed memory";
  if (!transport_allows_direct()) return "PENSTOCK_TRANSPORT names another way";
  if (sends() && words_.words().empty()) return "it has too many partitions";
  return "";
}

Mover PartitionedMessage::find_mover() {
  if (mover_ == Mover::undecided) mover_ = sends() ? direct_send_->mover() : direct_receive_->mover();
  return mover_;
}

void PartitionedMessage::begin() {
  is_librarys_ = find_mover() == Mover::library && !kernels_mark_;
  since_ns_ = transports::time_of_call_ns();
  in_library_ = InLibrary::not_started;
  if (sends()) {
    if (is_librarys_) return;
    not_passed_on_.resize(static_cast<std::size_t>(argument_.partitions));
    std::iota(not_passed_on_.begin(), not_passed_on_.end(), 0);
    for (std::atomic<std::uint32_t>& word : words_.words()) word.store(0, std::memory_order_relaxed);
    key_ = node_directory().next_key();
    if (direct_send_ != nullptr) direct_send_->begin(key_);
    return;
  }
  if (mover_ != Mover::library) direct_receive_->begin(since_ns_);
  if (!buffer_.is_staged() || mover_ == Mover::receiver) return;
  stream_order_wait_ = {};
  not_delivered_.resize(static_cast<std::size_t>(argument_.partitions));
  std::iota(not_delivered_.begin(), not_delivered_.end(), 0);
  // copies need not wait for what is queued later
  static_cast<void>(
      stream_order_wait_.is_over([&] { return buffer_.is_idle(buffer_.bytes_of(not_delivered_)); }));
}

void PartitionedMessage::signal(std::span<const int> partitions) noexcept {
  signal_partitions(buffer_.user(), partitions, words_.words());
}

PartitionedMessage::Step PartitionedMessage::step(Status& status) try {
  switch (find_mover()) {
    case Mover::undecided:
      return {};
    case Mover::receiver:
      return step_direct(status);
    case Mover::library:
      break;
  }
  return step_library(status);
} catch (const std::bad_alloc&) {
  status = {Code::out_of_memory, "a partitioned message"};
  return {.is_over = true};
}

PartitionedMessage::Step PartitionedMessage::step_direct(Status& status) {
  Step step{.is_direct = true, .arrival = empty_status(peer_.rank, peer_.tag)};
  if (sends()) {
    step.is_over = direct_send_->is_over(status);
    return step;
  }
  step.is_over = direct_receive_->advance(status);
  key_ = direct_receive_->key();
  set_bytes(step.arrival, bytes_);
  return step;
}

PartitionedMessage::Step PartitionedMessage::step_library(Status& status) {
  Step step;
  const QuietErrors quiet;
  if (in_library_ == InLibrary::not_started) {
    step.code = PMPI_Start(&request_);
    if (step.code == MPI_SUCCESS) in_library_ = InLibrary::active;
  }
  if (in_library_ == InLibrary::active && sends()) step.code = pass_on_ready_ones(status);
  const bool is_all_passed_on = !sends() || not_passed_on_.empty();
  if (in_library_ == InLibrary::active && is_all_passed_on && step.code == MPI_SUCCESS) {
    int flag = 0;
    step.code = PMPI_Test(&request_, &flag, &arrival_);
    if (flag != 0) in_library_ = InLibrary::complete;
  }
  step.arrival = arrival_;
  step.is_over = step.code != MPI_SUCCESS || !status.ok() ||
                 (in_library_ == InLibrary::complete && deliver_rest(status));
  return step;
}

bool PartitionedMessage::has_arrived(int partition, Status& status) {
  switch (find_mover()) {
    case Mover::undecided:
      return false;
    case Mover::receiver: {
      const std::size_t each = bytes_ / static_cast<std::size_t>(argument_.partitions);
      const std::size_t begin = static_cast<std::size_t>(partition) * each;
      return direct_receive_->has_arrived(begin, begin + each);
    }
    case Mover::library:
      break;
  }
  if (in_library_ == InLibrary::not_started) return false;
  int flag = 1;
  if (in_library_ == InLibrary::active && PMPI_Parrived(request_, partition, &flag) != MPI_SUCCESS)
    return false;
  return flag != 0 && deliver(partition, status);
}

Status PartitionedMessage::fetch(std::span<const int> partitions) const {
  return buffer_.is_staged() ? buffer_.fetch(buffer_.bytes_of(partitions), why_library_) : Status();
}

/// Tells the MPI library of partitions whose words are set. Returns its code.
int PartitionedMessage::pass_on_ready_ones(Status& status) {
  std::vector<int> ready;
  std::ranges::copy_if(not_passed_on_, std::back_inserter(ready), [&](int partition) {
    return words_.words()[static_cast<std::size_t>(partition)].load(std::memory_order_acquire) != 0;
  });
  if (ready.empty()) return MPI_SUCCESS;
  // a word says that the work is done which the partition needs; what is queued later need not be waited for
  const transports::AsOfCall as_of_call(since_ns_);
  if (!stream_order_wait_.is_over([&] { return buffer_.is_idle(buffer_.bytes_of(ready)); }))
    return MPI_SUCCESS;
  stream_order_wait_ = {};
  status = fetch(ready);
  if (!status.ok()) return MPI_SUCCESS;
  for (const int partition : ready) {
    if (const int code = PMPI_Pready(partition, request_); code != MPI_SUCCESS) return code;
  }
  std::erase_if(not_passed_on_, [&](int partition) { return std::ranges::binary_search(ready, partition); });
  return MPI_SUCCESS;
}

bool PartitionedMessage::deliver(std::span<const int> partitions, Status& status) {
  try {
    const transports::AsOfCall as_of_call(since_ns_);
    const transports::Layout bytes = buffer_.bytes_of(partitions);
    if (!stream_order_wait_.is_over([&] { return buffer_.is_idle(bytes); })) return false;
    status = buffer_.write_back(bytes, why_library_);
  } catch (const std::bad_alloc&) {
    status = {Code::out_of_memory, "staging"};
  }
  return true;
}

bool PartitionedMessage::deliver(int partition, Status& status) {
  const auto found = std::ranges::lower_bound(not_delivered_, partition);
  if (found == not_delivered_.end() || *found != partition) return true;
  if (!deliver(std::array{partition}, status) || !status.ok()) return false;
  not_delivered_.erase(found);
  return true;
}

bool PartitionedMessage::deliver_rest(Status& status) {
  if (not_delivered_.empty()) return true;
  if (!deliver(std::span<const int>(not_delivered_), status)) return false;
  not_delivered_.clear();
  return true;
}

void* PartitionedMessage::words_for_kernels() {
  if (!sends() || !buffer_.is_staged() || !node_directory().is_open()) return nullptr;
  if (words_.words().empty()) words_ = ReadyWords::take(static_cast<std::size_t>(argument_.partitions));
  if (words_.words().empty()) return nullptr;
  void* const address = transports::address_for_kernels(buffer_.user(), words_.words().data());
  kernels_mark_ = address != nullptr;
  return address;
}

void PartitionedMessage::record_copies(const Status& status) const {
  if (!record::is_on() || !status.ok()) return;
  trace::Transfer transfer{};
  transfer.begin_ns = since_ns_;
  transfer.end_ns = record::now_ns();
  transfer.bytes = bytes_;
  transfer.key = key_;
  transfer.reason = record::intern("the receiver copies each partition once it is ready");
  // for the last partition: those before moved while others were not ready
  const std::uint64_t last_ns = direct_receive_->last_start_ns();
  const std::uint64_t wait_ns = last_ns > since_ns_ ? last_ns - since_ns_ : 0;
  transfer.wait_ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(wait_ns, UINT32_MAX));
  transfer.peer = world_rank_of(*info_, peer_.rank);
  transfer.source = static_cast<trace::BufferKind>(direct_receive_->source_kind());
  transfer.destination = static_cast<trace::BufferKind>(buffer_.kind());
  transfer.transport = direct_receive_->is_own() ? trace::TransportKind::local : trace::TransportKind::peer;
  transfer.kind = trace::RecordKind::transfer;
  record::write(transfer);
}

}  // namespace penstock::interpose
#endif
