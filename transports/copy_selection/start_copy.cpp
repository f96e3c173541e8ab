#include "transports/copy_selection/start_copy.hpp"

#include <optional>
#include <utility>

#include "transports/copies/bounce_pull.hpp"
#include "transports/small/batched_pull.hpp"
#include "transports/small/kernel_pull.hpp"
#include "transports/small/resident.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

/// One copy, and what the methods ask about it. What costs more than some ns is asked once, by the first that
/// needs it.
class CopyQuestion {
 public:
  CopyQuestion(const CopySource& from, const BufferView& to, const cuda::ContextRef& copies_in)
      : source(from),
        destination(to),
        context(copies_in),
        is_in_pieces(from.loops.depth != 0 || is_in_short_pieces(to.layout)) {}

  const CopySource& source;
  const BufferView& destination;
  const cuda::ContextRef& context;
  const bool is_in_pieces;  ///< such that the copy engine would take them row by row, if at all

  /// Returns true for long rows, which the copy engine takes as fast as one piece.
  [[nodiscard]] bool is_in_rows() const noexcept {
    return !is_in_pieces && !destination.layout.is_contiguous();
  }
  [[nodiscard]] bool suits_kernels() {
    return once(suits_kernels_, [this] { return suits_copy_kernels(source, destination, context); });
  }
  /// Returns whether the application's earlier work on the destination's GPU is done.
  [[nodiscard]] bool is_idle() {
    return once(is_idle_, [this] { return transports::is_idle(destination); });
  }
  /// Returns whether one launch may make the copy together with others: it is small and need not wait.
  [[nodiscard]] bool may_share_a_launch() {
    return once(may_share_a_launch_, [this] {
      return !is_in_rows() && fits_a_batch(source, destination) &&
             (suits_kernels() || suits_kernels_for_managed(source, destination, context)) && is_idle();
    });
  }

 private:
  template <typename Ask>
  static bool once(std::optional<bool>& answer, Ask ask) {
    if (!answer) answer = ask();
    return *answer;
  }

  std::optional<bool> suits_kernels_;
  std::optional<bool> is_idle_;
  std::optional<bool> may_share_a_launch_;
};

/// A way to make a copy.
struct CopyMethod {
  bool (*suits)(CopyQuestion&);
  /// Leaves the pull null if the method cannot be used now.
  Status (*start)(CopyQuestion&, std::unique_ptr<Pull>&);
  bool makes_several;  ///< by one launch
};

constexpr bool one = false;
constexpr bool several = true;

template <typename Made>
Status start_as(CopyQuestion& copy, std::unique_ptr<Pull>& pull) {
  auto made = std::make_unique<Made>(copy.source, copy.destination, copy.context);
  Status started = made->start();
  if (started.ok()) pull = std::move(made);
  return started;
}

bool is_large_download(CopyQuestion& copy) {
  return copy.context != nullptr && copy.source.side == Side::device && copy.source.loops.depth == 0 &&
         copy.source.bytes >= tuning().bounced_from && copy.destination.buffer.kind == BufferKind::pageable;
}

bool may_be_batched(CopyQuestion& copy) {
  return copy.may_share_a_launch();
}
Status join_others(CopyQuestion& copy, std::unique_ptr<Pull>& pull) {
  pull = join_batch(copy.source, copy.destination, copy.context);
  return {};
}

bool suits_the_engine(CopyQuestion& copy) {
  return copy.source.loops.depth == 0;
}

/// Returns the outcome of a kernel's start. Its failure is none if the copy engine can take the pieces row by
/// row, however slowly.
Status unless_the_engine_can(CopyQuestion& copy, Status started) {
  return copy.is_in_pieces && suits_the_engine(copy) ? Status{} : started;
}

bool suits_the_resident_kernel(CopyQuestion& copy) {
  if (copy.context == nullptr || copy.is_in_rows() || !suits_resident_kernel(copy.source, copy.destination))
    return false;
  return copy.is_in_pieces ? copy.may_share_a_launch() : copy.is_idle();
}
Status order_or_replace(CopyQuestion& copy, std::unique_ptr<Pull>& pull) {
  return unless_the_engine_can(
      copy, start_on_resident_kernel_or_otherwise(copy.source, copy.destination, copy.context, pull));
}

bool needs_a_kernel(CopyQuestion& copy) {
  return copy.is_in_pieces && copy.suits_kernels();
}
Status launch_kernel(CopyQuestion& copy, std::unique_ptr<Pull>& pull) {
  return unless_the_engine_can(copy, start_by_kernel(copy.source, copy.destination, copy.context, pull));
}

/// The first that suits makes the copy; the next one that does, if it declines.
constexpr CopyMethod methods[] = {
    {is_large_download, start_as<BouncePull>, one},      // into pageable memory, through pinned chunks
    {may_be_batched, join_others, several},              // one launch for all that are in flight
    {suits_the_resident_kernel, order_or_replace, one},  // an order, or what a launch or the engine does
    {needs_a_kernel, launch_kernel, one},                // a layout in pieces
    {suits_the_engine, start_as<CopyPull>, one},         // all else
};

}  // namespace

Status start_copy(const CopySource& source, const BufferView& destination, const cuda::ContextRef& context,
                  std::unique_ptr<Pull>& pull) {
  if (source.bytes > destination.layout.bytes())
    return {Code::bad_argument, "a message longer than its receive"};
  CopyQuestion copy(source, destination, context);
  Status failure{Code::declined, "a layout in pieces, and no kernels for it"};
  for (const CopyMethod& method : methods) {
    if (!method.suits(copy)) continue;
    Status started = method.start(copy, pull);
    if (!started.ok() && started.code() != Code::declined) return started;
    if (!started.ok()) failure = started;
    if (pull == nullptr) continue;
    // others join a batch while it is in flight
    if (!method.makes_several && copy.may_share_a_launch())
      pull = count_in_flight(source, destination, context, std::move(pull));
    return {};
  }
  return failure;
}

}  // namespace penstock::transports
