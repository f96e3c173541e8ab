// Calls that take no device buffers return MPI_ERR_BUFFER through the right error handler when they are given
// one, and go on working with host buffers and managed memory.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

#define EXPECT_REFUSED(call) EXPECT_EQ(class_of(call), MPI_ERR_BUFFER) << #call

class RefusedCalls : public testing::Test {
 protected:
  RefusedCalls() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  ~RefusedCalls() override {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  }
  Memory memory{MemoryKind::device, 4096};
  void* device = memory.data();
  std::array<int, 1024> host{};
};

class RefusedWindows : public RefusedCalls {
 protected:
  void SetUp() override {
    // Open MPI 4.1 has no one-sided communication over some transports
    if (MPI_Win_create(host.data(), sizeof host, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window) !=
        MPI_SUCCESS) {
      GTEST_SKIP() << "this MPI makes no windows here";
    }
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
  }
  void TearDown() override {
    if (window == MPI_WIN_NULL) return;
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  }
  MPI_Win window = MPI_WIN_NULL;
};

TEST_F(RefusedWindows, one_sided_calls_with_device_origins) {
  EXPECT_REFUSED(MPI_Put(device, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
  EXPECT_REFUSED(MPI_Get(device, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
  EXPECT_REFUSED(MPI_Accumulate(device, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window));
  EXPECT_REFUSED(
      MPI_Get_accumulate(host.data(), 1, MPI_INT, device, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window));
  EXPECT_REFUSED(MPI_Fetch_and_op(device, host.data(), MPI_INT, 0, 0, MPI_SUM, window));
  EXPECT_REFUSED(MPI_Compare_and_swap(host.data(), device, host.data(), MPI_INT, 0, 0, window));
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_REFUSED(MPI_Rput(device, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request));
  EXPECT_REFUSED(MPI_Rget(device, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request));
  EXPECT_REFUSED(MPI_Raccumulate(device, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window, &request));
}

TEST_F(RefusedWindows, one_sided_calls_with_absolute_device_addresses) {
  MPI_Aint address = 0;
  MPI_Get_address(device, &address);
  const int length = 1;
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  EXPECT_REFUSED(MPI_Put(MPI_BOTTOM, 1, absolute, 0, 0, 1, MPI_INT, window));
  MPI_Type_free(&absolute);
}

TEST_F(RefusedWindows, one_sided_calls_with_absolute_addresses_only_in_part_on_a_device) {
  int on_host = 0;
  const Memory managed(MemoryKind::managed, 64);
  const std::array<int, 2> lengths{1, 1};
  std::array<MPI_Aint, 2> addresses{};
  MPI_Get_address(&on_host, addresses.data());
  for (const Memory* other : {&managed, static_cast<const Memory*>(&memory)}) {
    MPI_Get_address(other->data(), &addresses[1]);
    MPI_Datatype absolute = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, lengths.data(), addresses.data(), MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    if (other == &managed) {
      EXPECT_EQ(MPI_Put(MPI_BOTTOM, 1, absolute, MPI_PROC_NULL, 0, 2, MPI_INT, window), MPI_SUCCESS);
    } else {
      EXPECT_REFUSED(MPI_Put(MPI_BOTTOM, 1, absolute, MPI_PROC_NULL, 0, 2, MPI_INT, window));
    }
    MPI_Type_free(&absolute);
  }
}

TEST_F(RefusedWindows, but_not_with_host_origins) {
  int value = 7;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, rank, 3, 1, MPI_INT, window), MPI_SUCCESS);
  MPI_Win_fence(0, window);
  EXPECT_EQ(host[3], 7);
}

TEST_F(RefusedCalls, windows_on_device_memory) {
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_REFUSED(MPI_Win_create(device, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  if (MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window) != MPI_SUCCESS) {
    GTEST_SKIP() << "this MPI makes no windows here";
  }
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  EXPECT_REFUSED(MPI_Win_attach(window, device, 64));
  MPI_Win_free(&window);
}

TEST_F(RefusedCalls, buffers_for_buffered_sends) {
  EXPECT_REFUSED(MPI_Buffer_attach(device, 4096));
}

TEST_F(RefusedCalls, split_collective_file_calls) {
  MPI_File file = MPI_FILE_NULL;
  std::array<char, 64> name{};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::snprintf(name.data(), name.size(), "/tmp/penstock-refused-%d-%d", rank, static_cast<int>(::getpid()));
  ASSERT_EQ(MPI_File_open(MPI_COMM_SELF, name.data(),
                          MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
            MPI_SUCCESS);
  EXPECT_REFUSED(MPI_File_write_all_begin(file, device, 4, MPI_INT));
  EXPECT_REFUSED(MPI_File_read_at_all_begin(file, 0, device, 4, MPI_INT));
  MPI_File_close(&file);
}

int calls_of_handler = 0;
void count_call(MPI_Comm*, int* code, ...) {
  calls_of_handler += class_of(*code) == MPI_ERR_BUFFER ? 1 : 0;
}

TEST_F(RefusedCalls, go_to_the_error_handler_of_what_they_are_called_on) {
  calls_of_handler = 0;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_REFUSED(MPI_Win_create(device, 64, 1, MPI_INFO_NULL, own, &window));
  EXPECT_EQ(calls_of_handler, 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

#if MPI_VERSION >= 4
TEST_F(RefusedCalls, partitioned_messages) {
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_REFUSED(MPI_Psend_init(device, 2, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  EXPECT_REFUSED(MPI_Precv_init(device, 2, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
}
#endif

}  // namespace
}  // namespace penstock::test_support
