#include "analysis/kernel_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/symbol_names.hpp"

namespace penstock::analysis {

void KernelSums::add(const RankTrace& rank, const Timeline& timeline,
                     const std::function<std::uint32_t(std::uint32_t)>& site_of_call) {
  const std::vector<KernelSegment>& kernels = timeline.kernel_segments;
  std::unordered_map<std::uint32_t, std::uint32_t> ids;
  const auto id_of = [&](std::uint32_t name) {
    const auto [known, is_new] = ids.try_emplace(name, 0u);
    if (is_new) {
      known->second = strings_.id_of(rank.strings.at(name));
    }
    return known->second;
  };

  for (const KernelStart& start : timeline.kernel_starts) {
    ++sums_[id_of(start.name)].launches;
  }

  const std::vector<Interval>& communication = timeline.communication.intervals();
  std::size_t next = 0;
  for (const KernelSegment& kernel : kernels) {
    Sums& sums = sums_[id_of(kernel.name)];
    sums.running_ns += kernel.end_ns - kernel.begin_ns;
    while (next < communication.size() && communication[next].end_ns <= kernel.begin_ns) {
      ++next;
    }
    for (std::size_t i = next; i < communication.size() && communication[i].begin_ns < kernel.end_ns; ++i) {
      sums.hides_ns += std::min(kernel.end_ns, communication[i].end_ns) -
                       std::max(kernel.begin_ns, communication[i].begin_ns);
    }
  }

  std::size_t behind = 0;  // the first kernel that ends behind the moment looked at
  for (const HostSegment& call : timeline.host_segments) {
    for (std::uint64_t time_ns = call.begin_ns; time_ns < call.end_ns;) {
      while (behind < kernels.size() && kernels[behind].end_ns <= time_ns) {
        ++behind;
      }
      const std::uint64_t idle_until_ns =
          behind < kernels.size() ? std::clamp(kernels[behind].begin_ns, time_ns, call.end_ns) : call.end_ns;
      if (behind != 0 && time_ns < idle_until_ns) {
        exposed_after_[{id_of(kernels[behind - 1].name), site_of_call(call.call)}] += idle_until_ns - time_ns;
      }
      time_ns = behind < kernels.size() && idle_until_ns < call.end_ns ? kernels[behind].end_ns : call.end_ns;
    }
  }
}

std::vector<KernelFigures> KernelSums::finish(
    const std::function<std::string(std::uint32_t)>& place_of_site) const {
  std::vector<KernelFigures> figures;
  for (const auto& [name, sums] : sums_) {
    KernelFigures kernel{
        readable_symbol(strings_.at(name)), sums.launches, sums.running_ns, sums.hides_ns, 0, ""};
    std::uint64_t most_ns = 0;
    for (auto each = exposed_after_.lower_bound({name, 0u});
         each != exposed_after_.end() && each->first.first == name; ++each) {
      kernel.exposed_after_ns += each->second;
      std::string place = place_of_site(each->first.second);
      if (each->second > most_ns || (each->second == most_ns && place < kernel.exposed_at)) {
        most_ns = each->second;
        kernel.exposed_at = std::move(place);
      }
    }
    figures.push_back(std::move(kernel));
  }
  std::sort(figures.begin(), figures.end(), [](const KernelFigures& left, const KernelFigures& right) {
    return std::tie(right.exposed_after_ns, right.hides_ns, left.name) <
           std::tie(left.exposed_after_ns, left.hides_ns, right.name);
  });
  return figures;
}

}  // namespace penstock::analysis
