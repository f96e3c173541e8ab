#include "interpose/windows/small_accesses.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "interpose/progress/progress.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::interpose {
namespace {

using transports::Buffer;
using transports::BufferKind;
using transports::BufferView;
using transports::CopyItem;
using transports::CopyKernels;
using transports::Layout;
using transports::Pull;

/// Is over when all of its pulls are.
class SeveralPulls final : public Pull {
 public:
  void add(std::unique_ptr<Pull> pull) {
    if (pull != nullptr) pulls_.push_back(std::move(pull));
  }
  [[nodiscard]] bool is_empty() const noexcept { return pulls_.empty(); }

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    while (!pulls_.empty()) {
      bool is_over = false;
      if (Status stepped = pulls_.back()->advance(is_over); !stepped.ok()) return stepped;
      if (!is_over) break;
      pulls_.pop_back();
    }
    finished = pulls_.empty();
    return {};
  }

 private:
  std::vector<std::unique_ptr<Pull>> pulls_;
};

/// Neighbours on both sides, joined to one; their origin, classified.
struct Piece {
  SmallAccess access;
  Buffer buffer;

  [[nodiscard]] BufferView origin() const {
    return {.buffer = buffer,
            .layout = Layout::contiguous(access.bytes),
            .handed_over_ns = transports::time_of_call_ns()};
  }
  [[nodiscard]] Layout where() const { return Layout::contiguous(access.bytes, access.offset); }
};

bool continues(const SmallAccess& first, const SmallAccess& next) noexcept {
  return next.direction == first.direction && next.target == first.target &&
         next.origin == first.origin + first.bytes &&
         next.offset == first.offset + static_cast<std::ptrdiff_t>(first.bytes);
}

/// Most origins lie in the same allocation, which exists as long as a pending access uses it.
Buffer classify(const SmallAccess& access, const Buffer& last) {
  Buffer buffer = last;
  buffer.pointer = access.origin;
  if (last.kind != BufferKind::device || !buffer.holds(0, access.bytes))
    buffer = transports::inspect(access.origin);
  if (transports::lives_on_device(buffer.kind)) note_gpu_use();
  return buffer;
}

std::vector<Piece> pieces_of(std::span<const SmallAccess> accesses) {
  std::vector<Piece> pieces;
  pieces.reserve(accesses.size());
  for (const SmallAccess& access : accesses) {
    Piece* const last = pieces.empty() ? nullptr : &pieces.back();
    if (last != nullptr && continues(last->access, access) &&
        last->buffer.holds(0, last->access.bytes + access.bytes)) {
      last->access.bytes += access.bytes;
    } else {
      pieces.push_back({access, classify(access, last != nullptr ? last->buffer : Buffer{})});
    }
  }
  return pieces;
}

class Beginning {
 public:
  explicit Beginning(std::span<MemberMemory> members) : members_(members) {}

  [[nodiscard]] Status begin(std::span<const Piece> pieces) {
    if (pieces.size() == 1) return begin_alone(pieces.front());
    for (const Piece& piece : pieces) {
      if (Status added = add(piece); !added.ok()) return added;
    }
    if (Status launched = launch(); !launched.ok()) return launched;
    return upload();
  }

  [[nodiscard]] std::unique_ptr<Pull> take_pull() {
    if (pulls_->is_empty()) return nullptr;
    return std::move(pulls_);
  }

 private:
  [[nodiscard]] Status begin_alone(const Piece& piece) {
    std::unique_ptr<Pull> pull;
    Status started =
        members_[piece.access.target].start(piece.access.direction, piece.origin(), piece.where(), pull);
    pulls_->add(std::move(pull));
    return started;
  }

  [[nodiscard]] Status add(const Piece& piece) {
    const MemberMemory& member = members_[piece.access.target];
    const BufferView origin = piece.origin();
    if (transports::belongs_to_context(piece.buffer.kind) || origin.is_pinned_throughout()) {
      auto reached = member.for_kernels(origin, piece.where());
      if (reached.address == nullptr) return begin_alone(piece);
      if (reached.context != context_ || items_.size() == CopyKernels::most_items) {
        if (Status launched = launch(); !launched.ok()) return launched;
        context_ = reached.context;
      }
      const bool is_put = piece.access.direction == Direction::put;
      items_.push_back({is_put ? reached.address : piece.access.origin,
                        is_put ? piece.access.origin : reached.address,
                        static_cast<std::uint32_t>(piece.access.bytes)});
      launched_together_.push_back(&piece);
      if (keepers_.empty() || keepers_.back() != reached.keeper)
        keepers_.push_back(std::move(reached.keeper));
      return {};
    }
    const bool can_be_uploaded = piece.access.direction == Direction::put &&
                                 piece.buffer.kind == BufferKind::pageable &&
                                 piece.access.bytes <= transports::largest_joint_upload;
    auto view = can_be_uploaded ? member.for_uploads(piece.where()) : std::nullopt;
    if (!view) return begin_alone(piece);
    uploads_.push_back({&piece, std::move(*view)});
    return {};
  }

  [[nodiscard]] Status launch() {
    const auto together = std::exchange(launched_together_, {});
    const auto items = std::exchange(items_, {});
    auto keepers = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::exchange(keepers_, {}));
    std::unique_ptr<Pull> pull;
    if (together.size() > 1) {
      const Status started = transports::start_together(items, transports::time_of_call_ns(), context_,
                                                        std::move(keepers), pull);
      pulls_->add(std::move(pull));
      if (started.ok()) return {};  // else nothing was copied
    }
    return begin_each(together);
  }

  [[nodiscard]] Status begin_each(std::span<const Piece* const> pieces) {
    for (const Piece* piece : pieces) {
      if (Status begun = begin_alone(*piece); !begun.ok()) return begun;
    }
    return {};
  }

  struct PlacedUpload {
    const Piece* piece;
    BufferView view;
  };

  [[nodiscard]] Status upload() {
    for (std::span<PlacedUpload> left = uploads_; !left.empty();) {
      const CUcontext context = left.front().view.buffer.context;
      const auto others = std::ranges::stable_partition(
          left, [&](const PlacedUpload& upload) { return upload.view.buffer.context == context; });
      const std::size_t together = std::min(left.size() - others.size(), transports::most_joint_uploads);
      if (Status uploaded = upload(left.first(together)); !uploaded.ok()) return uploaded;
      left = left.subspan(together);
    }
    return {};
  }

  [[nodiscard]] Status upload(std::span<const PlacedUpload> placed) {
    std::vector<transports::Upload> uploads;
    for (const PlacedUpload& each : placed) uploads.push_back({&each.view, each.piece->access.origin});
    if (uploads.size() > 1) {
      // the upload would wait for it without progress
      wait_for_queued(placed.front().view.buffer, transports::time_of_call_ns());
      if (transports::upload_together(uploads)) return {};
    }
    for (const PlacedUpload& each : placed) {
      if (Status begun = begin_alone(*each.piece); !begun.ok()) return begun;
    }
    return {};
  }

  std::span<MemberMemory> members_;
  std::unique_ptr<SeveralPulls> pulls_ = std::make_unique<SeveralPulls>();
  transports::cuda::ContextRef context_;         ///< of the launch that is being collected
  std::vector<CopyItem> items_;                  ///< its copies …
  std::vector<const Piece*> launched_together_;  ///< … what they are for …
  std::vector<std::shared_ptr<const void>> keepers_;
  std::vector<PlacedUpload> uploads_;
};

}  // namespace

Status begin_together(std::span<const SmallAccess> accesses, std::span<MemberMemory> members,
                      std::unique_ptr<Pull>& pull) {
  const std::vector<Piece> pieces = pieces_of(accesses);
  Beginning beginning(members);
  Status begun = beginning.begin(pieces);
  // else what has begun is waited for where it is destroyed
  if (begun.ok()) pull = beginning.take_pull();
  return begun;
}

}  // namespace penstock::interpose
