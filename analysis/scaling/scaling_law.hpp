// A time as a function of the number of ranks, fitted to a few measured ones: a constant, a term that grows
// or falls with the ranks, or the sum of both. Says how far it can be trusted beyond what was measured. Knows
// nothing of what was measured.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace penstock::analysis {

/// What a law may grow or fall with. Work that is shared: /p; the surface of what is shared, in three
/// dimensions and two; trees; and what every rank does for all others.
struct ScalingTerm {
  const char* words;  ///< behind a coefficient: "/p"
  double (*of)(double ranks);
};
[[nodiscard]] std::span<const ScalingTerm> scaling_terms() noexcept;

struct ScalingSample {
  double ranks;
  double value;
  double noise;  ///< its error is taken to be in proportion to this
};

/// constant + coefficient · term
struct ScalingLaw {
  double constant = 0;
  double coefficient = 0;
  std::size_t term = 0;  ///< of scaling_terms()
  [[nodiscard]] double at(double ranks) const;
};

struct PredictedValue {
  double value = 0;
  double low = 0;  ///< with 95 %
  double high = 0;
};

class ScalingFit {
 public:
  /// A law of two coefficients and a number of ranks to test it by.
  static constexpr std::size_t fewest_rank_counts = 3;

  /// Of at least so many different numbers of ranks. Every law is fitted by least squares, and judged by
  /// those numbers of ranks that were left out of the fit, one at a time. Of those that do about equally well
  /// the one with fewer coefficients is taken.
  explicit ScalingFit(std::vector<ScalingSample> samples);

  [[nodiscard]] const ScalingLaw& law() const noexcept { return laws_.front().law; }
  /// Of the law, in what was left out, by its noise.
  [[nodiscard]] double left_out_error() const noexcept { return laws_.front().left_out_error; }
  /// By the law. The interval holds those of all laws that could be true as well: a few small runs cannot
  /// tell a logarithm from a root, and where the two differ later that is not known.
  [[nodiscard]] PredictedValue at(double ranks) const;

 private:
  struct Candidate {
    bool has_constant = false;
    bool has_term = false;
    ScalingLaw law;
    double left_out_error = 0;
    double residual = 0;  ///< standard deviation, by noise
    std::array<double, 3>
        covariance{};  ///< of constant, of both, of coefficient; to be multiplied by residual²
    std::size_t freedom = 0;
  };
  [[nodiscard]] static bool fit(Candidate& candidate, const std::vector<ScalingSample>& samples);
  [[nodiscard]] std::optional<double> left_out_error_of(Candidate candidate) const;
  [[nodiscard]] double margin_of(const Candidate& candidate, double ranks) const;

  std::vector<ScalingSample> samples_;
  std::vector<Candidate> laws_;  ///< the one that is taken, then those that could be true as well
};

}  // namespace penstock::analysis
