#include "interpose/protocol/receiving.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/calls/transfer_record.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/messages/staging_buffers.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/posted/shown_receive.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "interpose/protocol/destination_forecast.hpp"
#include "interpose/protocol/joint_uploads.hpp"
#include "interpose/protocol/matched_messages.hpp"
#include "interpose/protocol/open_delivery.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/host/in_call.hpp"
#include "transports/host/recycled.hpp"
#include "transports/machine.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

/// Returns the first byte of a buffer in one piece that begins `offset` bytes after the call's. Computed with
/// integers, as MPI_BOTTOM is null and the offset then an address.
std::byte* first_byte_of(const ReceiveCall& call, std::ptrdiff_t offset) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(call.buffer) +
                                      static_cast<std::uintptr_t>(offset));
}

constexpr const char* in_several_allocations = "the receive buffer's bytes lie in several allocations";

/// One receive into any kind of buffer: distinguishes envelopes from payloads and moves either to its
/// destination.
class Receive final : public Pending,
                      public HostReceive,
                      public JointUpload,
                      public transports::Recycled<Receive> {
 public:
  /// `communicator`: its record, as the user may free the handle while the receive is pending.
  Receive(const ReceiveCall& call, std::shared_ptr<CommunicatorInfo> communicator, bool on_device)
      : call_(call), communicator_(std::move(communicator)), on_device_(on_device) {}
  ~Receive() override {
    delivery_.reset();
    leave();
  }

  [[nodiscard]] CommunicatorInfo* communicator() const noexcept { return communicator_.get(); }

  /// Determines where the payload goes. Returns MPI_SUCCESS, or the code of the error that was raised.
  [[nodiscard]] int prepare(const CallScope& scope, bool blocking) {
    if (on_device_) {
      note_gpu_use();
      view_ = view_of(call_.buffer, call_.count, call_.datatype);
      view_.handed_over_ns = transports::time_of_call_ns();
      capacity_ = view_.layout.bytes();
      if (view_.buffer.kind == transports::BufferKind::unknown) return errors().raise_freed("MPI_Recv");
      transports::prepare_kernels(view_.buffer);
      // no transport delivers to several allocations at once
      if (view_.is_scattered()) {
        if (const int code = make_room(); code != MPI_SUCCESS) return code;
      }
    } else if (is_contiguous(call_.datatype, call_.count, &offset_, &capacity_)) {
      in_one_piece_ = true;
    } else {
      // computed now, since the user may free the datatype before the message arrives
      view_ = view_of(call_.buffer, call_.count, call_.datatype);
      capacity_ = view_.layout.bytes();
    }
    record_.begin(scope, trace::Direction::receive, communicator_, call_.source, call_.tag, capacity_,
                  on_device_ ? view_.buffer.kind : transports::BufferKind::pageable, blocking);
    return MPI_SUCCESS;
  }

  /// For a receive that is already complete: passes what was in the user's buffer before.
  void was_in_place(const std::array<std::byte, envelope_bytes>& first_bytes) noexcept {
    small_ = first_bytes;
  }

  int post(MPI_Request* request) {
    return post_by(request, [&](void* buffer, MPI_Count count, MPI_Datatype datatype) {
      return pmpi_irecv(buffer, count, datatype, call_.source, call_.tag, call_.communicator, request);
    });
  }

  /// Called when the receive is posted in the MPI library, which will match it with the message of that name.
  void note_name(const MessageName& name) noexcept {
    name_ = name;
    if (!on_device_) return;
    if (const DirectoryRow* const sender = node_directory().row_of(name.sender))
      shown_.show(name, view_, *sender);
  }

  int post_matched(MPI_Message* message, MPI_Request* request) {
    return post_by(request, [&](void* buffer, MPI_Count count, MPI_Datatype datatype) {
      return pmpi_imrecv(buffer, count, datatype, message, request);
    });
  }

  /// Adopts a message that a probe had received ahead. Returns MPI_SUCCESS, or the code of the error that was
  /// raised.
  [[nodiscard]] int adopt_stashed(const StashedMessage& message) {
    const int code = choose_target(Target::staging_buffer);
    if (code != MPI_SUCCESS) return code;
    stashed_status_ = message.status;
    from_stash_ = true;
    record_.matched();
    if (message.envelope) {
      if (Slot* slot = node_directory().find(*message.envelope))
        slot->stashed.store(0, std::memory_order_release);
      begin_delivery(*message.envelope, message.status);
    } else {
      copy_to_destination(message.bytes.data(), message.bytes.size(), message.status);
    }
    return MPI_SUCCESS;
  }

  bool advance(bool arrived, const MPI_Status& status) override {
    if (delivery_ != nullptr) return step_delivery();
    if (from_stash_) return true;
    if (is_uploaded_) {
      if (arrived) note_payload(arrived_bytes_, status);
      return arrived;
    }
    if (!arrived) {
      // query the driver now rather than when the payload is already waiting
      static_cast<void>(on_device_ && may_be_written_now());
      return false;
    }
    note_arrival(status);
    if (name_ && !is_cancelled_ && was_cancelled(status)) note_failure_of_library();
    if (!was_written() && !shown_.withdraw()) return false;
    if (envelope_) {
      record_.matched();
      begin_delivery(*envelope_, status);
      return step_delivery();
    }
    if (!is_staged() || was_cancelled(status)) return true;  // the MPI library did all, or it was cancelled
    if (on_device_ && !stream_order_wait_.is_over([this] { return may_be_written_now(); })) return false;
    copy_to_destination(staged_, arrived_bytes_, status);
    return true;
  }

  void fix_status(MPI_Status& status) const override {
    if (from_stash_) copy_without_error(stashed_status_, status);
    if (delivery_ != nullptr)
      set_bytes(status, std::min<std::uint64_t>(delivery_->envelope().payload_bytes, capacity_));
    if (truncated_) set_bytes(status, capacity_);
  }

  int complete(MPI_Status& status, int code) override {
    if (delivery_ != nullptr) {
      record_.set_key(delivery_->envelope().key);
      truncated_ = delivery_->truncated();
      if (status_.ok()) status_ = delivery_->status();
    }
    record_.complete(status);
    if (code != MPI_SUCCESS) return code;
    if (truncated_) return errors().raise(MPI_ERR_TRUNCATE);
    if (is_misplaced_) return errors().raise(MPI_ERR_OTHER);
    if (!status_.ok()) return errors().raise_status("MPI_Recv", status_);
    return code;
  }

  [[nodiscard]] Progress progress() const override {
    return delivery_ != nullptr ? Progress::always : Progress::receive;
  }

  void arrived(const MPI_Status& status) override {
    note_arrival(status);
    if (envelope_) node_directory().prefetch_slot(*envelope_);
  }
  void detached() override { request_ = MPI_REQUEST_NULL; }
  int cancel(MPI_Request& request) override {
    if (!name_) return PMPI_Cancel(&request);
    is_cancelled_ = true;
    return cancel_receive(*communicator_, *name_, request);
  }

  // The pull of a smaller payload would have to end within the call (RendezvousReceive::take_offer).
  [[nodiscard]] bool may_be_large() const override {
    return on_device_ && capacity_ > transports::tuning().buffered_to;
  }
  [[nodiscard]] bool should_begin(const MPI_Status& arrived) const override {
    const auto is_large = [](const Envelope& envelope) {
      return envelope.payload_bytes > transports::tuning().buffered_to;
    };
    if (delivery_ != nullptr) return is_large(delivery_->envelope()) && !delivery_->is_under_way();
    if (envelope_) return is_large(*envelope_);
    Envelope envelope;
    return bytes_of(arrived) == envelope_bytes &&
           read_envelope(staged_, node_directory().nonce(), &envelope) && is_large(envelope);
  }

 private:
  [[nodiscard]] ErrorTarget errors() const noexcept { return ErrorTarget::of(communicator_); }

  /// Returns true once the application's earlier work on the GPU is done. Cost: queries the driver until it
  /// was true once.
  [[nodiscard]] bool may_be_written_now() {
    if (!is_idle_) is_idle_ = transports::is_idle(view_);
    return is_idle_;
  }

  template <typename PostOne>
  int post_by(const MPI_Request* request, PostOne post_one) {
    const bool is_apart = is_from_oneself_in_pieces() || cannot_hold_envelope();
    const Target target = is_apart ? Target::staging_buffer : Target::user_buffer;
    int code = choose_target(target);
    if (code == MPI_SUCCESS && target == Target::staging_buffer && !is_staged()) code = make_room();
    if (code != MPI_SUCCESS) return code;
    const auto staging_bytes = static_cast<MPI_Count>(std::max(capacity_, envelope_bytes));
    if (!is_staged() && small_payloads_may_come()) keep_first_bytes();
    code = is_staged() ? post_one(staged_, staging_bytes, MPI_BYTE)
                       : post_one(call_.buffer, call_.count, call_.datatype);
    request_ = *request;
    if (code == MPI_SUCCESS && on_device_) enlist(view_);
    return code;
  }

  /// MPICH 4.0 reports an envelope in a message to oneself as truncated if its size is no multiple of the
  /// received elements and these have gaps between them. Returns true if that may happen.
  [[nodiscard]] bool is_from_oneself_in_pieces() const noexcept {
    if (on_device_ || in_one_piece_ || !NodeDirectory::gpu_seen()) return false;
    if (call_.source == MPI_ANY_SOURCE) return true;
    return communicator_ != nullptr && !communicator_->is_inter && call_.source == communicator_->rank;
  }

  /// Returns true if the MPI library writes to Penstock's memory: for a device buffer, if another receive is
  /// pending in the user's buffer, or if an envelope would not fit there.
  [[nodiscard]] bool is_staged() const noexcept { return staged_ != nullptr; }
  /// Returns true if an envelope would not fit. Empty receives count: if the MPI library truncated an
  /// envelope, its sender would wait for ever.
  [[nodiscard]] bool cannot_hold_envelope() const noexcept {
    return !on_device_ && capacity_ < envelope_bytes && envelopes_may_come();
  }
  /// Only for a buffer in one piece.
  [[nodiscard]] std::byte* first_byte() const noexcept { return first_byte_of(call_, offset_); }

  [[nodiscard]] int choose_target(Target wanted) {
    if (!on_device_) {
      const auto [begin, bytes] = host_range();
      if (enter(begin, bytes, capacity_, wanted) == wanted) return MPI_SUCCESS;
    } else if (wanted == Target::staging_buffer) {
      return MPI_SUCCESS;
    }
    return make_room();
  }

  [[nodiscard]] int make_room() {
    if (!is_staged()) take_staging_buffer();
    if (is_staged()) return MPI_SUCCESS;
    return errors().raise_status("MPI_Recv", {Code::out_of_memory, "staging memory"});
  }
  void take_staging_buffer() noexcept {
    if (capacity_ <= envelope_bytes) {
      staged_ = small_.data();
      return;
    }
    staging_ = StagingBuffer(capacity_);
    staged_ = static_cast<std::byte*>(staging_.data());
  }

  struct HostRange {
    const std::byte* begin;
    std::size_t bytes;
  };
  /// Returns the range from the first to the last byte that the payload may be written to.
  [[nodiscard]] HostRange host_range() const noexcept {
    if (in_one_piece_) return {first_byte(), capacity_};
    const auto* const base = static_cast<const std::byte*>(view_.buffer.pointer);
    std::ptrdiff_t begin = PTRDIFF_MAX;
    std::ptrdiff_t end = PTRDIFF_MIN;
    for (const transports::Block& block : view_.layout.blocks()) {
      const std::ptrdiff_t last = block.offset + static_cast<std::ptrdiff_t>(block.count - 1) * block.stride;
      begin = std::min({begin, block.offset, last});
      end = std::max({end, block.offset + static_cast<std::ptrdiff_t>(block.bytes),
                      last + static_cast<std::ptrdiff_t>(block.bytes)});
    }
    if (begin >= end) return {base, 0};
    return {base + begin, static_cast<std::size_t>(end - begin)};
  }

  bool read_message(const MPI_Status* arrived) noexcept override {
    if (is_read_) return true;
    MPI_Status status;
    int has_come = arrived != nullptr ? 1 : 0;
    const QuietErrors quiet;
    if (arrived != nullptr) {
      status = *arrived;
    } else if (request_ == MPI_REQUEST_NULL ||
               PMPI_Request_get_status(request_, &has_come, &status) != MPI_SUCCESS || has_come == 0) {
      return false;
    }
    is_read_ = true;
    arrival_ = status;
    arrived_bytes_ = bytes_of(status);
    staging_.was_written(arrived_bytes_);
    const bool may_be_envelope = arrived_bytes_ == envelope_bytes &&
                                 (is_staged() || capacity_ >= envelope_bytes) && !was_cancelled(status);
    Envelope envelope;
    std::byte bytes[envelope_bytes];
    if (may_be_envelope && take_envelope(first_bytes(bytes), &envelope)) {
      envelope_ = envelope;
      if (!is_staged() && envelope.payload_bytes < envelope_bytes) put_first_bytes_back();
    }
    return true;
  }

  /// Calls `function(a part of the user's buffer, its offset in an envelope, its bytes)` for each part of the
  /// first envelope_bytes.
  template <typename Function>
  void for_first_bytes(Function function) const {
    if (in_one_piece_) return function(first_byte(), 0, envelope_bytes);
    std::size_t used = 0;
    for (const transports::Block& block : view_.layout.blocks()) {
      for (std::size_t i = 0; i < block.count && used < envelope_bytes; ++i) {
        const std::size_t bytes = std::min(block.bytes, envelope_bytes - used);
        function(static_cast<std::byte*>(view_.buffer.pointer) + block.offset +
                     static_cast<std::ptrdiff_t>(i) * block.stride,
                 used, bytes);
        used += bytes;
      }
    }
  }
  /// Saves the first bytes, as the envelope of a shorter payload may overwrite them. The MPI library refuses
  /// a null buffer.
  void keep_first_bytes() noexcept override {
    if (capacity_ < envelope_bytes || (in_one_piece_ && first_byte() == nullptr)) return;
    for_first_bytes([&](const std::byte* from, std::size_t at, std::size_t bytes) {
      std::memcpy(small_.data() + at, from, bytes);
    });
  }
  void put_first_bytes_back() const noexcept {
    for_first_bytes([&](std::byte* to, std::size_t at, std::size_t bytes) {
      std::memcpy(to, small_.data() + at, bytes);
    });
  }

  /// Returns where the first envelope_bytes that arrived are. Gathers them into `scratch` if they lie in
  /// pieces.
  [[nodiscard]] const void* first_bytes(std::byte* scratch) const {
    if (is_staged()) return staged_;
    if (in_one_piece_) return first_byte();
    for_first_bytes([&](const std::byte* from, std::size_t at, std::size_t bytes) {
      std::memcpy(scratch + at, from, bytes);
    });
    return scratch;
  }

  /// Returns the buffer as the transports see it. Host buffers are inspected only when an envelope has
  /// arrived.
  [[nodiscard]] transports::BufferView view() const {
    if (!in_one_piece_) return view_;
    return {transports::inspect(first_byte()), transports::Layout::contiguous(capacity_)};
  }

  /// Returns true for a buffer that no transport fills in one piece: several allocations, or partly pinned
  /// host memory.
  [[nodiscard]] bool is_in_parts() const {
    if (on_device_) return view_.is_scattered();
    return call_.buffer == MPI_BOTTOM && !transports::is_of_one_host_kind(view());
  }

  /// Returns true if the payload that has arrived was written to this receive by its sender.
  [[nodiscard]] bool was_written() const noexcept { return envelope_ && shown_.is_named_by(*envelope_); }

  /// The MPI library has given up the receive by itself: what follows it meets other messages.
  void note_failure_of_library() const noexcept {
    stop_counting_messages();
    static_cast<void>(withdraw_receives_from(*name_));
  }

  /// Ends a delivery whose payload was written to another receive than MPI has matched the message with: the
  /// program has sent messages that Penstock did not see. The payload is where it should not be, so this is
  /// an error.
  void refuse_misplaced(const Envelope& envelope) {
    static_cast<void>(open_delivery(envelope, {}, envelope.payload_bytes));  // its sender waits for this
    is_misplaced_ = true;
    record::notice(
        "a message was written to another receive than the MPI library has matched it with, since the "
        "program "
        "communicates past Penstock: its own receive fails (PENSTOCK_POSTED_RECEIVES=0 prevents this)");
  }

  void begin_delivery(const Envelope& envelope, const MPI_Status& status) {
    if (envelope.advert != 0 && !was_written()) return refuse_misplaced(envelope);
    const bool is_whole = !is_in_parts();
    transports::BufferView destination;
    if (is_whole && (on_device_ || may_write())) {
      destination = in_one_piece_ ? view() : std::move(view_);
    } else {
      destination = staging_place();
    }
    delivery_ = open_delivery(envelope, std::move(destination), capacity_);
    if (!transports::lives_on_device(delivery_->source_kind())) {
      note_host_payload(envelope.payload_bytes, status);
    } else if (envelope.payload_bytes <= policy::most_downloaded_bytes) {
      note_copy(HostDeviceCopy::download, !on_device_ || !is_whole, status);
    }
  }

  /// Returns the staging buffer as the destination. It is used if the message of another receive may arrive
  /// in the user's buffer meanwhile, or if that buffer is in parts.
  [[nodiscard]] transports::BufferView staging_place() {
    if (!is_staged()) take_staging_buffer();
    if (!is_staged()) return view();  // out of memory
    staging_.was_written(SIZE_MAX);
    is_delivered_to_staging_ = true;
    return {transports::inspect(staged_), transports::Layout::contiguous(capacity_)};
  }

  bool step_delivery() {
    if (delivery_ == nullptr) return true;  // it was refused
    if (!delivery_->advance()) return false;
    shown_.end();
    const bool has_come = delivery_->status().ok() && !delivery_->truncated();
    if (!is_delivered_to_staging_ || !has_come) return true;
    if (on_device_ && !stream_order_wait_.is_over([this] { return may_be_written_now(); })) return false;
    is_delivered_to_staging_ = false;
    write(staged_, delivery_->envelope().payload_bytes,
          on_device_ ? in_several_allocations : "another receive was pending in the same buffer");
    return true;
  }

  void note_copy(HostDeviceCopy copy, bool crossed, const MPI_Status& status) const {
    if (communicator_ == nullptr || !NodeDirectory::gpu_seen()) return;
    note_destination(copy, crossed, world_rank_of(*communicator_, status.MPI_SOURCE), status.MPI_TAG);
  }
  void note_host_payload(std::uint64_t bytes, const MPI_Status& status) const {
    if (bytes >= transports::tuning().uploaded_from) note_copy(HostDeviceCopy::upload, on_device_, status);
  }

  /// Records where a payload went that arrived through the MPI library.
  void note_payload(std::uint64_t bytes, const MPI_Status& status) const {
    note_host_payload(bytes, status);
    // its sender may have expected it to end in host memory
    if (on_device_ && bytes <= policy::most_downloaded_bytes)
      note_copy(HostDeviceCopy::download, false, status);
  }

  bool has_come(bool may_ask) noexcept override { return is_read_ || (may_ask && read_message(nullptr)); }
  std::optional<transports::Upload> payload() override {
    const std::uint64_t bytes = arrived_bytes_;
    const bool is_payload = !envelope_ && !is_uploaded_ && !was_cancelled(arrival_);
    if (!is_payload || bytes == 0 || bytes > capacity_ || !may_be_written_now()) return std::nullopt;
    if (!shown_.withdraw()) return std::nullopt;
    view_.layout = view_.layout.prefix(bytes);
    return transports::Upload{&view_, reinterpret_cast<const char*>(staged_)};
  }
  void uploaded(const Status& status) noexcept override {
    status_ = status;
    is_uploaded_ = true;
  }

  /// Copies a payload that arrived through the MPI library to its destination.
  void copy_to_destination(const void* bytes, std::uint64_t count, const MPI_Status& status) {
    note_payload(count, status);
    truncated_ = count > capacity_;
    if (truncated_) return;
    if (is_enlisted()) upload_with_others();
    if (is_uploaded_) return;
    if (in_one_piece_ && count <= envelope_bytes) return write_small(bytes, count);
    const bool shares_the_buffer = !on_device_ && is_staged();
    write(bytes, count,
          shares_the_buffer ? "another receive was pending in the same buffer"
                            : "the payload came through the MPI library");
    is_uploaded_ = true;  // no other receive may upload it again
  }

  /// Copies to host memory; too small for a record of the copy.
  void write_small(const void* bytes, std::uint64_t count) noexcept {
    static_cast<void>(may_write());  // as in write()
    if (count != 0) std::memcpy(first_byte(), bytes, count);
  }

  /// Copies from host memory to the destination. `reason` is a literal.
  void write(const void* bytes, std::uint64_t count, const char* reason) {
    if (count == 0) return;
    static_cast<void>(may_write());  // either way: no other message is written before this returns
    transports::BufferView destination = view();
    destination.layout = destination.layout.prefix(count);
    status_ = staged_copy(count, transports::BufferKind::pageable, destination.buffer.kind, reason,
                          [&] { return transports::upload(destination, bytes); });
  }

  ReceiveCall call_;  ///< after the post, the user may free what its handles stand for
  std::shared_ptr<CommunicatorInfo> communicator_;
  transports::BufferView view_;  ///< unused for host memory in one piece
  std::byte* staged_ = nullptr;  ///< where the MPI library writes; null: the user's buffer
  StagingBuffer staging_;        ///< the memory behind `staged_`, if it is larger than an envelope
  /// The memory behind `staged_` otherwise. For a receive in the user's buffer: the previous content of its
  /// first bytes.
  alignas(16) std::array<std::byte, envelope_bytes> small_;
  MPI_Request request_ = MPI_REQUEST_NULL;  ///< the MPI library's, as long as others may query it
  std::optional<Envelope> envelope_;
  std::unique_ptr<Delivery> delivery_;
  MessageRecord record_;
  StreamOrderWait stream_order_wait_;
  std::optional<MessageName> name_;  ///< if messages are counted
  ShownReceive shown_;               ///< to its sender, if that may write to the buffer
  MPI_Status stashed_status_{};
  MPI_Status arrival_{};             ///< status of what has arrived, once `is_read_`
  std::uint64_t arrived_bytes_ = 0;  ///< from that status
  Status status_;
  std::ptrdiff_t offset_ = 0;
  std::size_t capacity_ = 0;
  const bool on_device_;
  bool is_idle_ = false;  ///< the application's GPU work on the buffer is done
  bool in_one_piece_ = false;
  bool from_stash_ = false;
  bool is_read_ = false;                  ///< read_message() has read the message
  bool is_uploaded_ = false;              ///< the payload arrived through the MPI library and is in place
  bool is_delivered_to_staging_ = false;  ///< the payload is on its way to the staging buffer
  bool is_misplaced_ = false;             ///< the payload is in another receive's buffer
  bool is_cancelled_ = false;             ///< the program has tried to
  bool truncated_ = false;
};

/// Returns false if an envelope would not fit or would arrive in pieces.
bool keep_first_bytes(const ReceiveCall& call, ReceivePlan& plan) {
  std::ptrdiff_t offset = 0;
  std::size_t capacity = 0;
  if (call.count < 0 || call.datatype == MPI_DATATYPE_NULL) return true;  // the MPI library refuses them
  if (!is_contiguous(call.datatype, call.count, &offset, &capacity)) return false;
  if (capacity < envelope_bytes) return false;
  const std::byte* const first = first_byte_of(call, offset);
  if (first != nullptr) std::memcpy(plan.first_bytes.data(), first, envelope_bytes);
  return true;
}

}  // namespace

ReceivePlan plan_receive(const ReceiveCall& call) {
  ReceivePlan plan;
  plan.on_device = touches_device(call.buffer, call.count, call.datatype);
  plan.is_ignored = call.source == MPI_PROC_NULL || !settings().move;
  if (!plan.is_ignored) expect_envelopes_if(NodeDirectory::gpu_seen());
  return plan;
}

ReceivePlan plan_blocking_receive(const ReceiveCall& call) {
  ReceivePlan plan = plan_receive(call);
  plan.is_direct = plan.is_ignored;
  if (plan.is_ignored) return plan;
  const bool may_be_stashed = request_table().stashed_messages.load(std::memory_order_relaxed) != 0;
  // another thread's probe must not take a message between the search of the stash and the post
  const bool may_become_stashed = request_table().is_threaded() && NodeDirectory::gpu_seen();
  plan.is_direct = !plan.on_device && !must_poll() && !may_be_stashed && !may_become_stashed &&
                   !posts_in_turns() && !(small_payloads_may_come() && !keep_first_bytes(call, plan));
  return plan;
}

int after_direct_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, int code,
                         MPI_Status& status) {
  if (plan.is_ignored || code != MPI_SUCCESS) return code;
  const bool may_be_envelope = node_directory().is_open() && bytes_of(status) == envelope_bytes;
  if (!may_be_envelope && !scope.recording()) return code;
  Receive receive(call, info_of(call.communicator), plan.on_device);
  if (const int refused = receive.prepare(scope, true); refused != MPI_SUCCESS) return refused;
  receive.was_in_place(plan.first_bytes);
  Backoff backoff;
  while (!receive.advance(true, status)) {
    progress();
    backoff.pause();
  }
  receive.fix_status(status);
  return receive.complete(status, code);
}

int post_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, bool blocking,
                 Operation& operation) {
  if (plan.is_ignored) {
    return pmpi_irecv(call.buffer, call.count, call.datatype, call.source, call.tag, call.communicator,
                      &operation.request);
  }
  auto receive = std::make_unique<Receive>(call, info_of(call.communicator), plan.on_device);
  int code = receive->prepare(scope, blocking);
  if (code != MPI_SUCCESS) return code;
  PostingTurn turn(MessageHalf::receive, call.communicator, call.source, call.tag);
  turn.begin();
  bool is_stashed = false;
  if (NodeDirectory::gpu_seen()) {
    CommunicatorInfo* const info = receive->communicator();
    const StashLock lock(info);
    if (std::optional<StashedMessage> message = take_stashed(info, call.source, call.tag)) {
      is_stashed = true;
      if (message->message != MPI_MESSAGE_NULL) {
        code = receive->post_matched(&message->message, &operation.request);
      } else {
        code = receive->adopt_stashed(*message);
      }
    } else {
      code = receive->post(&operation.request);
    }
  } else {
    code = receive->post(&operation.request);
  }
  turn.posted(code);
  if (code == MPI_SUCCESS && turn.name() && !is_stashed) receive->note_name(*turn.name());
  operation.unique_handle = true;
  if (code == MPI_SUCCESS) operation.pending = std::move(receive);
  return code;
}

int post_matched_receive(const ReceiveCall& call, MPI_Message* message, const CallScope& scope, bool blocking,
                         Operation& operation) {
  if (!settings().move || *message == MPI_MESSAGE_NO_PROC) {
    return pmpi_imrecv(call.buffer, call.count, call.datatype, message, &operation.request);
  }
  expect_envelopes_if(NodeDirectory::gpu_seen());
  std::shared_ptr<CommunicatorInfo> communicator;
  std::optional<StashedMessage> stashed;
  take_matched_message(message, &communicator, &stashed);
  auto receive = std::make_unique<Receive>(call, std::move(communicator),
                                           touches_device(call.buffer, call.count, call.datatype));
  int code = receive->prepare(scope, blocking);
  if (code != MPI_SUCCESS) return code;
  if (stashed) {
    code = receive->adopt_stashed(*stashed);
  } else {
    code = receive->post_matched(message, &operation.request);
  }
  operation.unique_handle = true;
  if (code == MPI_SUCCESS) operation.pending = std::move(receive);
  return code;
}

}  // namespace penstock::interpose
