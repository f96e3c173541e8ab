// Dynamic windows that are the MPI library's: of ranks that use no GPU, also when a rank comes to use one;
// and, with the argument `out_of_reach`, of ranks that use one but may not read each other's memory.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/uio.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/gtest_exit_code.hpp"
#include "tests/support/job_exit_code.hpp"
#include "tests/support/memory.hpp"

namespace {

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

bool are_out_of_reach = false;

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

TEST(LibrarysDynamicWindows, take_host_memory_and_no_device_memory) {
  int rank = 0;
  int ranks = 0;
  const std::optional<Memory> used =
      are_out_of_reach ? std::optional<Memory>(std::in_place, MemoryKind::device, 64) : std::nullopt;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &ranks);
  MPI_Win window = MPI_WIN_NULL;
  if (MPI_Win_create_dynamic(MPI_INFO_NULL, own, &window) != MPI_SUCCESS)
    GTEST_SKIP() << "this MPI makes no windows here";
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  int word = -1;
  EXPECT_EQ(MPI_Win_attach(window, &word, sizeof word), MPI_SUCCESS);
  MPI_Aint address = 0;
  MPI_Get_address(&word, &address);
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(ranks));
  MPI_Allgather(&address, 1, MPI_AINT, addresses.data(), 1, MPI_AINT, own);
  const int next = (rank + 1) % ranks;
  MPI_Win_fence(0, window);
  EXPECT_EQ(MPI_Put(&rank, 1, MPI_INT, next, addresses[static_cast<std::size_t>(next)], 1, MPI_INT, window),
            MPI_SUCCESS);
  MPI_Win_fence(0, window);
  EXPECT_EQ(word, (rank + ranks - 1) % ranks);
  EXPECT_EQ(MPI_Win_detach(window, &word), MPI_SUCCESS);
  const Memory device(MemoryKind::device, 64);
  EXPECT_EQ(class_of(MPI_Win_attach(window, device.data(), 64)), MPI_ERR_BUFFER);
  MPI_Win_free(&window);
  MPI_Comm_free(&own);
}

}  // namespace

// The preload library calls these, as the kernel's settings of some containers would have it.
extern "C" ssize_t process_vm_readv(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                                    unsigned long) noexcept {
  errno = EPERM;
  return -1;
}
extern "C" ssize_t process_vm_writev(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                                     unsigned long) noexcept {
  errno = EPERM;
  return -1;
}

int main(int argument_count, char** arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  are_out_of_reach = argument_count > 1 && std::string_view(arguments[1]) == "out_of_reach";
  MPI_Init(&argument_count, &arguments);
  const int code = penstock::test_support::job_exit_code(penstock::test_support::run_all_tests());
  MPI_Finalize();
  return code;
}
