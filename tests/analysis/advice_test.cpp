// What is advised for which figures. Times are ns.
#include "analysis/report/conclusions/advice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/report.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

std::uint64_t& of(TimeByCause& times, Cause cause) {
  return times[static_cast<std::size_t>(cause)];
}

using testing::ms;

Report two_ranks() {
  Report report;
  report.counted_ranks = 2;
  report.total_ns = 2000 * ms;
  report.counted_ns = 400 * ms;
  return report;
}

CallSiteFigures site(const char* function, Cause cause, std::uint64_t time_ns) {
  CallSiteFigures figures;
  figures.mpi_function = function;
  figures.function = "exchange";
  figures.file = "halo.cpp";
  figures.line = 12;
  figures.counted_ns = time_ns;
  of(figures.by_cause, cause) = time_ns;
  return figures;
}

TransportFigures device_messages(trace::TransportKind transport, double gbps, const char* reason) {
  TransportFigures figures;
  figures.source = figures.destination = trace::BufferKind::device;
  figures.size_limit_bytes = 1 << 20;
  figures.transport = transport;
  figures.reason = reason;
  figures.messages = 1200;
  figures.median_gbps = gbps;
  return figures;
}

TEST(Advice, a_slow_transport_is_named_with_its_reason_and_what_the_faster_one_would_save) {
  Report report = two_ranks();
  TransportFigures slow = device_messages(trace::TransportKind::staged, 10, "peer access is off");
  of(slow.by_cause, Cause::staging) = 80 * ms;
  of(slow.by_cause, Cause::late_sender) = 500 * ms;  // no transport helps against that
  report.transports = {slow, device_messages(trace::TransportKind::peer, 40, "peer access")};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::better_transport);
  EXPECT_EQ(advice[0].saves_ns, 60 * ms);
  EXPECT_EQ(advice[0].list, "transports");
  EXPECT_EQ(advice[0].row, 0u);
  EXPECT_EQ(advice[0].text,
            "1,200 messages device → device of ≤ 1 MiB went by staged: peer access is off. 1,200 of that "
            "size went by peer at 40.0 GB/s instead of 10.0.");
}

TransportFigures small_messages(trace::TransportKind transport, std::uint64_t bytes, double time_us,
                                const char* reason) {
  TransportFigures figures = device_messages(transport, static_cast<double>(bytes) / time_us / 1000, reason);
  figures.size_limit_bytes = 1024;
  figures.bytes = figures.messages * bytes;
  return figures;
}

TEST(Advice, compares_small_messages_by_their_times) {
  Report report = two_ranks();
  TransportFigures slow = small_messages(trace::TransportKind::staged, 8, 50, "peer access is off");
  of(slow.by_cause, Cause::staging) = 80 * ms;
  report.transports = {slow, small_messages(trace::TransportKind::peer, 1000, 25, "peer access")};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_NEAR(static_cast<double>(advice[0].saves_ns), 40 * ms, 10);
  EXPECT_EQ(advice[0].text,
            "1,200 messages device → device of ≤ 1 KiB went by staged: peer access is off. 1,200 of that "
            "size went by peer in 25.0 µs each instead of 50.0 µs.");
}

TEST(Advice, expects_no_less_time_than_the_others_take_though_they_are_larger) {
  Report report = two_ranks();
  TransportFigures slow = device_messages(trace::TransportKind::staged, 1, "peer access is off");
  of(slow.by_cause, Cause::staging) = 80 * ms;
  slow.bytes = slow.messages * 100'000;
  TransportFigures larger = device_messages(trace::TransportKind::peer, 40, "peer access");
  larger.bytes = larger.messages * 1'000'000;
  report.transports = {slow, larger};
  ASSERT_EQ(advise(report).size(), 1u);
  EXPECT_NEAR(static_cast<double>(advise(report)[0].saves_ns), 60 * ms, 10);  // 25 µs each, not 2.5
}

TEST(Advice, of_small_messages_that_go_the_fastest_way_is_to_join_them) {
  Report report = two_ranks();
  TransportFigures eager =
      small_messages(trace::TransportKind::staged, 8, 100, "eager: smaller than 64 bytes");
  of(eager.by_cause, Cause::staging) = 80 * ms;
  report.transports = {eager, small_messages(trace::TransportKind::peer, 1000, 25, "peer access")};
  std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::join_messages);
  report.transports[0].is_part = true;  // nothing helps
  report.transports[0].reason = "small: faster through the MPI library";
  EXPECT_TRUE(advise(report).empty());
}

TEST(Advice, of_messages_within_a_shared_gpu_says_what_helps) {
  Report report = two_ranks();
  TransportFigures staged = device_messages(
      trace::TransportKind::staged, 10, "a copy within a GPU waits for the kernels of the other rank on it");
  of(staged.by_cause, Cause::staging) = 80 * ms;
  report.transports = {staged};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].text,
            "1,200 messages device → device of ≤ 1 MiB went by staged: a copy within a GPU waits for the "
            "kernels of the other rank on it. Give each rank a GPU of its own.");
  EXPECT_EQ(title_of(advice[0]), "Give each rank a GPU of its own");
}

TEST(Advice, says_what_helps_against_a_reason) {
  Report report = two_ranks();
  report.transports = {device_messages(trace::TransportKind::staged, 10, "")};
  of(report.transports[0].by_cause, Cause::staging) = 80 * ms;
  for (const auto& [reason, remedy, title] : {
           std::array{"small, and ranks share a GPU, where their kernels and copies take turns",
                      "Give each rank a GPU of its own.", "Give each rank a GPU of its own"},
           std::array{"MPI_Sendrecv_replace sends a copy", "MPI_Sendrecv with two buffers needs none.",
                      "Exchange by MPI_Sendrecv with two buffers"},
           std::array{
               "non-blocking, and no blocking collective on this communicator has prepared for it",
               "Call a blocking collective with buffers on the GPU on it once, before the first of these.",
               "Prepare the communicator by a blocking collective"},
           std::array{"sender's payload is not contiguous", "Pack it into contiguous memory first.",
                      "Send contiguous memory"},
       }) {
    report.transports[0].reason = reason;
    const std::vector<Advice> advice = advise(report);
    ASSERT_EQ(advice.size(), 1u) << reason;
    EXPECT_TRUE(advice[0].text.ends_with(std::string(": ") + reason + ". " + remedy)) << advice[0].text;
    EXPECT_EQ(title_of(advice[0]), title);
    EXPECT_TRUE(advice[0].names_action);
  }
}

TEST(Advice, that_names_no_action_is_not_the_first_of_the_headline) {
  Report report = two_ranks();
  TransportFigures staged = device_messages(trace::TransportKind::staged, 10, "for no known reason");
  of(staged.by_cause, Cause::staging) = 80 * ms;
  report.transports = {staged};
  ASSERT_EQ(advise(report).size(), 1u);
  EXPECT_FALSE(advise(report)[0].names_action);
  report.advice = {{.kind = AdviceKind::better_transport,
                    .saves_ns = 900 * ms,
                    .uncertainty_ns = ms,
                    .names_action = false},
                   {.kind = AdviceKind::host_code, .saves_ns = 500 * ms, .uncertainty_ns = ms}};
  EXPECT_NE(headline_of(report).text.find("First advice: shorten host code"), std::string::npos)
      << headline_of(report).text;
  report.transports.push_back(device_messages(trace::TransportKind::peer, 40, "peer access"));
  EXPECT_TRUE(advise(report).at(0).names_action) << "others of that size went faster";
}

TEST(Advice, of_memory_that_cannot_be_shared_names_the_setting_of_its_allocator) {
  Report report = two_ranks();
  TransportFigures staged = device_messages(trace::TransportKind::staged, 10,
                                            "sender's memory is mapped by cuMemMap and cannot be exported");
  of(staged.by_cause, Cause::staging) = 80 * ms;
  report.transports = {staged};
  const std::string of_any_program =
      "1,200 messages device → device of ≤ 1 MiB went by staged: sender's memory is mapped by cuMemMap and "
      "cannot be exported. Memory of cudaMalloc can be.";
  EXPECT_EQ(advise(report).at(0).text, of_any_program);
  report.facts.allocators = "CuPy, PyTorch";
  EXPECT_EQ(advise(report).at(0).text,
            of_any_program + " PyTorch takes it with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False.");
}

TEST(Advice, has_a_title_that_says_what_its_text_says) {
  Report report = two_ranks();
  report.replay.emplace();
  report.replay->observed_ns = report.replay->replayed_ns = 1000 * ms;
  report.replay->changes = {
      {.kind = AdviceKind::balance_ranks, .total_ns = 800 * ms, .rank = 1, .time_ns = 9, .others_ns = 5},
      {.kind = AdviceKind::overlap, .total_ns = 900 * ms, .calls = {"MPI_Wait at x"}, .kernel = "stencil"}};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(title_of(advice[0]), "Balance the kernels");
  for (const Advice& each : advice) {
    EXPECT_TRUE(each.text.starts_with(std::string(title_of(each)) + ":")) << each.text;
  }
}

TEST(Advice, to_overlap_is_less_certain_where_ranks_share_a_gpu) {
  Report report = two_ranks();
  report.replay.emplace();
  report.replay->observed_ns = report.replay->replayed_ns = 1000 * ms;
  report.replay->changes = {
      {.kind = AdviceKind::overlap, .total_ns = 900 * ms, .calls = {"MPI_Wait at x"}, .kernel = "stencil"}};
  report.placement = {{.rank = 0, .host = "a", .gpus = {"0000:01:00.0"}},
                      {.rank = 1, .host = "a", .gpus = {"0000:02:00.0"}}};
  const std::vector<Advice> apart = advise(report);
  ASSERT_EQ(apart.size(), 1u);
  EXPECT_EQ(apart[0].uncertainty_ns, apart[0].saves_ns / 20);
  report.placement[1].gpus = report.placement[0].gpus;
  const std::vector<Advice> shared = advise(report);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].saves_ns, apart[0].saves_ns);
  EXPECT_EQ(shared[0].uncertainty_ns, apart[0].saves_ns / 20 * 13);
  EXPECT_EQ(shared[0].text, apart[0].text + " It hides less where ranks share a GPU.");
}

TEST(Advice, host_memory_is_expected_to_go_by_the_mpi_library) {
  Report report = two_ranks();
  TransportFigures host = device_messages(trace::TransportKind::mpi, 10, "");
  host.source = host.destination = trace::BufferKind::pageable;
  of(host.by_cause, Cause::wire) = 80 * ms;
  report.transports = {host};
  EXPECT_TRUE(advise(report).empty());
}

TEST(Advice, messages_that_were_copied_aside_ask_for_earlier_receives) {
  Report report = two_ranks();
  TransportFigures late = device_messages(trace::TransportKind::staged, 10, "receiver was late");
  of(late.by_cause, Cause::staging) = 80 * ms;
  report.transports = {late};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::post_receives_early);
}

TEST(Advice, a_wait_for_the_own_gpu_is_no_wait_for_the_network) {
  Report report = two_ranks();
  report.call_sites = {site("MPI_Waitall", Cause::gpu_not_ready, 40 * ms)};
  report.call_sites[0].gpu_wait_ns = 100 * ms;
  report.kernels = {{"stencil", 10, 500 * ms, 0, 0, ""}};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::waits_for_kernel);
  EXPECT_EQ(advice[0].saves_ns, 40 * ms);
  EXPECT_EQ(advice[0].text,
            "MPI_Waitall at exchange (halo.cpp:12) waits for a kernel, not for the network: 50.0 ms a rank, "
            "20.0 ms of "
            "it exposed. First compute the data to be sent, in a separate kernel.");
}

TEST(Advice, a_wait_for_the_own_gpu_names_no_kernel_where_none_was_recorded) {
  Report report = two_ranks();
  report.call_sites = {site("MPI_Waitall", Cause::gpu_not_ready, 40 * ms)};
  report.call_sites[0].gpu_wait_ns = 100 * ms;
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(
      advice[0].text,
      "MPI_Waitall at exchange (halo.cpp:12) waits for earlier work on the GPU, not for the network: "
      "50.0 ms a rank, 20.0 ms of it exposed. No kernel was recorded: it is copies, memsets, or another "
      "process's work.");
}

TEST(Advice, staging_by_hand_is_worth_the_copies_that_nothing_hides) {
  Report report = two_ranks();
  report.hand_staging = {{"MPI_Send at exchange (halo.cpp:12)", 1000, 4096 * 1000, 100 * ms, 60 * ms}};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::pass_device_pointers);
  EXPECT_EQ(advice[0].saves_ns, 60 * ms);
}

TEST(Advice, the_rank_that_others_wait_for_is_named_with_what_it_does) {
  Report report = two_ranks();
  PeerFigures peer;
  peer.rank = 1;
  of(peer.by_cause, Cause::collective_wait) = 90 * ms;
  report.peers = {peer};
  report.late_ranks = {{1, "MPI_Allreduce", "norm (cg.cpp:7)", 10, 100 * ms, 70 * ms, 10 * ms, "spmv"},
                       {1, "MPI_Barrier", "main (cg.cpp:1)", 1, 1 * ms, 0, 0, ""}};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::balance_ranks);
  EXPECT_EQ(advice[0].saves_ns, 90 * ms);
  EXPECT_EQ(
      advice[0].text,
      "Other ranks wait for rank 1 at MPI_Allreduce at norm (cg.cpp:7): it arrives 10 times, on average 10.0 "
      "ms "
      "after the first rank. "
      "It spends that time in kernels (70.0 %, mostly spmv), host code (20.0 %), other MPI calls (10.0 %).");
}

TEST(Advice, a_rank_that_is_late_once_in_host_code_alone_is_said_to_be_so) {
  Report report = two_ranks();
  PeerFigures peer;
  peer.rank = 1;
  of(peer.by_cause, Cause::collective_wait) = 9 * ms;
  report.peers = {peer};
  report.late_ranks = {{1, "MPI_Barrier", "main (cg.cpp:1)", 1, 9 * ms, 0, 0, ""}};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].text,
            "Other ranks wait for rank 1 at MPI_Barrier at main (cg.cpp:1): it arrives once, 9.00 ms after "
            "the first "
            "rank. It spends that time in host code (100.0 %).");
}

TEST(Advice, a_partner_that_sends_late_is_compared_with_the_others) {
  Report report = two_ranks();
  PeerFigures peer;
  peer.rank = 1;
  of(peer.by_cause, Cause::late_sender) = 90 * ms;
  report.peers = {peer};
  report.ranks.resize(2);
  report.ranks[0].rank = 0;
  report.ranks[1].rank = 1;
  report.ranks[0].kernels_known = report.ranks[1].kernels_known = true;
  report.ranks[0].kernels_ns = 100;
  report.ranks[1].kernels_ns = 300;
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].text,
            "Others wait for rank 1: 90.0 ms for it to send. Its kernels run 150.0 % of the mean.");
}

TEST(Advice, a_blocking_call_behind_a_kernel_could_run_beside_it) {
  Report report = two_ranks();
  report.call_sites = {site("MPI_Sendrecv", Cause::wire, 80 * ms)};
  report.kernels = {{"bulk", 100, 90 * ms, 30 * ms, 80 * ms, "exchange (halo.cpp:12)"}};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::overlap);
  EXPECT_EQ(advice[0].saves_ns, 60 * ms);  // of the kernel, what hides nothing yet
  EXPECT_NE(advice[0].text.find("blocks for 40.0 ms a rank"), std::string::npos) << advice[0].text;
}

TEST(Advice, comes_in_the_order_of_what_it_saves_and_trifles_are_left_out) {
  Report report = two_ranks();
  report.call_sites = {site("MPI_Recv", Cause::gpu_not_ready, 3 * ms),
                       site("MPI_Wait", Cause::gpu_not_ready, 50 * ms),
                       site("MPI_Send", Cause::gpu_not_ready, 20 * ms)};
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(advice[0].saves_ns, 50 * ms);
  EXPECT_EQ(advice[1].saves_ns, 20 * ms);
}

TEST(Advice, missing_progress_names_the_setting) {
  Report report = two_ranks();
  of(report.by_cause, Cause::missing_progress) = 100 * ms;
  const std::vector<Advice> advice = advise(report);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::progress_thread);
  EXPECT_NE(advice[0].text.find("PENSTOCK_PROGRESS=thread"), std::string::npos);
}

TEST(Advice, is_not_given_where_kernels_are_not_known) {
  Report report = two_ranks();
  of(report.by_cause, Cause::missing_progress) = 100 * ms;
  report.measure = Measure::communication_time;
  EXPECT_TRUE(advise(report).empty());
}

}  // namespace
}  // namespace penstock::analysis
