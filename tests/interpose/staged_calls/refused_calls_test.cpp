// Calls that take no device buffers return MPI_ERR_BUFFER through the right error handler when they are given
// one, and go on working with host buffers and managed memory.
#include <gtest/gtest.h>
#include <mpi.h>

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
};

TEST_F(RefusedCalls, buffers_for_buffered_sends) {
  EXPECT_REFUSED(MPI_Buffer_attach(device, 4096));
}

int calls_of_handler = 0;
void count_call(MPI_Comm*, int* code, ...) {
  calls_of_handler += class_of(*code) == MPI_ERR_UNSUPPORTED_OPERATION ? 1 : 0;
}

TEST_F(RefusedCalls, go_to_the_error_handler_of_what_they_are_called_on) {
  calls_of_handler = 0;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  MPI_Win window = MPI_WIN_NULL;
  const Memory of_a_pool(MemoryKind::async_pool, 64);
  EXPECT_EQ(class_of(MPI_Win_create(of_a_pool.data(), 64, 1, MPI_INFO_NULL, own, &window)),
            MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(calls_of_handler, 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

}  // namespace
}  // namespace penstock::test_support
