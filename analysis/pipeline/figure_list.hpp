// Does with all figures of a list what is done with one. Must not know what the figures are.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// Figures are fed, merged and finished in the list's order. Merging and exchanging go by members().
template <typename... Figures>
class FigureList {
 public:
  explicit FigureList(const FigureContext& context) : figures_(made_for<Figures>(context)...) {}
  /// Feeds the figures that take such an input.
  template <typename Input>
  void add(const Input& input) {
    (add_to(std::get<Figures>(figures_), input), ...);
  }
  auto members() { return std::tie(std::get<Figures>(figures_)...); }
  void finish(Report& report, SiteNames& names) { (std::get<Figures>(figures_).finish(report, names), ...); }
  template <typename Figure>
  [[nodiscard]] Figure& get() noexcept {
    return std::get<Figure>(figures_);
  }

 private:
  template <typename Figure, typename Input>
  static constexpr bool takes = requires(Figure& figure, const Input& input) {
    figure.add(input);
  };
  static_assert(((takes<Figures, WaitInput> || takes<Figures, CallInput> || takes<Figures, HalfInput> ||
                  takes<Figures, RankInput>)&&...),
                "a figure must take some input");

  template <typename Figure>
  static Figure made_for(const FigureContext& context) {
    if constexpr (std::is_constructible_v<Figure, const FigureContext&>) {
      return Figure(context);
    } else {
      return Figure();
    }
  }
  template <typename Figure, typename Input>
  static void add_to(Figure& figure, const Input& input) {
    if constexpr (takes<Figure, Input>) {
      figure.add(input);
    }
  }

  std::tuple<Figures...> figures_;
};

}  // namespace penstock::analysis
