#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <string>

#include "support.hpp"

using simulated_gpu::test::in_child;

namespace {

// Each in a child process: a tool stays for good.

TEST(Nvtx, calls_reach_the_tool_that_the_environment_names) {
  in_child({{"NVTX_INJECTION64_PATH", NVTX_TOOL}}, [] {
    void* tool = dlopen(NVTX_TOOL, RTLD_NOW);
    ASSERT_NE(tool, nullptr) << dlerror();
    std::string log;
    reinterpret_cast<void (*)(std::string*)>(dlsym(tool, "log_into"))(&log);
    EXPECT_EQ(nvtxRangePushA("sweep"), 0);
    nvtxMarkA("here");
    EXPECT_EQ(nvtxRangePop(), 0);
    nvtxRangeEnd(nvtxRangeStartA("exchange"));
    EXPECT_EQ(log, "push sweep\nmark here\npop\nstart exchange\nend 5\n");
  });
}

TEST(Nvtx, calls_without_a_tool_do_nothing) {
  in_child({{"NVTX_INJECTION64_PATH", ""}}, [] {
    EXPECT_EQ(nvtxRangePushA("sweep"), NVTX_NO_PUSH_POP_TRACKING);
    EXPECT_EQ(nvtxRangePop(), NVTX_NO_PUSH_POP_TRACKING);
  });
}

}  // namespace
