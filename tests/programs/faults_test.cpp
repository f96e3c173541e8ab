// What the driver may refuse on each transport: the next transport is taken, one line says so, and the
// message arrives, as does the next one. The driver refuses on one of the two sides, just for one message.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/test_messages.hpp"
#include "tests/support/faulty_driver/faulty_driver.hpp"

namespace penstock::programs {
namespace {

/// What both ranks say on stderr while one lives; said again afterwards.
class Heard {
 public:
  Heard() : stderr_(::dup(STDERR_FILENO)), file_(::memfd_create("heard", 0)) { ::dup2(file_, STDERR_FILENO); }
  ~Heard() {
    ::dup2(stderr_, STDERR_FILENO);
    const std::string said = text();
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, said.data(), said.size());
    ::close(stderr_);
    ::close(file_);
  }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  /// How many lines on either rank contain it.
  [[nodiscard]] int lines_with(const std::string& part) const {
    const std::string said = text();
    int lines = 0;
    for (std::size_t at = said.find(part); at != std::string::npos; at = said.find(part, at + 1)) ++lines;
    MPI_Allreduce(MPI_IN_PLACE, &lines, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return lines;
  }

 private:
  [[nodiscard]] std::string text() const {
    std::string said(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    const ssize_t bytes = ::pread(file_, said.data(), said.size(), 0);
    said.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return said;
  }

  int stderr_;
  int file_;
};

enum class Side { sender, receiver };

struct Fault {
  const char* name;
  MemoryKind from;
  MemoryKind to;
  std::size_t bytes;
  Side side;
  const char* fault;
  const char* line;  ///< part of the line that says so
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.fault;
}

class Faults : public testing::TestWithParam<Fault> {
 protected:
  /// From rank 0 to rank 1, with faults or without.
  static void expect_to_arrive(std::uint64_t seed, const char* faults) {
    const Fault& row = GetParam();
    const Buffer buffer(rank() == 0 ? row.from : row.to, row.bytes, rank() == 0 ? seed : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const bool is_mine = (rank() == 0) == (row.side == Side::sender);
    if (is_mine) faulty_driver_fail(faults);
    if (rank() == 0) {
      // synchronous: a small payload must not be copied aside, however late its receiver is
      MPI_Ssend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is_mine) faulty_driver_fail("");
    EXPECT_TRUE(buffer.read() == payload(row.bytes, seed));
    EXPECT_TRUE(buffer.guard_is_intact());
  }
};

TEST_P(Faults, do_not_keep_the_message_from_arriving) {
  if (rank() > 1) return;
  // a payload from the host must be known to end on a device
  const std::uint64_t messages_before = GetParam().from == MemoryKind::pinned ? 2 : 0;
  for (std::uint64_t message = 0; message < messages_before; ++message) expect_to_arrive(10 + message, "");
  int lines = 0;
  {
    const Heard heard;
    expect_to_arrive(20, GetParam().fault);
    lines = heard.lines_with(GetParam().line);
  }
  EXPECT_EQ(lines, 1) << "with \"" << GetParam().line << '"';
  expect_to_arrive(21, "");
  // after which a device that had no memory is asked again
  if (GetParam().from == MemoryKind::async_pool) std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

TEST(FaultsToItself, do_not_keep_the_message_from_arriving) {
  struct Local {
    int to_device;
    const char* fault;
    const char* line;
  };
  std::vector<Local> rows{{own_device(), "cuMemcpyAsync:712x1", "CUDA error 712"}};
  if (test_support::gpu_count() > 1) {
    rows.push_back(
        {test_support::gpu_count() - 1 - own_device(), "cuMemcpyPeerAsync:711x1", "CUDA error 711"});
  }
  for (const Local& row : rows) {
    SCOPED_TRACE(row.fault);
    const Buffer sent(MemoryKind::device, 300'000, 1);
    Memory received(MemoryKind::device, 300'000, row.to_device);
    const Heard heard;
    faulty_driver_fail(row.fault);
    MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, rank(), 1, received.data(), sent.count(), MPI_BYTE,
                 rank(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    faulty_driver_fail("");
    Bytes content(300'000);
    received.read(0, content.data(), content.size());
    EXPECT_TRUE(content == sent.read());
    EXPECT_EQ(heard.lines_with(row.line), 2) << "one on each rank";
  }
}

constexpr MemoryKind device = MemoryKind::device;
constexpr MemoryKind pool = MemoryKind::async_pool;
constexpr MemoryKind pinned = MemoryKind::pinned;
constexpr MemoryKind pageable = MemoryKind::pageable;
constexpr std::size_t medium = 300'000;

// Error codes differ, as no line is said twice. The ring on a device is made once, at its first need.
INSTANTIATE_TEST_SUITE_P(
    Transports, Faults,
    testing::Values(
        Fault{"relayed_memory", pool, device, medium, Side::sender, "cuMemAlloc_v2:2x1", "relayed: "},
        Fault{"relayed_copy", pool, device, medium, Side::sender, "cuMemcpyAsync:715x1", "CUDA error 715"},
        Fault{"peer_memory_to_map", device, device, 5000, Side::receiver, "cuIpcOpenMemHandle_v2:2x1",
              "peer: "},
        Fault{"peer_copy", device, device, medium, Side::receiver, "cuMemcpyAsync:719x1", "CUDA error 719"},
        Fault{"peer_event", device, device, 5000, Side::receiver, "cuEventRecord:716x1", "CUDA error 716"},
        Fault{"peer_export", device, device, medium, Side::sender, "cuIpcGetMemHandle:801x1", "export"},
        Fault{"pushed_mapping", pinned, device, medium, Side::sender, "cuIpcOpenMemHandle_v2:400x1",
              "CUDA error 400"},
        Fault{"pushed_copy", pinned, device, medium, Side::sender, "cuMemcpyAsync:714x1", "CUDA error 714"},
        Fault{"staged_pinning", pool, pageable, 20'000'000, Side::sender, "cuMemHostRegister_v2:2x1",
              "pinned"}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace penstock::programs
