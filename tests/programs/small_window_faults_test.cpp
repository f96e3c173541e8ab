// Windows of small messages whose copies from or to a device the driver refuses: together, so that they are
// made one by one; or at all, which is an error of each message, and the next window arrives. Run by one
// thread, without a kernel that stands by.
#include <vector>

#include "tests/programs/test_messages.hpp"
#include "tests/support/faulty_driver/faulty_driver.hpp"

namespace penstock::programs {
namespace {

constexpr int window = 16;
constexpr int tag = 5;
constexpr int bytes = 8;

constexpr const char* no_launches = "cuLaunchKernel:701";
constexpr const char* no_copies = "cuLaunchKernel:701,cuMemcpyAsync:719";

enum class Expected { arrives, ends_in_errors };

class SmallWindowFaults : public testing::Test {
 protected:
  SmallWindowFaults()
      : sent_(MemoryKind::device, window * bytes), received_(MemoryKind::device, window * bytes) {}

  /// From rank 0 to rank 1; each has its faults from before it posts until all is over.
  void pass(std::uint64_t seed, const char* senders_faults, Expected at_sender, const char* receivers_faults,
            Expected at_receiver) {
    const Bytes before = payload(window * bytes, seed + 1);
    const Bytes content = payload(window * bytes, seed);
    (rank() == 0 ? sent_ : received_).write(rank() == 0 ? content : before);
    std::vector<MPI_Request> requests(window, MPI_REQUEST_NULL);
    int failed = 0;  // in the call itself
    MPI_Barrier(MPI_COMM_WORLD);
    faulty_driver_fail(rank() == 0 ? senders_faults : receivers_faults);
    for (int i = 0; i < window; ++i) {
      MPI_Request& request = requests[static_cast<std::size_t>(i)];
      const int code =
          rank() == 0
              ? MPI_Isend(sent_.data() + i * bytes, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request)
              : MPI_Irecv(received_.data() + i * bytes, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
      if (code == MPI_SUCCESS) continue;
      EXPECT_EQ(class_of(code), MPI_ERR_OTHER);
      request = MPI_REQUEST_NULL;
      ++failed;
    }
    if (rank() == 0 && failed == 0) expect(at_sender, requests);
    if (failed != 0) {
      EXPECT_EQ(failed, window);
      EXPECT_EQ(rank() == 0 ? at_sender : at_receiver, Expected::ends_in_errors);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // of what never left nothing comes
    if (rank() == 1 && at_sender == Expected::ends_in_errors) {
      for (MPI_Request& request : requests) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    } else if (rank() == 1) {
      expect(at_receiver, requests);
    }
    faulty_driver_fail("");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) return;
    const bool has_arrived = at_sender == Expected::arrives && at_receiver == Expected::arrives;
    EXPECT_EQ(received_.read(), has_arrived ? content : before);
    EXPECT_TRUE(received_.guard_is_intact());
  }
  void pass(std::uint64_t seed) { pass(seed, "", Expected::arrives, "", Expected::arrives); }

 private:
  static void expect(Expected expected, std::vector<MPI_Request>& requests) {
    std::vector<MPI_Status> statuses(requests.size());
    const int code = MPI_Waitall(window, requests.data(), statuses.data());
    EXPECT_EQ(class_of(code), expected == Expected::arrives ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
    if (code == MPI_SUCCESS) return;
    for (const MPI_Status& status : statuses) EXPECT_EQ(class_of(status.MPI_ERROR), MPI_ERR_OTHER);
  }

  Buffer sent_;
  Buffer received_;
  const ErrorsReturned errors_returned_;
};

TEST_F(SmallWindowFaults, of_launches_do_not_keep_messages_from_arriving) {
  if (rank() > 1) return;
  for (std::uint64_t seed = 0; seed < 3; ++seed) pass(seed);
  pass(10, no_launches, Expected::arrives, no_launches, Expected::arrives);
  pass(11);
}

TEST_F(SmallWindowFaults, of_all_copies_from_a_device_are_errors_of_the_sends) {
  if (rank() > 1) return;
  for (std::uint64_t seed = 0; seed < 3; ++seed) pass(seed);
  pass(10, no_copies, Expected::ends_in_errors, "", Expected::arrives);
  for (std::uint64_t seed = 20; seed < 23; ++seed) pass(seed);
}

TEST_F(SmallWindowFaults, of_all_copies_to_a_device_are_errors_of_the_receives) {
  if (rank() > 1) return;
  for (std::uint64_t seed = 0; seed < 3; ++seed) pass(seed);
  pass(10, "", Expected::arrives, no_copies, Expected::ends_in_errors);
  for (std::uint64_t seed = 20; seed < 23; ++seed) pass(seed);
}

}  // namespace
}  // namespace penstock::programs
