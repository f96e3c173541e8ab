#include "interpose/network/chunk_channel.hpp"

#include <algorithm>
#include <numeric>

#include "interpose/node/envelope.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

constexpr int clearance_tag = ChunkChannel::tags;
constexpr std::uint32_t bitmap_is_welcome = 1u << 31;  // beside a tag
static_assert(ChunkChannel::tags < bitmap_is_welcome);
constexpr std::uint64_t version = 0x50454e53544e0003ull;  // of the protocol between nodes

/// A rank's statement about itself.
struct Statement {
  std::uint64_t version = 0;  ///< 0: takes no part
  std::uint64_t is_forced = 0;
  std::uint64_t sees_all = 0;  ///< all ranks are on this node
  std::int64_t node = 0;       ///< the lowest rank on this node
  JobNonce nonce;
};

Statement own_statement(int world_size) {
  Statement own;
  if (!settings().move || !node_directory().is_open()) return own;
  own.version = version;
  own.is_forced = settings().transport == transports::TransportKind::network ? 1 : 0;
  own.nonce = node_directory().nonce();
  own.sees_all = 1;
  for (int rank = world_size - 1; rank >= 0; --rank) {
    if (node_directory().row_of(rank) == nullptr) {
      own.sees_all = 0;
    } else {
      own.node = rank;
    }
  }
  return own;
}

/// Waits for all ranks, and prints a line if the wait takes long. Returns a PMPI code.
int await(MPI_Request& request) {
  const std::uint64_t begin_ns = record::now_ns();
  bool is_said = false;
  Backoff backoff;
  for (int done = 0; done == 0; backoff.pause()) {
    if (const int code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) return code;
    if (is_said || record::now_ns() - begin_ns < policy::say_who_is_missing_ns) continue;
    is_said = true;
    record::notice(
        "MPI_Init waits for all ranks: PENSTOCK_EVERYWHERE=1 and PENSTOCK_TRANSPORT=network need every rank "
        "to run Penstock with that setting");
  }
  return MPI_SUCCESS;
}

}  // namespace

void ChunkChannel::open(int world_rank, int world_size) {
  if (!settings().everywhere && settings().transport != transports::TransportKind::network) return;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request making = MPI_REQUEST_NULL;
  int code = PMPI_Comm_idup(MPI_COMM_WORLD, &made, &making);
  if (code == MPI_SUCCESS) code = await(making);
  if (code != MPI_SUCCESS) {
    record::notice(
        "MPI_Comm_idup failed in MPI_Init: between nodes, device messages are staged whole in host memory");
    return;
  }
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  const Statement own = own_statement(world_size);
  std::vector<Statement> all(static_cast<std::size_t>(world_size));
  constexpr int bytes = sizeof(Statement);
  // a statement that did not arrive counts as a rank that takes no part
  PMPI_Allgather(&own, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, made);

  const bool all_take_part =
      std::ranges::all_of(all, [](const Statement& each) { return each.version == version; });
  is_forced_ = std::ranges::any_of(all, [](const Statement& each) { return each.is_forced != 0; });
  const bool is_needed =
      is_forced_ || std::ranges::any_of(all, [](const Statement& each) { return each.sees_all == 0; });
  if (!all_take_part || !is_needed) {
    PMPI_Comm_free(&made);
    if (!all_take_part && world_rank == 0)
      record::notice(
          "not all ranks take part in transfers between nodes: device messages between nodes are staged "
          "whole in host memory");
    return;
  }
  node_directory().adopt(all.front().nonce);
  // senders on other nodes need this rank's calls, whether or not this node uses a GPU
  node_directory().note_gpu();
  free_tags_.resize(tags);
  std::iota(free_tags_.begin(), free_tags_.end(), 0u);
  cleared_ = std::make_unique<std::atomic<Clearance>[]>(tags);
  last_taken_ns_ = std::make_unique<std::atomic<std::uint64_t>[]>(all.size());
  nodes_.reserve(all.size());
  for (const Statement& each : all) {
    const std::size_t rank = nodes_.size();
    nodes_.push_back(static_cast<int>(is_forced_ ? static_cast<std::int64_t>(rank) : each.node));
  }
  communicator_ = made;
  request_table().poll_other_nodes([]() noexcept { channel().poll(); });
  listen();
}

void ChunkChannel::listen() noexcept {
  const int code =
      PMPI_Irecv(&heard_, 1, MPI_UINT32_T, MPI_ANY_SOURCE, clearance_tag, communicator_, &listening_);
  if (code != MPI_SUCCESS) fail();
}

void ChunkChannel::fail() noexcept {
  listening_ = MPI_REQUEST_NULL;
  has_failed_.store(true, std::memory_order_release);
  record::notice(
      "replies of receivers on other nodes can no longer be received, as MPI_Irecv failed: sends that wait "
      "for one fail, and later ones are staged whole in host memory");
}

void ChunkChannel::poll() noexcept {
  while (listening_ != MPI_REQUEST_NULL) {
    int has_come = 0;
    MPI_Status status;
    // on an error, the payload that the message was about is unknown
    if (PMPI_Test(&listening_, &has_come, &status) != MPI_SUCCESS) return fail();
    if (has_come == 0) return;
    const std::uint32_t tag = heard_ & ~bitmap_is_welcome;
    if (tag < tags) {
      note_taken(status.MPI_SOURCE);
      cleared_[tag].store(tag == heard_ ? Clearance::payload : Clearance::bitmap, std::memory_order_release);
    }
    listen();
  }
}

bool ChunkChannel::all_have_parted() noexcept {
  if (!is_open() || has_parted_) return true;
  if (parting_ == MPI_REQUEST_NULL && PMPI_Ibarrier(communicator_, &parting_) != MPI_SUCCESS) return true;
  int done = 0;
  const int code = PMPI_Test(&parting_, &done, MPI_STATUS_IGNORE);
  has_parted_ = done != 0 || code != MPI_SUCCESS;
  return has_parted_;
}

void ChunkChannel::close() noexcept {
  if (!is_open()) return;
  if (listening_ != MPI_REQUEST_NULL) {
    PMPI_Cancel(&listening_);
    PMPI_Wait(&listening_, MPI_STATUS_IGNORE);
  }
  request_table().poll_other_nodes(nullptr);
  PMPI_Comm_free(&communicator_);
}

bool ChunkChannel::spans(std::span<const int> world_ranks) const noexcept {
  if (!is_open() || std::ranges::any_of(world_ranks, [](int rank) { return rank < 0; })) return false;
  return is_forced_ ||
         std::ranges::any_of(world_ranks, [](int rank) { return node_directory().row_of(rank) == nullptr; });
}

int ChunkChannel::node_of(int world_rank) const noexcept {
  return nodes_[static_cast<std::size_t>(world_rank)];
}

bool ChunkChannel::take_tag(std::uint32_t& tag) {
  const std::lock_guard lock(mutex_);
  if (free_tags_.empty()) return false;
  tag = free_tags_.back();
  free_tags_.pop_back();
  cleared_[tag].store(Clearance::none, std::memory_order_relaxed);
  return true;
}

void ChunkChannel::give_back(std::uint32_t tag) noexcept {
  const std::lock_guard lock(mutex_);
  free_tags_.push_back(tag);  // reserved for all tags
}

Clearance ChunkChannel::clearance(std::uint32_t tag) const noexcept {
  return cleared_[tag].load(std::memory_order_acquire);
}

std::uint32_t ChunkChannel::word_of(std::uint32_t tag, Clearance clearance) noexcept {
  return clearance == Clearance::bitmap ? tag | bitmap_is_welcome : tag;
}

void ChunkChannel::note_taken(int receiver) noexcept {
  last_taken_ns_[static_cast<std::size_t>(receiver)].store(record::now_ns(), std::memory_order_relaxed);
}

std::uint64_t ChunkChannel::last_taken_ns(int receiver) const noexcept {
  return last_taken_ns_[static_cast<std::size_t>(receiver)].load(std::memory_order_relaxed);
}

int ChunkChannel::clear(int sender, const std::uint32_t* word, MPI_Request* request) const noexcept {
  return PMPI_Isend(word, 1, MPI_UINT32_T, sender, clearance_tag, communicator_, request);
}

ChunkChannel& channel() noexcept {
  // never destroyed: messages may end while static destructors run
  static ChunkChannel& instance = *new ChunkChannel;
  return instance;
}

}  // namespace penstock::interpose
