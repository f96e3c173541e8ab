// What NCCL's names tell, and which kernels its calls issued. Times are ns from 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "analysis/joining/nccl_work.hpp"
#include "analysis/recording/nccl_names.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using testing::whole_report_on;

constexpr const char* all_reduce =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr const char* send_receive = "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE";

TEST(NcclNames, tell_which_kernels_are_nccls_and_what_they_do) {
  EXPECT_EQ(nccl_kind_of_kernel(all_reduce), NcclKind::all_reduce);
  EXPECT_EQ(nccl_kind_of_kernel("_Z33ncclDevKernel_AllReduce_Sum_f32_R4args"), NcclKind::all_reduce);
  EXPECT_EQ(nccl_kind_of_kernel(send_receive), NcclKind::send_receive);
  EXPECT_EQ(nccl_kind_of_kernel("_Z22ncclDevKernel_SendRecvP11ncclDevCommmP8ncclWork"),
            NcclKind::send_receive);
  EXPECT_EQ(nccl_kind_of_kernel("ncclDevKernel_SendRecv(ncclDevComm*, unsigned long)"),
            NcclKind::send_receive);
  EXPECT_EQ(nccl_kind_of_kernel("_Z99999999999999999999999ncclDevKernel_SendRecv"), NcclKind::send_receive);
  EXPECT_EQ(nccl_kind_of_kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), NcclKind::reduce_scatter);
  EXPECT_EQ(nccl_kind_of_kernel("ncclDevKernel_Reduce_Sum_u8_RING_LL"), NcclKind::reduce);
  EXPECT_EQ(nccl_kind_of_kernel("ncclDevKernel_Broadcast_RING_LL"), NcclKind::broadcast);
  EXPECT_EQ(nccl_kind_of_kernel("ncclKernel_AllGather_RING_LL_Sum_int8_t"), NcclKind::all_gather);
  EXPECT_EQ(nccl_kind_of_kernel("_Z32ncclSymkDevKernel_AllGather_LLMC20ncclSymkDevWorkArgs"),
            NcclKind::all_gather);
  EXPECT_EQ(nccl_kind_of_kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"),
            NcclKind::unknown);
  EXPECT_EQ(nccl_kind_of_kernel("ncclKernel"), NcclKind::unknown);
  EXPECT_EQ(nccl_kind_of_kernel("ncclDevKernel_none"), NcclKind::unknown);
  for (const char* others : {"", "_Z", "_Z12345", "stencil", "my_ncclDevKernel_AllReduce", "nccl"}) {
    EXPECT_EQ(nccl_kind_of_kernel(others), NcclKind::none) << others;
    EXPECT_FALSE(is_nccl_kernel(others)) << others;
  }
}

TEST(NcclNames, tell_which_functions_move_something) {
  EXPECT_EQ(nccl_kind_of_function("ncclAllReduce"), NcclKind::all_reduce);
  EXPECT_EQ(nccl_kind_of_function("ncclBcast"), NcclKind::broadcast);
  EXPECT_EQ(nccl_kind_of_function("ncclSend"), NcclKind::send_receive);
  EXPECT_EQ(nccl_kind_of_function("ncclRecv"), NcclKind::send_receive);
  EXPECT_EQ(nccl_kind_of_function("ncclAlltoAll"), NcclKind::alltoall);
  for (const char* others :
       {"ncclGroupEnd", "ncclCommInitRank", "ncclSendRecv", "ncclseveral", "AllReduce", "nccl", ""}) {
    EXPECT_EQ(nccl_kind_of_function(others), NcclKind::none) << others;
  }
}

TEST(NcclWork, a_call_that_another_makes_is_no_call_of_its_own) {
  const TemporaryDirectory directory;
  RecordingBuilder rank(0, 2);
  rank.runs(0, 1000).launches(100, 0);
  rank.nccl_call({.function = "ncclBcast", .begin = 10, .end = 30, .bytes = 8, .ordinal = 1})
      .nccl_call({.function = "ncclBroadcast", .begin = 12, .end = 28, .bytes = 8, .ordinal = 1})
      .launched_kernel(20, 40, 50, "ncclDevKernel_Broadcast_RING_LL");
  const RankTrace trace = load_rank(rank.write(directory.path()));
  const NcclWork work = nccl_work_of(trace);
  EXPECT_EQ(work.calls.size() + work.without_kernel.size(), 1u);
}

/// Whatever a damaged recording says, each call and each kernel is told once.
TEST(NcclWork, of_any_records_has_each_call_and_each_kernel_once) {
  const char* const functions[] = {"ncclGroupStart", "ncclGroupEnd",     "ncclAllReduce",   "ncclSend",
                                   "ncclRecv",       "ncclCommInitRank", "ncclCommInitAll", "?",
                                   "ncclBroadcast"};
  const char* const kernels[] = {all_reduce, send_receive, "ncclDevKernel_Generic", "stencil"};
  std::uint32_t state = 12345;
  const auto any = [&state](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  for (int round = 0; round < 200; ++round) {
    const TemporaryDirectory directory;
    RecordingBuilder rank(0, 2);
    rank.runs(0, 1000);
    std::uint64_t nccls = 0;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t begin = any(900);
      const std::uint64_t end = begin + any(90);
      rank.launches(any(3), 0);
      if (any(3) != 0) {
        rank.nccl_call({.function = functions[any(std::size(functions))],
                        .begin = begin,
                        .end = end,
                        .communicator = any(3),
                        .bytes = any(2) == 0 ? std::optional<std::uint64_t>{} : ~std::uint64_t{0} - any(3),
                        .ordinal = any(3),
                        .peer = static_cast<std::int32_t>(any(4)) - 1,
                        .ranks = static_cast<std::int32_t>(any(4)) - 1,
                        .rank = static_cast<std::int32_t>(any(4)) - 1});
      } else {
        const std::uint32_t which = any(std::size(kernels));
        nccls += which < 3 ? 1 : 0;
        rank.launched_kernel(begin, begin + any(9), begin + 10 + any(90), kernels[which]);
      }
    }
    const RankTrace trace = load_rank(rank.write(directory.path()));
    const NcclWork work = nccl_work_of(trace);
    std::vector<std::uint32_t> calls;
    for (const auto* list : {&work.calls, &work.without_kernel}) {
      for (const NcclCallFacts& each : *list) {
        calls.push_back(each.call);
      }
    }
    std::vector<std::uint32_t> of_kernels;
    for (const NcclKernelFacts& each : work.kernels) {
      of_kernels.push_back(each.kernel);
      ASSERT_LE(each.first_call + each.calls, work.calls.size());
    }
    for (std::vector<std::uint32_t>* list : {&calls, &of_kernels}) {
      std::sort(list->begin(), list->end());
      ASSERT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
    }
    ASSERT_EQ(of_kernels.size(), nccls);
    static_cast<void>(to_text(whole_report_on({rank}), {}));
  }
}

}  // namespace
}  // namespace penstock::analysis
