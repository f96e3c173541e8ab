#include "analysis/scaling/scaling_law.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/tables/confidence.hpp"

namespace penstock::analysis {
namespace {

constexpr std::array<ScalingTerm, 6> terms{{
    {"/p", [](double ranks) { return 1 / ranks; }},
    {"/p^⅔", [](double ranks) { return 1 / std::cbrt(ranks * ranks); }},
    {"/√p", [](double ranks) { return 1 / std::sqrt(ranks); }},
    {"·log₂ p", [](double ranks) { return std::log2(ranks); }},
    {"·√p", [](double ranks) { return std::sqrt(ranks); }},
    {"·p", [](double ranks) { return ranks; }},
}};

/// A law with fewer coefficients is chosen if its error is at most this times the best one's.
constexpr double as_good = 1.1;
/// A law is plausible if it misses what was left out, or what it was fitted to, by at most this times what
/// the best one misses, or by this share. (The latter because with few samples, even the true law may miss
/// what was left out.) With these values 95 % of truths lay within the interval with five numbers of ranks
/// and noise of 1 to 5 %, 89 to 98 % with four; with three and 5 % of noise 79 to 97 %, in intervals several
/// times as wide as the value.
constexpr double could_be = 2.0;
constexpr double could_be_share = 0.002;

}  // namespace

std::span<const ScalingTerm> scaling_terms() noexcept {
  return terms;
}

double ScalingLaw::at(double ranks) const {
  return constant + (coefficient == 0 ? 0 : coefficient * terms[term].of(ranks));
}

/// Fits by weighted least squares. Returns false if the samples do not determine the coefficients.
bool ScalingFit::fit(Candidate& candidate, const std::vector<ScalingSample>& samples) {
  double ones = 0;
  double xs = 0;
  double xxs = 0;
  double ys = 0;
  double xys = 0;
  for (const ScalingSample& each : samples) {
    const double weight = 1 / (each.noise * each.noise);
    const double x = terms[candidate.law.term].of(each.ranks);
    ones += weight;
    xs += weight * x;
    xxs += weight * x * x;
    ys += weight * each.value;
    xys += weight * x * each.value;
  }
  ScalingLaw& law = candidate.law;
  law.constant = law.coefficient = 0;
  candidate.covariance = {};
  if (candidate.has_constant && candidate.has_term) {
    const double determinant = ones * xxs - xs * xs;
    if (!(determinant > 1e-9 * ones * xxs)) {
      return false;
    }
    law.constant = (xxs * ys - xs * xys) / determinant;
    law.coefficient = (ones * xys - xs * ys) / determinant;
    candidate.covariance = {xxs / determinant, -xs / determinant, ones / determinant};
  } else if (candidate.has_constant) {
    law.constant = ys / ones;
    candidate.covariance[0] = 1 / ones;
  } else {
    if (!(xxs > 0)) {
      return false;
    }
    law.coefficient = xys / xxs;
    candidate.covariance[2] = 1 / xxs;
  }
  double squares = 0;
  for (const ScalingSample& each : samples) {
    const double rest = (each.value - law.at(each.ranks)) / each.noise;
    squares += rest * rest;
  }
  const std::size_t coefficients = (candidate.has_constant ? 1 : 0) + (candidate.has_term ? 1 : 0);
  candidate.freedom = samples.size() > coefficients ? samples.size() - coefficients : 0;
  candidate.residual =
      candidate.freedom == 0 ? 0 : std::sqrt(squares / static_cast<double>(candidate.freedom));
  return true;
}

std::optional<double> ScalingFit::left_out_error_of(Candidate candidate) const {
  std::set<double> rank_counts;
  for (const ScalingSample& each : samples_) {
    rank_counts.insert(each.ranks);
  }
  double squares = 0;
  for (const double left_out : rank_counts) {
    std::vector<ScalingSample> others;
    std::copy_if(samples_.begin(), samples_.end(), std::back_inserter(others),
                 [=](const ScalingSample& each) { return each.ranks != left_out; });
    if (!fit(candidate, others)) {
      return std::nullopt;
    }
    for (const ScalingSample& each : samples_) {
      if (each.ranks == left_out) {
        const double rest = (each.value - candidate.law.at(left_out)) / each.noise;
        squares += rest * rest;
      }
    }
  }
  return std::sqrt(squares / static_cast<double>(samples_.size()));
}

ScalingFit::ScalingFit(std::vector<ScalingSample> samples) : samples_(std::move(samples)) {
  std::vector<Candidate> all;
  const auto consider = [&](Candidate candidate) {
    const std::optional<double> error = left_out_error_of(candidate);
    // times are not sums of negative ones: such a law describes noise
    if (error && fit(candidate, samples_) && candidate.law.constant >= 0 && candidate.law.coefficient >= 0) {
      candidate.left_out_error = *error;
      all.push_back(candidate);
    }
  };
  consider({.has_constant = true});
  for (const bool has_constant : {false, true}) {
    for (std::size_t term = 0; term < terms.size(); ++term) {
      consider({.has_constant = has_constant, .has_term = true, .law = {.term = term}});
    }
  }
  const auto is_better = [](const Candidate& left, const Candidate& right) {
    return left.left_out_error < right.left_out_error;
  };
  const auto coefficients = [](const Candidate& each) { return each.has_constant && each.has_term ? 2 : 1; };
  const double best = std::min_element(all.begin(), all.end(), is_better)->left_out_error;
  std::erase_if(all, [=](const Candidate& each) {
    return std::min(each.left_out_error, each.residual) > could_be * best + could_be_share;
  });
  std::stable_sort(all.begin(), all.end(), [&](const Candidate& left, const Candidate& right) {
    const bool left_is_good = left.left_out_error <= as_good * best + 1e-6;
    const bool right_is_good = right.left_out_error <= as_good * best + 1e-6;
    if (left_is_good != right_is_good) {
      return left_is_good;
    }
    return left_is_good && coefficients(left) != coefficients(right)
               ? coefficients(left) < coefficients(right)
               : is_better(left, right);
  });
  laws_ = std::move(all);
}

/// Returns half of the 95 % prediction interval of a run that was not made.
double ScalingFit::margin_of(const Candidate& candidate, double ranks) const {
  const double x = candidate.has_term ? terms[candidate.law.term].of(ranks) : 0;
  const double own = candidate.law.at(ranks);
  const double of_fit =
      candidate.covariance[0] + 2 * x * candidate.covariance[1] + x * x * candidate.covariance[2];
  return student_t(candidate.freedom) * candidate.residual * std::sqrt(own * own + std::max(of_fit, 0.0));
}

PredictedValue ScalingFit::at(double ranks) const {
  PredictedValue result;
  result.value = result.low = result.high = law().at(ranks);
  for (const Candidate& each : laws_) {
    const double value = each.law.at(ranks);
    const double margin = margin_of(each, ranks);
    result.low = std::max(0.0, std::min(result.low, value - margin));
    result.high = std::max(result.high, value + margin);
  }
  return result;
}

}  // namespace penstock::analysis
