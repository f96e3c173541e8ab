// Pinned memory that goes out of use.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "tests/transports/busy_stream.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "transports/device_memory/pinnable_mapping.hpp"

namespace penstock::transports::test {
namespace {

using cuda::PinnableMapping;

class PinnableMappings : public testing::Test {
 protected:
  PinnableMappings() : context_((use_device(0), cuda::Context::any())), mapping_(HostMapping(1u << 20, -1)) {
    EXPECT_TRUE(mapping_->pin(context_));
  }
  [[nodiscard]] static bool is_pinned(char* address) {
    unsigned flags = 0;
    return cuMemHostGetFlags(&flags, address) == CUDA_SUCCESS;
  }
  cuda::ContextRef context_;
  std::optional<PinnableMapping> mapping_;
};

TEST_F(PinnableMappings, are_unpinned_at_once_while_the_gpu_is_quiet) {
  char* const address = mapping_->address();
  EXPECT_TRUE(is_pinned(address));
  mapping_.reset();
  EXPECT_FALSE(is_pinned(address));
}

/// The call would not return if it waited for the GPU's work.
TEST_F(PinnableMappings, are_unpinned_later_while_the_gpu_works) {
  char* const address = mapping_->address();
  {
    const BusyStream busy(CU_STREAM_LEGACY);
    mapping_.reset();
    PinnableMapping::free_unused();
    EXPECT_TRUE(is_pinned(address));
    std::memset(address, 1, 1u << 20);  // what the GPU still copies has a place
  }
  PinnableMapping::free_unused();
  EXPECT_FALSE(is_pinned(address));
}

TEST_F(PinnableMappings, that_were_never_pinned_go_at_once) {
  PinnableMapping unpinned(HostMapping(4096, -1));
  const BusyStream busy(CU_STREAM_LEGACY);
  const PinnableMapping moved(std::move(unpinned));
  EXPECT_EQ(moved.bytes(), 4096u);
}

}  // namespace
}  // namespace penstock::transports::test
