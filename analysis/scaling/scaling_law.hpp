// A time as a function of the number of ranks, fitted to a few measured times: a constant, a term that grows
// or falls with the ranks, or the sum of both, with the error of predictions beyond them. Must not know what
// was measured.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace penstock::analysis {

/// A term of a law: shared work (/p), the surface of shared work in three and two dimensions, trees, and work
/// of every rank for all others.
struct ScalingTerm {
  const char* words;  ///< after a coefficient: "/p"
  double (*of)(double ranks);
};
[[nodiscard]] std::span<const ScalingTerm> scaling_terms() noexcept;

struct ScalingSample {
  double ranks;
  double value;
  double noise;  ///< its error is assumed to be proportional to this
};

/// constant + coefficient · term
struct ScalingLaw {
  double constant = 0;
  double coefficient = 0;
  std::size_t term = 0;  ///< index in scaling_terms()
  [[nodiscard]] double at(double ranks) const;
};

struct PredictedValue {
  double value = 0;
  double low = 0;  ///< bounds of 95 % confidence
  double high = 0;
};

class ScalingFit {
 public:
  /// A law of two coefficients and a number of ranks to test it with.
  static constexpr std::size_t fewest_rank_counts = 3;

  /// Requires at least fewest_rank_counts different numbers of ranks. Fits every law by least squares and
  /// judges it by the numbers of ranks that were left out of the fit, one at a time. Among laws that do about
  /// equally well, the one with fewer coefficients is chosen.
  explicit ScalingFit(std::vector<ScalingSample> samples);

  [[nodiscard]] const ScalingLaw& law() const noexcept { return laws_.front().law; }
  /// Returns the chosen law's error in what was left out, relative to the noise.
  [[nodiscard]] double left_out_error() const noexcept { return laws_.front().left_out_error; }
  /// Returns the law's prediction. The interval contains those of all plausible laws: a few small runs cannot
  /// distinguish a logarithm from a root, and the two differ later.
  [[nodiscard]] PredictedValue at(double ranks) const;

 private:
  struct Candidate {
    bool has_constant = false;
    bool has_term = false;
    ScalingLaw law;
    double left_out_error = 0;
    double residual = 0;  ///< standard deviation, in units of noise
    std::array<double, 3>
        covariance{};  ///< of constant, of both, of coefficient; to be multiplied by residual²
    std::size_t freedom = 0;
  };
  [[nodiscard]] static bool fit(Candidate& candidate, const std::vector<ScalingSample>& samples);
  [[nodiscard]] std::optional<double> left_out_error_of(Candidate candidate) const;
  [[nodiscard]] double margin_of(const Candidate& candidate, double ranks) const;

  std::vector<ScalingSample> samples_;
  std::vector<Candidate> laws_;  ///< the chosen one, then the other plausible ones
};

}  // namespace penstock::analysis
