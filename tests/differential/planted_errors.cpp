#include "tests/differential/planted_errors.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>

namespace penstock::differential {

namespace {

using How = PlantedErrors::How;
using Short = PlantedErrors::Short;

// Handlers are told no more than a communicator and a code. Thread: main.
int calls_of_own_handler = 0;
int calls_of_world_handler = 0;
int class_told = MPI_SUCCESS;

void count_own(MPI_Comm*, int* code, ...) {
  ++calls_of_own_handler;
  MPI_Error_class(*code, &class_told);
}
void count_world(MPI_Comm*, int* code, ...) {
  ++calls_of_world_handler;
  MPI_Error_class(*code, &class_told);
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// Puts a handler in place of the communicator's own for as long as it lives.
class Handler {
 public:
  Handler(MPI_Comm communicator, MPI_Comm_errhandler_function* function) : communicator_(communicator) {
    MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(communicator, &before_);
    MPI_Comm_create_errhandler(function, &counting);
    MPI_Comm_set_errhandler(communicator, counting);
    MPI_Errhandler_free(&counting);
  }
  ~Handler() {
    MPI_Comm_set_errhandler(communicator_, before_);
    if (before_ != MPI_ERRORS_ARE_FATAL && before_ != MPI_ERRORS_RETURN) MPI_Errhandler_free(&before_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// The receives of one planted error: the one that is too short, and perhaps another.
class ShortReceive {
 public:
  ShortReceive(const Short& planted, MPI_Comm communicator, const Arenas& arenas)
      : planted_(planted),
        communicator_(communicator),
        buffer_(arenas.address(planted.receive)),
        bytes_(static_cast<int>(planted.receive.bytes)) {
    for (MPI_Status& status : statuses_) status.MPI_ERROR = MPI_SUCCESS;
    if (!planted.with_another) return;
    MPI_Irecv(arenas.address(planted.other_receive), static_cast<int>(planted.other_receive.bytes), MPI_BYTE,
              planted.source, other_tag, communicator, &requests_[1]);
  }

  void post(bool may_be_persistent) {
    const bool is_persistent =
        may_be_persistent && (planted_.how == How::persistent || planted_.how == How::persistent_waitall);
    if (is_persistent) {
      MPI_Recv_init(buffer_, bytes_, MPI_BYTE, planted_.source, tag, communicator_, &requests_[0]);
      MPI_Start(&requests_[0]);
    } else if (planted_.how >= How::wait) {
      MPI_Irecv(buffer_, bytes_, MPI_BYTE, planted_.source, tag, communicator_, &requests_[0]);
    }
  }

  /// The planted error's code.
  int complete() {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status& status = statuses_[0];
    int flag = 0;
    int index = 0;
    switch (planted_.how) {
      case How::recv:
        return MPI_Recv(buffer_, bytes_, MPI_BYTE, planted_.source, tag, communicator_, &status);
      case How::sendrecv:
        return MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer_, bytes_, MPI_BYTE,
                            planted_.source, tag, communicator_, &status);
      case How::probe_recv:
        MPI_Probe(planted_.source, tag, communicator_, &status);
        return MPI_Recv(buffer_, bytes_, MPI_BYTE, planted_.source, tag, communicator_, &status);
      case How::mrecv:
        MPI_Mprobe(planted_.source, tag, communicator_, &message, &status);
        return MPI_Mrecv(buffer_, bytes_, MPI_BYTE, &message, &status);
      case How::imrecv:
        MPI_Mprobe(planted_.source, tag, communicator_, &message, &status);
        MPI_Imrecv(buffer_, bytes_, MPI_BYTE, &message, &requests_[0]);
        return MPI_Wait(&requests_[0], &status);
      case How::test: {
        int code = MPI_SUCCESS;
        for (; flag == 0 && code == MPI_SUCCESS; ::sched_yield())
          code = MPI_Test(&requests_[0], &flag, &status);
        return code;
      }
      case How::waitany:
        return MPI_Waitany(1, requests_.data(), &index, &status);
      case How::testany: {
        int code = MPI_SUCCESS;
        for (; flag == 0 && code == MPI_SUCCESS; ::sched_yield())
          code = MPI_Testany(1, requests_.data(), &index, &flag, &status);
        return code;
      }
      case How::persistent_waitall:
#ifdef OPEN_MPI
        // Open MPI's MPI_Waitall (4.1) leaves out errors of persistent requests.
        return MPI_Wait(&requests_[0], &status);
#endif
      case How::waitall:
      case How::testall:
        return complete_all();
      case How::waitsome:
      case How::testsome:
        return complete_some();
      default:
        return MPI_Wait(&requests_[0], &status);
    }
  }

  /// What is still pending or idle.
  void clear() {
    MPI_Wait(&requests_[1], MPI_STATUS_IGNORE);
    if (requests_[0] != MPI_REQUEST_NULL) MPI_Request_free(&requests_[0]);
  }

  [[nodiscard]] std::string tell(int code) const {
    std::string line = fmt::format("class={}", class_of(code));
    if (class_of(code) == MPI_ERR_IN_STATUS) {
      line += fmt::format(" statuses={}", class_of(statuses_[0].MPI_ERROR));
      // the other may be complete or not
      const int other = class_of(statuses_[1].MPI_ERROR);
      if (planted_.with_another) line += fmt::format("/{}", other == MPI_ERR_PENDING ? MPI_SUCCESS : other);
    }
    return line;
  }

  static constexpr int ready_tag = 0;
  static constexpr int tag = 1;
  static constexpr int other_tag = 2;

 private:
  int complete_all() {
    if (planted_.how != How::testall) return MPI_Waitall(2, requests_.data(), statuses_.data());
    int code = MPI_SUCCESS;
    for (int flag = 0; flag == 0 && code == MPI_SUCCESS; ::sched_yield())
      code = MPI_Testall(2, requests_.data(), &flag, statuses_.data());
    return code;
  }

  /// Until the planted error is among what is complete.
  int complete_some() {
    for (;; ::sched_yield()) {
      std::array<int, 2> indices{};
      std::array<MPI_Status, 2> statuses{};
      int completed = 0;
      const int code = planted_.how == How::waitsome
                           ? MPI_Waitsome(2, requests_.data(), &completed, indices.data(), statuses.data())
                           : MPI_Testsome(2, requests_.data(), &completed, indices.data(), statuses.data());
      bool is_there = false;
      for (int i = 0; i < completed; ++i) {
        const auto at = static_cast<std::size_t>(i);
        is_there = is_there || indices[at] == 0;
        if (code != MPI_SUCCESS) statuses_[static_cast<std::size_t>(indices[at])] = statuses[at];
      }
      const bool is_whole = code != MPI_SUCCESS && class_of(code) != MPI_ERR_IN_STATUS;
      if (is_there || completed == MPI_UNDEFINED || is_whole) return code;
    }
  }

  const Short& planted_;
  MPI_Comm communicator_;
  void* buffer_;
  int bytes_;
  std::array<MPI_Request, 2> requests_ = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> statuses_{};
};

/// How often which handler was called, and what it was told. For calls on requests, MPICH calls that of
/// MPI_COMM_WORLD (of MPI_COMM_SELF in later versions), even if the communicator has another; that of the
/// communicator may be called instead, so that only how often is compared: once for the program's own
/// handler, never for MPI_ERRORS_RETURN. Which of a list's error and MPI_ERR_IN_STATUS it is told is open,
/// too.
std::string raised_by(How how, PlantedErrors::Handler handler) {
  const bool names_communicator = how == How::recv || how == How::sendrecv || how == How::probe_recv;
  if (names_communicator)
    return fmt::format(" handlers={}/{} told={}", calls_of_own_handler, calls_of_world_handler, class_told);
  const int raised = calls_of_own_handler + calls_of_world_handler;
  const bool is_right = handler == PlantedErrors::Handler::counts
                            ? raised == 1
                            : calls_of_own_handler == 0 && calls_of_world_handler <= 1;
  return is_right ? " raised as it may be"
                  : fmt::format(" handlers={}/{}", calls_of_own_handler, calls_of_world_handler);
}

void send_both(const Short& planted, MPI_Comm communicator, const Arenas& arenas) {
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Isend(arenas.address(planted.send), static_cast<int>(planted.send.bytes), MPI_BYTE, planted.destination,
            ShortReceive::tag, communicator, &requests[0]);
  if (planted.with_another) {
    MPI_Isend(arenas.address(planted.other_send), static_cast<int>(planted.other_send.bytes), MPI_BYTE,
              planted.destination, ShortReceive::other_tag, communicator, &requests[1]);
  }
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

std::string receive_both(const Short& planted, MPI_Comm communicator, PlantedErrors::Handler handler,
                         Arenas& arenas, bool may_be_persistent) {
  ShortReceive receive(planted, communicator, arenas);
  receive.post(may_be_persistent);
  if (!planted.sends_first)
    MPI_Send(nullptr, 0, MPI_BYTE, planted.source, ShortReceive::ready_tag, communicator);
  calls_of_own_handler = calls_of_world_handler = 0;
  class_told = MPI_SUCCESS;
  const int code = receive.complete();
  std::string line = receive.tell(code) + raised_by(planted.how, handler);
  receive.clear();
  arenas.forget(planted.receive);  // what of the message arrived is open; the guards are not
  line += fmt::format(" digest={:016x}", arenas.digest(planted.receive));
  if (planted.with_another) line += fmt::format("/{:016x}", arenas.digest(planted.other_receive));
  return line;
}

/// How much a collective with a wrong size may bring. MPICH's gather does not end if it is more than it sends
/// eagerly.
[[nodiscard]] std::size_t most_bytes_of_wrong_size(How how) {
  constexpr std::size_t eager = 2000;
  return how == How::gather ? eager : SIZE_MAX;
}

/// A collective in which the destination has less room than the source gives. Such a program is wrong, so
/// that no result is right; but nobody hangs, and nothing is written beyond the room.
std::string call_with_wrong_size(const Short& planted, int rank, MPI_Comm communicator, Arenas& arenas) {
  const bool is_part = rank == planted.source || rank == planted.destination;
  const bool is_source = rank == planted.source;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(communicator, is_part ? 0 : MPI_UNDEFINED, is_source ? 0 : 1, &both);
  if (!is_part) return "";
  void* buffer = arenas.address(is_source ? planted.send : planted.receive);
  const int bytes = static_cast<int>(
      std::min((is_source ? planted.send : planted.receive).bytes, most_bytes_of_wrong_size(planted.how)));
  switch (planted.how) {
    case How::bcast:
      MPI_Bcast(buffer, bytes, MPI_BYTE, 0, both);
      break;
    case How::gather:
      if (is_source) {
        MPI_Gather(buffer, bytes, MPI_BYTE, nullptr, 0, MPI_BYTE, 1, both);
      } else {
        MPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, buffer, bytes / 2, MPI_BYTE, 1, both);
      }
      break;
    default:
      if (is_source) {
        MPI_Scatter(buffer, bytes / 2, MPI_BYTE, MPI_IN_PLACE, 0, MPI_BYTE, 0, both);
      } else {
        MPI_Scatter(nullptr, 0, MPI_BYTE, buffer, bytes, MPI_BYTE, 0, both);
      }
  }
  // The communicator is never freed: what the source sent in vain would be taken for messages of a later one
  // with the same context id (MPICH 4.0.2 hangs in its broadcast, Open MPI 4.1 crashes).
  if (is_source) return "";
  arenas.forget(planted.receive);
  return fmt::format("wrong size {}: digest={:016x}; ", static_cast<int>(planted.how),
                     arenas.digest(planted.receive));
}

}  // namespace

std::string plant_errors(const PlantedErrors& planted, MPI_Comm world, Arenas& arenas,
                         bool may_be_persistent) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(world, &duplicate);
  std::string lines;
  {
    // a raise at the wrong place is to be told, not to end the job
    const Handler at_world(MPI_COMM_WORLD, count_world);
    const Handler at_self(MPI_COMM_SELF, count_world);
    const Handler at_duplicate(duplicate, count_own);
    if (planted.handler == PlantedErrors::Handler::returns)
      MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN);
    for (const Short& message : planted.messages) {
      if (PlantedErrors::is_collective(message.how)) {
        lines += call_with_wrong_size(message, rank, duplicate, arenas);
      } else if (message.source == rank) {
        if (!message.sends_first)
          MPI_Recv(nullptr, 0, MPI_BYTE, message.destination, ShortReceive::ready_tag, duplicate,
                   MPI_STATUS_IGNORE);
        send_both(message, duplicate, arenas);
      } else if (message.destination == rank) {
        lines += fmt::format("how {}: {}; ", static_cast<int>(message.how),
                             receive_both(message, duplicate, planted.handler, arenas, may_be_persistent));
      }
    }
  }
  MPI_Comm_free(&duplicate);
  return lines;
}

}  // namespace penstock::differential
