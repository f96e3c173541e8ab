#include "interpose/windows/movement.hpp"

#include <optional>
#include <utility>

#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {
namespace {

/// The request of one operation. Whoever comes first completes it: the request, or a call that completes all
/// of the window's.
class PendingWindowOperation final : public Pending {
 public:
  PendingWindowOperation(std::shared_ptr<Window> window, const char* mpi_call,
                         std::shared_ptr<WindowOperation> operation) noexcept
      : window_(std::move(window)), mpi_call_(mpi_call), operation_(std::move(operation)) {}

  bool advance(bool /*arrived*/, const MPI_Status&) override { return window_->step(*operation_); }
  int complete(MPI_Status&, int code) override {
    if (code != MPI_SUCCESS || operation_->status.ok()) return code;
    return window_->errors_of_requests().raise_status(mpi_call_, operation_->status);
  }

 private:
  std::shared_ptr<Window> window_;
  const char* mpi_call_;
  std::shared_ptr<WindowOperation> operation_;
};

}  // namespace

void attach_operation(const std::shared_ptr<Window>& window, const char* mpi_call,
                      std::shared_ptr<WindowOperation> operation, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  attach(request, std::make_unique<PendingWindowOperation>(window, mpi_call, std::move(operation)));
}

namespace {

/// Returns the access if it may begin later: it is small, in one piece on both sides, and its target lies on
/// a device. `code`: MPI's, if the buffers do not fit.
std::optional<SmallAccess> as_small(Direction direction, const void* origin, MPI_Count count,
                                    MPI_Datatype datatype, const CheckedTarget& target, int& code) {
  const auto& memory = target.memory->reached();
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  if (origin == MPI_BOTTOM || !memory || !transports::lives_on_device(memory->kind) ||
      target.where.bytes() > largest_small_access || !target.where.is_contiguous() ||
      !is_contiguous(datatype, count, &offset, &bytes) || bytes == 0 || bytes > largest_small_access) {
    return std::nullopt;
  }
  // the side that is sent may be the shorter one, as for messages
  const bool is_put = direction == Direction::put;
  const std::size_t sent = is_put ? bytes : target.where.bytes();
  if (sent > (is_put ? target.where.bytes() : bytes)) code = MPI_ERR_TRUNCATE;
  char* const first = static_cast<char*>(const_cast<void*>(origin)) + offset;
  return SmallAccess{direction, first, target.memory, target.where.first_offset(), sent};
}

}  // namespace

int move(const std::shared_ptr<Window>& window, const char* mpi_call, Direction direction, const void* origin,
         MPI_Count count, MPI_Datatype datatype, const TargetPart& target, MPI_Request* request) {
  CheckedTarget checked = check_target(*window, target);
  if (checked.code == MPI_SUCCESS) checked.code = check_buffer(count, datatype);
  if (checked.code != MPI_SUCCESS) return window->raise(checked.code);
  std::unique_ptr<transports::Pull> pull;
  WindowCopy record;
  if (!checked.is_nothing) {
    if (request == nullptr) {
      const auto small = as_small(direction, origin, count, datatype, checked, checked.code);
      if (checked.code != MPI_SUCCESS) return window->raise(checked.code);
      if (small && window->hold_back(*small)) return MPI_SUCCESS;
    }
    transports::BufferView buffer = origin_view(origin, count, datatype);
    const std::size_t sent = direction == Direction::put ? buffer.layout.bytes() : checked.where.bytes();
    const std::size_t room = direction == Direction::put ? checked.where.bytes() : buffer.layout.bytes();
    if (sent > room) return window->raise(MPI_ERR_TRUNCATE);
    if (sent < room) {
      transports::Layout& longer = direction == Direction::put ? checked.where : buffer.layout;
      longer = longer.prefix(sent);
    }
    record = copy_that_begins(direction, buffer.buffer.kind, *checked.memory, checked.where.bytes());
    const Status started = checked.memory->start(direction, buffer, checked.where, pull);
    say_what_was_refused();
    if (!started.ok()) return window->errors().raise_status(mpi_call, started);
    window->note_begun();
  }
  if (pull == nullptr && request == nullptr) {
    record_copy(record);
    return MPI_SUCCESS;
  }
  auto operation = window->keep(checked.rank, std::move(pull), record);
  if (request != nullptr) attach_operation(window, mpi_call, std::move(operation), request);
  return MPI_SUCCESS;
}

}  // namespace penstock::interpose
