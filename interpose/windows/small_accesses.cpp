#include "interpose/windows/small_accesses.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "interpose/progress/progress.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/batched_pull.hpp"
#include "transports/small/joint_uploads.hpp"
#include "transports/small/kernel_pull.hpp"

namespace penstock::interpose {
namespace {

using transports::Buffer;
using transports::BufferKind;
using transports::BufferView;
using transports::CopyItem;
using transports::CopyKernels;
using transports::Layout;
using transports::Pull;

/// Is over when all of its pulls are; none keeps the others from arriving, whatever becomes of it.
class SeveralPulls final : public Pull {
 public:
  void add(std::unique_ptr<Pull> pull) {
    if (pull != nullptr) pulls_.push_back(std::move(pull));
  }
  void note(const Status& status) noexcept {
    if (failure_.ok()) failure_ = status;
  }
  /// False: there is nothing to wait for, and nothing has failed.
  [[nodiscard]] bool is_needed() const noexcept { return !pulls_.empty() || !failure_.ok(); }

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    std::erase_if(pulls_, [&](const std::unique_ptr<Pull>& pull) {
      bool is_over = false;
      const Status stepped = pull->advance(is_over);
      note(stepped);
      return is_over || !stepped.ok();
    });
    finished = pulls_.empty();
    return finished ? failure_ : Status{};
  }

 private:
  std::vector<std::unique_ptr<Pull>> pulls_;
  Status failure_;  ///< the first
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

Status begin_one(const Piece& piece, std::unique_ptr<Pull>& pull) {
  return piece.access.target->start(piece.access.direction, piece.origin(), piece.where(), pull);
}

class Beginning {
 public:
  explicit Beginning(SeveralPulls& pulls) : pulls_(pulls) {}

  void begin(std::span<const Piece> pieces) {
    if (pieces.size() == 1) return begin_alone(pieces.front());
    for (const Piece& piece : pieces) add(piece);
    launch();
    transports::launch_collected();  // of those that began alone: no others will follow
    upload();
  }

 private:
  void begin_alone(const Piece& piece) {
    std::unique_ptr<Pull> pull;
    pulls_.note(begin_one(piece, pull));
    pulls_.add(std::move(pull));
  }

  void add(const Piece& piece) {
    const MemberMemory& member = *piece.access.target;
    const bool is_put = piece.access.direction == Direction::put;
    if (transports::belongs_to_context(piece.buffer.kind) || piece.origin().is_pinned_throughout()) {
      char* const base = base_for(piece);
      if (base == nullptr) return begin_alone(piece);
      if (reached_.context != context_ || items_.size() == CopyKernels::most_items) {
        launch();
        context_ = reached_.context;
      }
      char* const there = base + piece.access.offset;
      items_.push_back({is_put ? there : piece.access.origin, is_put ? piece.access.origin : there,
                        static_cast<std::uint32_t>(piece.access.bytes)});
      launched_.push_back(&piece);
      if (keepers_.empty() || keepers_.back() != reached_.keeper) keepers_.push_back(reached_.keeper);
      return;
    }
    const bool can_be_uploaded = is_put && piece.buffer.kind == BufferKind::pageable &&
                                 piece.access.bytes <= transports::largest_joint_upload;
    auto view = can_be_uploaded ? member.for_uploads(piece.where()) : std::nullopt;
    if (!view) return begin_alone(piece);
    uploads_.push_back({&piece, std::move(*view)});
  }

  /// Returns where the target's memory begins, for kernels that reach the origin, too; null: nowhere. Most
  /// pieces have the target of the piece before them.
  char* base_for(const Piece& piece) {
    if (reached_.address == nullptr || reached_target_ != piece.access.target.get() ||
        reached_from_ != piece.buffer.context) {
      reached_ = piece.access.target->for_kernels(piece.origin(), Layout::contiguous(1));
      reached_target_ = piece.access.target.get();
      reached_from_ = piece.buffer.context;
    }
    return static_cast<char*>(reached_.address);
  }

  /// Launches what was collected since the last launch.
  void launch() {
    const auto launched = std::exchange(launched_, {});
    const auto items = std::exchange(items_, {});
    auto keepers = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::exchange(keepers_, {}));
    if (launched.size() > 1) {
      std::unique_ptr<Pull> pull;
      const Status started = transports::start_together(items, transports::time_of_call_ns(), context_,
                                                        std::move(keepers), pull);
      pulls_.add(std::move(pull));
      if (started.ok()) return;  // else nothing was copied
    }
    for (const Piece* piece : launched) begin_alone(*piece);
  }

  struct PlacedUpload {
    const Piece* piece;
    BufferView view;
  };

  void upload() {
    for (std::span<PlacedUpload> left = uploads_; !left.empty();) {
      const CUcontext context = left.front().view.buffer.context;
      const auto others = std::stable_partition(left.begin(), left.end(), [&](const PlacedUpload& upload) {
        return upload.view.buffer.context == context;
      });
      const auto alike = static_cast<std::size_t>(others - left.begin());
      const std::size_t together = std::min(alike, transports::most_joint_uploads);
      upload(left.first(together));
      left = left.subspan(together);
    }
  }

  void upload(std::span<const PlacedUpload> placed) {
    std::vector<transports::Upload> uploads;
    for (const PlacedUpload& each : placed) uploads.push_back({&each.view, each.piece->access.origin});
    if (uploads.size() > 1) {
      // the upload would wait for it without progress
      wait_for_queued(placed.front().view.buffer, transports::time_of_call_ns());
      if (transports::upload_together(uploads)) return;
    }
    for (const PlacedUpload& each : placed) begin_alone(*each.piece);
  }

  SeveralPulls& pulls_;
  MemberMemory::ForKernels reached_;  ///< of the last piece that kernels copy
  const MemberMemory* reached_target_ = nullptr;
  CUcontext reached_from_ = nullptr;  ///< its origin's
  // of the launch that is being collected:
  transports::cuda::ContextRef context_;
  std::vector<CopyItem> items_;
  std::vector<const Piece*> launched_;
  std::vector<std::shared_ptr<const void>> keepers_;
  std::vector<PlacedUpload> uploads_;
};

}  // namespace

Status begin_together(std::span<const SmallAccess> accesses, std::unique_ptr<Pull>& pull) {
  if (accesses.size() == 1) return begin_one({accesses.front(), classify(accesses.front(), {})}, pull);
  const std::vector<Piece> pieces = pieces_of(accesses);
  auto pulls = std::make_unique<SeveralPulls>();
  Beginning(*pulls).begin(pieces);
  if (pulls->is_needed()) pull = std::move(pulls);
  return {};
}

}  // namespace penstock::interpose
