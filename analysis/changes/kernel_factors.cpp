#include "analysis/changes/kernel_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "analysis/recording/symbol_names.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::string stream_of(const KernelFactor& asked) {
  return asked.stream ? fmt::format(" on stream {}", *asked.stream) : "";
}

std::string words_of(const KernelFactor& asked, std::size_t kernels, std::size_t names) {
  return fmt::format("the {} \"{}\"{}{} take{} {} of {} time",
                     kernels == 1 ? "kernel" : count_text(kernels) + " kernels", asked.pattern,
                     names > 1 ? fmt::format(" ({} names)", names) : "", stream_of(asked),
                     kernels == 1 ? "s" : "", percent_text(asked.factor), kernels == 1 ? "its" : "their");
}

}  // namespace

bool KernelFactors::Asked::means(const GraphRank& rank, const RankLayout::Kernel& kernel) {
  if (of.stream && *of.stream != rank.trace.kernels[kernel.index].stream) {
    return false;
  }
  const std::uint32_t name = rank.kernel_name(kernel);
  const auto [known, is_new] = is_meant.try_emplace(name, false);
  if (is_new) {
    known->second = matches_name(of.pattern, readable_symbol(rank.names.at(name)));
  }
  return known->second;
}

void KernelFactors::add(const GraphRank& rank) {
  for (Asked& each : asked_) {
    for (const RankLayout::Kernel& kernel : rank.layout.kernels) {
      if (each.means(rank, kernel)) {
        each.kernels.push_back(kernel.node);
      }
    }
  }
}

std::vector<WhatIfFigures> KernelFactors::answers(ReplayGraph& graph) const {
  std::vector<WhatIfFigures> answers;
  for (const Asked& each : asked_) {
    if (each.kernels.empty()) continue;
    Scenario scenario;
    for (const NodeId kernel : each.kernels) {
      scenario.work_ns[kernel] = static_cast<std::uint64_t>(
          std::llround(static_cast<double>(graph.work_ns(kernel)) * each.of.factor));
    }
    const auto names = std::count_if(each.is_meant.begin(), each.is_meant.end(),
                                     [](const auto& name) { return name.second; });
    answers.push_back({each.of.stream
                           ? fmt::format("kernels:{}@{}={}", each.of.pattern, *each.of.stream, each.of.factor)
                           : fmt::format("kernels:{}={}", each.of.pattern, each.of.factor),
                       words_of(each.of, each.kernels.size(), static_cast<std::size_t>(names)),
                       graph.run(scenario), std::nullopt, true});
  }
  return answers;
}

std::vector<std::string> KernelFactors::why_not_answered() const {
  std::vector<std::string> why;
  for (const Asked& each : asked_) {
    if (each.kernels.empty()) {
      why.push_back(
          fmt::format("no kernel{} has a name that matches \"{}\"", stream_of(each.of), each.of.pattern));
    }
  }
  return why;
}

}  // namespace penstock::analysis
