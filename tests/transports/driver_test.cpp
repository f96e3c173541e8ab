// In a program that is not linked with CUDA.
#include "transports/cuda/driver.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "transports/machine.hpp"

namespace penstock::transports {
namespace {

TEST(Driver, is_left_alone_until_the_program_loads_it_and_used_once_it_initialises_it) {
  const int on_the_stack = 0;
  EXPECT_EQ(cuda::driver(), nullptr);
  EXPECT_FALSE(cuda_in_use());
  EXPECT_FALSE(has_context());
  EXPECT_FALSE(is_on_device(&on_the_stack));
  EXPECT_EQ(inspect(&on_the_stack).kind, BufferKind::pageable);
  ASSERT_EQ(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr) << "the test itself has loaded CUDA";

  void* library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (library == nullptr) GTEST_SKIP() << "no libcuda.so.1 on this machine";
  EXPECT_NE(cuda::driver(), nullptr);
  EXPECT_FALSE(cuda_in_use());
  EXPECT_FALSE(is_on_device(&on_the_stack));

  const auto initialise = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(library, "cuInit"));
  if (initialise(0) != CUDA_SUCCESS) GTEST_SKIP() << "no GPU on this machine";
  EXPECT_TRUE(cuda_in_use());
  EXPECT_FALSE(has_context()) << "asking made a context";

  shut_down();
  EXPECT_EQ(cuda::driver(), nullptr);
  EXPECT_FALSE(cuda_in_use());
}

}  // namespace
}  // namespace penstock::transports
