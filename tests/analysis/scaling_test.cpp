// Predictions for numbers of ranks that were not run: laws that are known, and simulated jobs that then
// really run on them. Times are ns.
#include "analysis/scaling/scaling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/layout/text_table.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/scaling/scaling_text.hpp"
#include "tests/analysis/simulated_job.hpp"

namespace penstock::analysis {
namespace {

using testing::Model;
using testing::RecordingBuilder;
using testing::simulate;
using testing::TemporaryDirectory;

using Law = double (*)(double ranks);

std::vector<ScalingSample> samples_of(Law law, const std::vector<double>& ranks, double noise = 0,
                                      std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> factor(1, noise == 0 ? 1e-12 : noise);
  std::vector<ScalingSample> samples;
  for (const double each : ranks) {
    const double value = law(each) * factor(random);
    samples.push_back({each, value, law(each)});
  }
  return samples;
}

double width_at(const ScalingFit& fit, double ranks) {
  const PredictedValue predicted = fit.at(ranks);
  return predicted.high - predicted.low;
}

TEST(ScalingFit, finds_each_law_again) {
  const Law laws[] = {[](double) { return 3.0; },
                      [](double p) { return 40 / p; },
                      [](double p) { return 2 + 40 / p; },
                      [](double p) { return 5 / std::cbrt(p * p); },
                      [](double p) { return 1 + 0.5 * std::log2(p); },
                      [](double p) { return 7 + 0.1 * p; },
                      [](double p) { return 2 * std::sqrt(p); }};
  for (const Law law : laws) {
    const ScalingFit fit(samples_of(law, {2, 4, 8, 16}));
    EXPECT_NEAR(fit.at(64).value, law(64), 1e-6 * law(64));
    EXPECT_LE(fit.at(64).low, law(64) * (1 + 1e-9));
    EXPECT_GE(fit.at(64).high, law(64) * (1 - 1e-9));
    EXPECT_LT(fit.left_out_error(), 1e-6);
  }
}

TEST(ScalingFit, noise_widens_the_interval) {
  const Law law = [](double p) { return 2 + 40 / p; };
  double before = 0;
  for (const double noise : {0.0, 0.005, 0.02, 0.08}) {
    double width = 0;
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
      width += width_at(ScalingFit(samples_of(law, {1, 2, 4, 8, 16}, noise, seed)), 64) / 50;
    }
    EXPECT_GT(width, 1.5 * before) << noise;
    before = width;
  }
}

TEST(ScalingFit, is_less_sure_the_further_it_looks) {
  const ScalingFit fit(samples_of([](double p) { return 1 + 0.5 * std::log2(p); }, {1, 2, 4, 8}, 0.02));
  EXPECT_LT(width_at(fit, 16), width_at(fit, 64));
  EXPECT_LT(width_at(fit, 64), width_at(fit, 1024));
}

/// 95 % is meant for noise alone; which law is true costs some.
TEST(ScalingFit, its_interval_holds_the_truth_nearly_always) {
  const Law laws[] = {[](double p) { return 2 + 40 / p; }, [](double p) { return 1 + 0.5 * std::log2(p); },
                      [](double p) { return 5 / std::cbrt(p * p); }, [](double p) { return 7 + 0.1 * p; }};
  for (const Law law : laws) {
    int held = 0;
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      const PredictedValue predicted = ScalingFit(samples_of(law, {1, 2, 4, 8, 16}, 0.02, seed)).at(64);
      held += predicted.low <= law(64) && law(64) <= predicted.high ? 1 : 0;
    }
    EXPECT_GE(held, 180);
  }
}

/// Kernels by `kernels_ns`, one rank slower than the others; a halo of constant size; reductions by a tree.
Model model_of(std::int32_t ranks, double kernels_ns, double noise = 0, std::uint32_t seed = 1) {
  std::mt19937 random(seed + static_cast<std::uint32_t>(ranks));
  std::normal_distribution<double> factor(1, noise == 0 ? 1e-12 : noise);
  Model model;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const double share = rank == ranks / 2 && ranks > 1 ? 1.15 : 1.0;
    model.kernel_ns.push_back(static_cast<std::uint64_t>(kernels_ns * share * factor(random)));
  }
  model.wire_ns = 30'000;
  model.reduction_ns = 5'000 + static_cast<std::uint64_t>(8'000 * std::log2(ranks));
  return model;
}

using KernelsOf = double (*)(std::int32_t ranks);
constexpr KernelsOf strong = [](std::int32_t ranks) { return 8e6 / ranks; };
constexpr KernelsOf weak = [](std::int32_t) { return 1e6; };

std::vector<Report> runs_on(const std::vector<std::int32_t>& rank_counts, KernelsOf kernels, double noise = 0,
                            std::uint32_t seed = 1) {
  std::vector<Report> reports;
  for (const std::int32_t ranks : rank_counts) {
    const TemporaryDirectory directory;
    for (const RecordingBuilder& each : simulate(model_of(ranks, kernels(ranks), noise, seed)).ranks) {
      each.write(directory.path());
    }
    reports.push_back(analyse(directory.path(), {.whole_run = true}));
  }
  return reports;
}

TEST(Scaling, of_simulated_jobs_is_predicted_as_they_turn_out_within_a_tenth) {
  for (const KernelsOf kernels : {strong, weak}) {
    const Scaling scaling = scale(runs_on({2, 4, 8, 16}, kernels), {32, 64});
    EXPECT_EQ(scaling.series, kernels == strong ? ScalingSeries::strong : ScalingSeries::weak);
    for (const ScalingForecast& each : scaling.forecasts) {
      const auto outcome_ns =
          static_cast<double>(simulate(model_of(each.ranks, kernels(each.ranks))).total_ns);
      EXPECT_NEAR(each.time_ns.value, outcome_ns, 0.1 * outcome_ns) << each.ranks;
      EXPECT_LE(each.time_ns.low, outcome_ns * 1.01);
      EXPECT_GE(each.time_ns.high, outcome_ns * 0.99);
    }
  }
}

TEST(Scaling, cuts_the_time_of_each_run_into_parts_without_rest) {
  const std::vector<Report> reports = runs_on({1, 2, 4}, strong);
  for (const ScalingRun& run : scale(reports, {8}).runs) {
    double sum_ns = 0;
    for (const double each : run.parts_ns) {
      sum_ns += each;
    }
    EXPECT_NEAR(sum_ns, run.time_ns, 1);
  }
}

TEST(Scaling, of_runs_that_vary_is_less_sure) {
  const auto width_with = [](double noise) {
    double width = 0;
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const PredictedValue predicted =
          scale(runs_on({2, 4, 8}, strong, noise, seed), {32}).forecasts[0].time_ns;
      width += (predicted.high - predicted.low) / predicted.value / 8;
    }
    return width;
  };
  EXPECT_GT(width_with(0.05), 2 * width_with(0));
}

TEST(Scaling, needs_three_numbers_of_ranks_and_says_so) {
  EXPECT_NE(why_no_scaling(runs_on({4}, strong)).find("there is one on 4"), std::string::npos);
  EXPECT_NE(why_no_scaling(runs_on({2, 4, 4}, strong)).find("there are some on 2, 4"), std::string::npos);
  EXPECT_EQ(why_no_scaling(runs_on({1, 2, 4}, strong)), "");
}

TEST(Scaling, of_one_run_says_what_is_lost_now_and_no_more) {
  const std::string words = efficiencies_in_words(runs_on({4}, strong).front());
  EXPECT_TRUE(words.starts_with("on 4 ranks the parallel efficiency is ")) << words;
  EXPECT_NE(words.find("not what more ranks would lose"), std::string::npos);
}

TEST(Scaling, is_neither_strong_nor_weak_where_the_work_grows_otherwise_and_has_no_efficiency_then) {
  const Scaling scaling =
      scale(runs_on({2, 4, 8}, [](std::int32_t ranks) { return 4e6 / std::sqrt(ranks); }), {16});
  EXPECT_EQ(scaling.series, ScalingSeries::neither);
  EXPECT_NEAR(scaling.work_exponent, -0.5, 0.05);
  EXPECT_FALSE(efficiency_of(scaling, 16, scaling.forecasts[0].time_ns.value));
}

TEST(Scaling, remarks_on_what_a_law_cannot_know) {
  const Scaling scaling = scale(runs_on({1, 2, 4}, strong), {1000});
  const std::string text = to_text(scaling, false);
  EXPECT_NE(text.find("1000 ranks are more than 16 times those of the largest run"), std::string::npos)
      << text;
  EXPECT_NE(text.find("a network between hosts is not included"), std::string::npos) << text;
}

TEST(Scaling, remarks_on_runs_of_different_programs_and_not_on_their_arguments) {
  std::vector<Report> reports = runs_on({1, 2, 4}, weak);
  const auto remarks = [&] { return fmt::format("{}", fmt::join(scale(reports, {8}).remarks, "\n")); };
  reports[0].program = "/home/me/solver --cells 100";
  reports[1].program = "./solver --cells 200";
  reports[2].program = "./solver --cells 400";
  EXPECT_EQ(remarks().find("programs differ"), std::string::npos) << remarks();
  reports[2].program = "./other --cells 400";
  EXPECT_NE(remarks().find("programs differ: other; solver"), std::string::npos) << remarks();
}

TEST(ScalingText, is_as_wide_as_the_terminal_and_shows_runs_and_forecasts) {
  const Scaling scaling = scale(runs_on({1, 2, 4, 8}, strong), {16, 128});
  for (const std::size_t columns : {90u, 100u, 160u}) {  // its numbers take 87
    std::size_t widest = 0;
    const std::string lines = to_text(scaling, false, columns);
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = lines.find('\n', begin);
      widest = std::max(widest, width_of(lines.substr(begin, end - begin)));
      begin = end + 1;
    }
    EXPECT_LE(widest, columns) << lines;
    EXPECT_GT(widest, columns - 20) << lines;
  }
  const std::string text = to_text(scaling, false);
  EXPECT_NE(text.find("strong scaling"), std::string::npos) << text;
  EXPECT_NE(text.find("\n128 predicted"), std::string::npos) << text;
  EXPECT_NE(text.find("\nkernels"), std::string::npos) << text;
}

TEST(ScalingJson, has_every_documented_key) {
  const nlohmann::json json = nlohmann::json::parse(to_json(scale(runs_on({1, 2, 4}, weak), {8})));
  EXPECT_EQ(json.at("schema"), "penstock-scale-1");
  EXPECT_EQ(json.at("series"), "weak");
  for (const char* key : {"program", "time_of", "measure", "work_exponent", "remarks"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  ASSERT_EQ(json.at("runs").size(), 3u);
  EXPECT_EQ(json.at("runs").at(0).at("ranks"), 1);
  EXPECT_GT(json.at("runs").at(0).at("parts_s").at("kernels"), 0.0);
  for (const char* key : {"part", "constant_s", "coefficient_s", "term", "left_out_error"}) {
    EXPECT_TRUE(json.at("laws").at(0).contains(key)) << key;
  }
  const nlohmann::json& forecast = json.at("forecasts").at(0);
  EXPECT_EQ(forecast.at("ranks"), 8);
  for (const char* key : {"value_s", "low_s", "high_s"}) {
    EXPECT_GT(forecast.at("time_s").at(key), 0.0) << key;
    EXPECT_TRUE(forecast.at("parts_s").at("wire").contains(key)) << key;
  }
  EXPECT_GT(forecast.at("efficiency"), 0.0);
}

}  // namespace
}  // namespace penstock::analysis
