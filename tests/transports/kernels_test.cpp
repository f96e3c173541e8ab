// When the library's kernels can be launched in a context.
#include "transports/cuda/kernels.hpp"

#include <gtest/gtest.h>

#include "tests/transports/busy_stream.hpp"
#include "transports/cuda/context.hpp"
#include "transports/refusals.hpp"

namespace penstock::transports::test {
namespace {

/// One that nobody has used.
class NewContext {
 public:
  NewContext() {
    use_device(0);
    REQUIRE_CUDA(cuCtxCreate(&handle_, nullptr, 0, 0));
    context_ = cuda::Context::of(handle_);
  }
  ~NewContext() { REQUIRE_CUDA(cuCtxDestroy(handle_)); }
  NewContext(const NewContext&) = delete;
  NewContext& operator=(const NewContext&) = delete;
  [[nodiscard]] cuda::Context& get() const noexcept { return *context_; }

 private:
  CUcontext handle_ = nullptr;
  cuda::ContextRef context_;
};

TEST(Kernels, say_why_there_are_none) {
  use_device(0);
  ASSERT_NE(cuda::driver(), nullptr);
  cuda::Driver old = *cuda::driver();
  old.cuLibraryLoadData = nullptr;
  EXPECT_EQ(cuda::Kernels(&old).status().code(), Code::declined);
  cuda::Driver other = *cuda::driver();
  other.cuLibraryGetKernel = [](CUkernel*, CUlibrary, const char*) { return CUDA_ERROR_NOT_FOUND; };
  EXPECT_EQ(cuda::Kernels(&other).status().code(), Code::cuda_failed);
  EXPECT_EQ(cuda::Kernels(&other).status().detail(), CUDA_ERROR_NOT_FOUND);
  EXPECT_FALSE(cuda::Kernels(nullptr).status().ok());
}

TEST(Kernels, are_not_put_into_a_context_that_is_busy) {
  const NewContext context;
  {
    BusyStream busy(CU_STREAM_LEGACY);
    EXPECT_EQ(cuda::Kernels::ready_in(context.get()).code(), Code::declined);
  }
  {
    const OwnStream blocking(CU_STREAM_DEFAULT);
    BusyStream busy(blocking.handle());
    EXPECT_EQ(cuda::Kernels::ready_in(context.get()).code(), Code::declined);
  }
  EXPECT_TRUE(cuda::Kernels::ready_in(context.get()).ok());
  BusyStream busy(CU_STREAM_LEGACY);
  EXPECT_TRUE(cuda::Kernels::ready_in(context.get()).ok());
}

TEST(Kernels, are_said_to_be_missing_where_the_gpu_is_always_busy) {
  static_cast<void>(take_refusal());
  const NewContext context;
  {
    BusyStream busy(CU_STREAM_LEGACY);
    for (int attempt = 0; attempt < 2000; ++attempt)
      EXPECT_EQ(cuda::Kernels::ready_in(context.get()).code(), Code::declined);
  }
  EXPECT_EQ(take_refusal().status.code(), Code::declined);
  EXPECT_TRUE(take_refusal().status.ok());
  EXPECT_TRUE(cuda::Kernels::ready_in(context.get()).ok());
}

/// It may be spoilt by a question about the legacy stream.
TEST(Kernels, wait_for_the_end_of_a_capture) {
  const NewContext context;
  const OwnStream captured(CU_STREAM_DEFAULT);
  REQUIRE_CUDA(cuStreamBeginCapture(captured.handle(), CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(cuda::Kernels::ready_in(context.get()).code(), Code::declined);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(captured.handle(), &graph), CUDA_SUCCESS);
  REQUIRE_CUDA(cuGraphDestroy(graph));
  EXPECT_TRUE(cuda::Kernels::ready_in(context.get()).ok());
}

}  // namespace
}  // namespace penstock::transports::test
