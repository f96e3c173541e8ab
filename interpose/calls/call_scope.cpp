#include "interpose/calls/call_scope.hpp"

#include <array>
#include <atomic>

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/progress_lock.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/calls/unseen_mpi.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

/// Calls of one function from one site within this interval form one storm.
constexpr std::uint64_t storm_gap_ns = 1'000;
/// A storm is written at least this often, so that a killed job loses no more of it.
constexpr std::uint64_t storm_length_ns = 1'000'000;

/// Depth of a thread of Penstock's own, in which the program makes no calls.
constexpr std::uint32_t own_thread_depth = 1u << 31;

constexpr std::int32_t no_peer = -1;
constexpr std::int32_t any_peer = -2;
constexpr std::int32_t no_tag = -1;

/// The function set by finish_at_end_of_calls(); ordered by detail::is_awake.
void (*finish_pieces_of_calls)() noexcept = nullptr;

/// Per thread, and plain data: an access costs one instruction. `storm` counts the calls after the last
/// written one; if its repeats are zero, nothing is pending.
struct ThreadState {
  bool flushes_at_exit = false;
  trace::MpiCall last{};  ///< the call that the next one must equal to join the storm
  trace::MpiCall storm{};
};
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState thread_state;

void flush_storm(ThreadState& state) noexcept {
  if (state.storm.repeats == 0) return;
  if (record::is_on()) record::write(state.storm);
  state.storm.repeats = 0;
}

/// Writes the pending storm of a thread that ends.
struct FlushAtExit {
  ~FlushAtExit() { flush_storm(thread_state); }
};

void flush_at_thread_exit(ThreadState& state) noexcept {
  if (state.flushes_at_exit) return;
  static thread_local const FlushAtExit flusher;
  static_cast<void>(flusher);
  state.flushes_at_exit = true;
}

/// Ids of the functions' names in the recording; 0 until first used.
std::array<std::atomic<std::uint32_t>, function_count> name_ids;

std::uint32_t name_id(Function function) noexcept {
  std::atomic<std::uint32_t>& id = name_ids[static_cast<std::size_t>(function)];
  std::uint32_t known = id.load(std::memory_order_relaxed);
  if (known == trace::no_string) [[unlikely]] {
    known = record::intern(name_of(function));
    id.store(known, std::memory_order_relaxed);
  }
  return known;
}

bool same_call(const trace::MpiCall& one, const trace::MpiCall& other) noexcept {
  return one.function == other.function && one.call_site == other.call_site &&
         one.communicator == other.communicator && one.peer == other.peer && one.tag == other.tag;
}

/// Returns true for local calls that moved nothing: MPI_Test, MPI_Iprobe, MPI_Wtime … in a loop.
bool may_join_storm(const trace::MpiCall& call) noexcept {
  return call.waits == 0 && call.bytes == 0 && call.collective_ordinal == 0;
}

void write_call(const trace::MpiCall& call) noexcept {
  ThreadState& state = thread_state;
  if (may_join_storm(call) && same_call(call, state.last) &&
      call.begin_ns - state.last.end_ns < storm_gap_ns) {
    if (state.storm.repeats == 0) {
      state.storm = call;
      flush_at_thread_exit(state);
    } else {
      state.storm.end_ns = call.end_ns;
      ++state.storm.repeats;
    }
    state.last.end_ns = call.end_ns;
    if (state.storm.end_ns - state.storm.begin_ns > storm_length_ns) flush_storm(state);
    return;
  }
  flush_storm(state);
  record::write(call);
  state.last = call;
}

/// Sets or clears what says that the call is in progress. Its other fields are in place before the one, and
/// stay until after the other.
void mark_open_call(trace::MpiCall& call, trace::RecordKind kind) noexcept {
  std::atomic_ref<trace::RecordKind>(call.kind).store(kind, std::memory_order_release);
}

bool is_open(const trace::MpiCall& call) noexcept {
  return call.kind != trace::RecordKind::none;
}

void end_record_of(trace::MpiCall& call) noexcept {
  if (record::is_on()) {
    call.end_ns = record::now_ns();
    call.repeats = 1;
    write_call(call);
  }
  mark_open_call(call, trace::RecordKind::none);
}

/// Returns the peer as a record has it.
std::int32_t recorded_peer(MPI_Comm communicator, int peer) noexcept {
  if (peer == MPI_ANY_SOURCE) return any_peer;
  return peer == MPI_PROC_NULL ? no_peer : world_rank_of(communicator, peer);
}

}  // namespace

void CallScope::stand_aside_asleep() noexcept {
  bind_mpi();
  note_call_while_asleep(function_);
  stands_aside_ = true;
}

void CallScope::begin_inside(const void* return_address) noexcept {
  const bool is_penstocks = return_address == nullptr || detail::call_depth > own_thread_depth;
  stands_aside_ = is_penstocks || is_inside_mpi(return_address);
  if (stands_aside_) return;
  at_end_ = AtEnd::end_inside;
  suspended_quiet_ = QuietErrors::suspend();
  transports::begin_next_call();
  // a function of the program's that reduces asks about datatypes, and the outer call goes on
  recording_ = record::is_on() && !is_only_passed_on(function_);
  if (!recording_) return;
  trace::OpenCall& outer = record::open_call();
  if (is_open(outer.call)) end_record_of(outer.call);
  begin_record(return_address);
}

void CallScope::end_inside_or_give_lock() noexcept {
  if (at_end_ == AtEnd::give_lock) {
    progress_lock.give();
  } else {
    QuietErrors::restore(suspended_quiet_);
    transports::begin_next_call();
  }
}

void CallScope::finish_pieces() noexcept {
  finish_pieces_of_calls();
}

void CallScope::begin_record(const void* return_address) noexcept {
  call_site_ = record::call_site_of(return_address);
  open_ = &record::open_call();
  open_->operations = 0;
  open_->receives = 0;
  trace::MpiCall& call = open_->call;
  call = {};
  call.call_site = call_site_;
  call.function = name_id(function_);
  call.peer = no_peer;
  call.tag = no_tag;
  call.waits = waits(function_) ? 1 : 0;
  call.begin_ns = begin_ns_ = record::now_ns();
  mark_open_call(call, trace::RecordKind::mpi_call);
}

void CallScope::end_record() noexcept {
  // it is not open any more if the program made calls inside of this one
  if (is_open(open_->call)) [[likely]]
    end_record_of(open_->call);
}

void CallScope::message(MPI_Comm communicator, int peer, int tag, std::uint64_t bytes) noexcept {
  if (!recording_) return;
  const CommunicatorInfo* const info = peek_info(communicator);
  open_->call.communicator = info != nullptr ? info->local_id : 0;
  open_->call.peer = recorded_peer(communicator, peer);
  open_->call.tag = tag == MPI_ANY_TAG ? no_tag : tag;
  open_->call.bytes = bytes;
}

void CallScope::receives_from(MPI_Comm communicator, int source, int tag) noexcept {
  if (!recording_) return;
  open_->source = recorded_peer(communicator, source);
  open_->source_tag = tag == MPI_ANY_TAG ? no_tag : tag;
  open_->receives = 1;
}

void CallScope::completes(std::uint32_t operations, std::uint64_t first_post_ns,
                          std::uint64_t last_post_ns) noexcept {
  if (!recording_) return;
  open_->first_post_ns = first_post_ns;
  open_->last_post_ns = last_post_ns;
  std::atomic_ref<std::uint32_t>(open_->operations).store(operations, std::memory_order_release);
}

void CallScope::collective(MPI_Comm communicator, int root_or_minus_one, std::uint64_t bytes) noexcept {
  if (!recording_) return;
  open_->call.bytes = bytes;
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return;
  open_->call.communicator = info->local_id;
  open_->call.collective_ordinal = info->collectives.fetch_add(1, std::memory_order_relaxed) + 1;
  // MPI_ROOT and MPI_PROC_NULL, in an intercommunicator, are negative too
  if (root_or_minus_one >= 0) open_->call.peer = world_rank_of(communicator, root_or_minus_one);
}

void CallScope::meeting(std::uint32_t window, std::uint32_t ordinal) noexcept {
  if (!recording_) return;
  open_->call.communicator = window;
  open_->call.collective_ordinal = ordinal;
}

void CallScope::access(std::uint32_t window, int world_rank, std::uint64_t bytes) noexcept {
  if (!recording_) return;
  open_->call.communicator = window;
  open_->call.peer = world_rank;
  open_->call.bytes = bytes;
}

trace::CollectiveOperation CallScope::collective_operation() const noexcept {
  trace::CollectiveOperation operation{};
  operation.post_ns = begin_ns_;
  operation.bytes = open_->call.bytes;
  operation.call_site = call_site_;
  operation.function = name_id(function_);
  operation.communicator = open_->call.communicator;
  operation.collective_ordinal = open_->call.collective_ordinal;
  operation.root = open_->call.peer;
  operation.kind = trace::RecordKind::collective_operation;
  return operation;
}

trace::CollectiveOperation CallScope::collective_start(const trace::CollectiveOperation& initialised,
                                                       std::uint32_t start) const noexcept {
  trace::CollectiveOperation operation = initialised;
  operation.post_ns = begin_ns_;
  operation.call_site = call_site_;
  operation.start = start;
  return operation;
}

void CallScope::buffer(trace::BufferKind kind) noexcept {
  if (!recording_) return;
  open_->call.buffer = kind;
}

void CallScope::add_bytes(std::uint64_t bytes) noexcept {
  if (!recording_) return;
  open_->call.bytes += bytes;
}

void finish_at_end_of_calls(const std::atomic<unsigned>* pieces, void (*finish_them)() noexcept) noexcept {
  detail::unfinished_pieces = pieces;
  finish_pieces_of_calls = finish_them;
}

void stand_aside_on_this_thread() noexcept {
  detail::call_depth += own_thread_depth;
}

void wake_up() noexcept {
  detail::is_awake.store(true, std::memory_order_release);
}

void fall_asleep() noexcept {
  flush_storm(thread_state);
  detail::is_awake.store(false, std::memory_order_release);
}

}  // namespace penstock::interpose
