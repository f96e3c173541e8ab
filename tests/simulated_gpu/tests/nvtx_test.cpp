#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string>

namespace {

TEST(Nvtx, calls_reach_the_tool_that_the_environment_names) {
  setenv("NVTX_INJECTION64_PATH", NVTX_TOOL, 1);
  void* tool = dlopen(NVTX_TOOL, RTLD_NOW);
  ASSERT_NE(tool, nullptr) << dlerror();
  std::string log;
  reinterpret_cast<void (*)(std::string*)>(dlsym(tool, "log_into"))(&log);
  EXPECT_EQ(nvtxRangePushA("sweep"), 0);
  nvtxMarkA("here");
  EXPECT_EQ(nvtxRangePop(), 0);
  nvtxRangeEnd(nvtxRangeStartA("exchange"));
  EXPECT_EQ(log, "push sweep\nmark here\npop\nstart exchange\nend 5\n");
}

TEST(NvtxWithoutTool, calls_do_nothing) {
  unsetenv("NVTX_INJECTION64_PATH");
  EXPECT_EQ(nvtxRangePushA("sweep"), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(nvtxRangePop(), NVTX_NO_PUSH_POP_TRACKING);
}

}  // namespace
