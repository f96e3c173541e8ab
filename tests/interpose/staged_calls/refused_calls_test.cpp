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

}  // namespace
}  // namespace penstock::test_support
