// What GPUs used and why they were slow, from samples whose sums are known. Times are ms.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::GpuSampleWords;
using testing::RecordingBuilder;
using testing::report_on;

using testing::ms;

/// A rank that runs for 2 s, in 20 steps of 90 ms from 100 ms on.
RecordingBuilder rank_with_steps(std::int32_t rank, std::int32_t size) {
  RecordingBuilder builder(rank, size);
  builder.runs(0, 2000 * ms).kernel(0, 1900 * ms);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::uint64_t begin = (100 + 90 * step) * ms;
    builder.range("step", begin, begin + 90 * ms)
        .call({.function = "MPI_Allreduce",
               .begin = begin + 80 * ms,
               .end = begin + 85 * ms,
               .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
  }
  return builder;
}

/// Adds a sample each 100 ms from 0 to 2 s, of 300 W as the counter tells, changed as `change` says.
RecordingBuilder& add_samples(
    RecordingBuilder& builder, const GpuSampleWords& words = {},
    const std::function<void(GpuSampleWords&)>& change = [](GpuSampleWords&) {}) {
  for (std::uint64_t at = 0; at <= 2000; at += 100) {
    GpuSampleWords sample = words;
    sample.at = at * ms;
    sample.energy_mj = 5'000'000 + at * 300;
    change(sample);
    builder.gpu_sample(sample);
  }
  return builder;
}

Report report_of(const std::vector<RecordingBuilder>& ranks) {
  return report_on(ranks, {});
}

std::string text_of(const Report& report) {
  return to_text(report, {});
}

TEST(GpuPowerFigures, the_energy_of_the_steps_is_that_between_the_counters_at_their_ends) {
  RecordingBuilder rank = rank_with_steps(0, 1);
  add_samples(rank);
  const Report report = report_of({rank});
  ASSERT_TRUE(has_steps(report));
  ASSERT_EQ(report.gpu_power.size(), 1u);
  EXPECT_EQ(report.gpu_power[0].energy_mj, 1800u * 300);  // mJ/ms
  EXPECT_EQ(report.gpu_power[0].samples, 18u);
  EXPECT_DOUBLE_EQ(joules_per_step(report).value_or(0), 27.0);
  EXPECT_EQ(
      energy_text(report),
      "The GPU used 540 J in the steps, 27.0 J a step: 300 W on average, 300 W at most; the hottest had "
      "50 °C.");
  EXPECT_NE(text_of(report).find("The GPU used 540 J in the steps"), std::string::npos);
}

TEST(GpuPowerFigures, without_a_counter_energy_is_the_sum_of_power_over_time) {
  RecordingBuilder rank = rank_with_steps(0, 1);
  add_samples(rank, {}, [](GpuSampleWords& sample) {
    sample.energy_mj = 0;
    sample.power_mw = sample.at < 1000 * ms ? 200'000 : 400'000;
  });
  const Report report = report_of({rank});
  // 100 to 900 ms of 200 W, 100 ms of a line to 400 W, 900 ms of 400 W
  EXPECT_EQ(report.gpu_power.at(0).energy_mj, 160'000u + 30'000 + 360'000);
  EXPECT_EQ(report.gpu_power[0].most_power_mw, 400'000u);
}

TEST(GpuPowerFigures, a_throttled_GPU_is_named_below_the_headline_with_its_reason) {
  RecordingBuilder first = rank_with_steps(0, 2);
  RecordingBuilder second = rank_with_steps(1, 2);
  add_samples(first);
  add_samples(second, {.gpu = "0000:3b:00.0", .index = 1}, [](GpuSampleWords& sample) {
    if (sample.at < 1000 * ms) return;
    sample.throttle_reasons = trace::throttle::power_cap;
    sample.sm_mhz = 1200;
  });
  const Report report = report_of({first, second});
  ASSERT_EQ(report.gpu_power.size(), 2u);
  EXPECT_FALSE(is_throttled(report.gpu_power[0]));
  EXPECT_TRUE(is_throttled(report.gpu_power[1]));
  EXPECT_EQ(
      throttled_texts(report),
      std::vector<std::string>{"GPU 1 (rank 1) was throttled by its power limit for 50.0 % of the steps: "
                               "1,590 MHz on average, of 1,980 at most."});
  const std::string text = text_of(report);
  const std::size_t named = text.find("! GPU 1 (rank 1) was throttled by its power limit for 50.0 %");
  ASSERT_NE(named, std::string::npos) << text;
  EXPECT_LT(named, text.find("20 steps"));
}

TEST(GpuPowerFigures, heat_and_other_reasons_of_the_hardware_are_told_apart) {
  const auto text_for = [](std::uint64_t reasons) {
    RecordingBuilder rank = rank_with_steps(0, 1);
    add_samples(rank, {.throttle_reasons = reasons, .temperature_c = 92});
    const std::vector<std::string> texts = throttled_texts(report_of({rank}));
    return texts.empty() ? "" : texts[0].substr(0, texts[0].find(" for"));
  };
  EXPECT_EQ(text_for(trace::throttle::heat_by_hardware | trace::throttle::hardware),
            "GPU 0 (rank 0) was throttled by heat");
  EXPECT_EQ(text_for(trace::throttle::power_brake | trace::throttle::hardware),
            "GPU 0 (rank 0) was throttled by its power limit");
  EXPECT_EQ(text_for(trace::throttle::hardware), "GPU 0 (rank 0) was throttled by its hardware,");
  EXPECT_EQ(text_for(0x1 | 0x2 | 0x10 | 0x100), "");  // idle, clocks that were set, sync boost, a display
}

TEST(GpuPowerFigures, few_throttled_samples_are_not_named) {
  RecordingBuilder rank = rank_with_steps(0, 1);
  add_samples(rank, {}, [](GpuSampleWords& sample) {
    if (sample.at == 500 * ms || sample.at == 600 * ms) sample.throttle_reasons = trace::throttle::heat;
  });
  EXPECT_TRUE(throttled_texts(report_of({rank})).empty());
}

TEST(GpuPowerFigures, a_GPU_of_several_ranks_is_counted_once_but_GPUs_of_other_hosts_are_others) {
  RecordingBuilder first = rank_with_steps(0, 3);
  RecordingBuilder second = rank_with_steps(1, 3);
  RecordingBuilder elsewhere = rank_with_steps(2, 3);
  std::string("node02").copy(elsewhere.header().host_name, 6);
  add_samples(first);
  add_samples(second);
  add_samples(elsewhere, {.throttle_reasons = trace::throttle::heat});
  const Report report = report_of({first, second, elsewhere});
  ASSERT_EQ(report.gpu_power.size(), 2u);
  EXPECT_EQ(energy_of(report.gpu_power), 2u * 540'000);
  EXPECT_TRUE(throttled_texts(report).at(0).starts_with("GPU 0 of node02 (rank 2) was throttled by heat"));
}

TEST(GpuPowerFigures, energy_is_not_known_where_samples_are_too_few_or_miss_a_part) {
  RecordingBuilder few = rank_with_steps(0, 1);
  few.gpu_sample({.at = 50 * ms}).gpu_sample({.at = 1000 * ms}).gpu_sample({.at = 1950 * ms});
  EXPECT_EQ(energy_text(report_of({few})),
            "The energy of the steps is not known: it takes 10 samples of a GPU's power, and there is 1.");
  RecordingBuilder late = rank_with_steps(0, 1);
  add_samples(late, {}, [](GpuSampleWords& sample) { sample.at += 500 * ms; });
  EXPECT_EQ(energy_text(report_of({late})),
            "The energy of the steps is not known: power was not sampled all the time.");
  RecordingBuilder reset = rank_with_steps(0, 1);
  add_samples(reset, {}, [](GpuSampleWords& sample) {
    if (sample.at > 1000 * ms) sample.energy_mj = 7;
  });
  EXPECT_EQ(report_of({reset}).gpu_power.at(0).energy_mj, std::nullopt);
}

TEST(GpuPowerFigures, of_a_recorded_part_are_not_called_those_of_the_run) {
  const auto samples_of_part = [](RecordingBuilder rank) {
    add_samples(rank, {.throttle_reasons = trace::throttle::power_cap});
    rank.header().missing_from_ns = trace::nothing_missing;
    return rank.lost_until(599 * ms);
  };
  const Report steps = report_of({samples_of_part(rank_with_steps(0, 1))});
  ASSERT_TRUE(steps.recorded_part);
  EXPECT_NE(energy_text(steps).find(" in the recorded steps, "), std::string::npos) << energy_text(steps);
  EXPECT_NE(throttled_texts(steps).at(0).find("for 100.0 % of the recorded steps"), std::string::npos);

  const Report part = report_on({samples_of_part(rank_with_steps(0, 1))}, {.whole_run = true});
  EXPECT_TRUE(energy_text(part).starts_with("The GPU used 420 J in the recorded part: "))
      << energy_text(part);
  EXPECT_NE(throttled_texts(part).at(0).find("for 100.0 % of the recorded part"), std::string::npos);

  RecordingBuilder few = rank_with_steps(0, 1);
  few.gpu_sample({.at = 1000 * ms}).gpu_sample({.at = 1500 * ms});
  few.header().missing_from_ns = trace::nothing_missing;
  few.lost_until(599 * ms);
  EXPECT_EQ(
      energy_text(report_on({few}, {.whole_run = true})),
      "The energy of the recorded part is not known: it takes 10 samples of a GPU's power, and there are 2.");
}

TEST(GpuPowerFigures, why_there_is_no_power_is_one_line_and_older_recordings_say_nothing) {
  RecordingBuilder without = rank_with_steps(0, 1);
  without.fact("no_gpu_power", "libnvidia-ml.so.1 was not found");
  const Report report = report_of({without});
  EXPECT_NE(text_of(report).find(
                "Power and clocks of the GPUs were not recorded: libnvidia-ml.so.1 was not found."),
            std::string::npos);
  EXPECT_EQ(energy_text(report_of({rank_with_steps(0, 1)})), "");
}

TEST(GpuPowerFigures, are_in_the_JSON_with_null_for_what_is_not_known) {
  RecordingBuilder rank = rank_with_steps(0, 1);
  add_samples(rank, {.temperature_c = 0});
  const auto json = nlohmann::json::parse(to_json(report_of({rank})))["gpu_power"];
  EXPECT_DOUBLE_EQ(json["energy_j"], 540.0);
  EXPECT_DOUBLE_EQ(json["energy_per_step_j"], 27.0);
  EXPECT_EQ(json["throttled"], nlohmann::json::array());
  const auto& gpu = json["gpus"][0];
  EXPECT_EQ(gpu["pci_bus_id"], "0000:19:00.0");
  EXPECT_DOUBLE_EQ(gpu["mean_power_w"], 300.0);
  EXPECT_EQ(gpu["possible_sm_mhz"], 1980);
  EXPECT_EQ(gpu["throttled"], 0.0);
  EXPECT_EQ(gpu["hottest_c"], nullptr);
  const auto older = nlohmann::json::parse(to_json(report_of({rank_with_steps(0, 1)})))["gpu_power"];
  EXPECT_EQ(older["words"], nullptr);
  EXPECT_EQ(older["energy_j"], nullptr);
}

}  // namespace
}  // namespace penstock::analysis
