#include "analysis/figures/kernel_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {

KernelSums::Sums& KernelSums::sums_of(std::uint32_t name) {
  if (name >= sums_.size()) {
    sums_.resize(name + std::size_t{1});
  }
  return sums_[name];
}

void KernelSums::add(const Timeline& timeline, std::span<const std::uint32_t> site_of_call, NameIds& names) {
  const std::vector<KernelSegment>& kernels = timeline.kernel_segments;
  for (const KernelStart& start : timeline.kernel_starts) {
    ++sums_of(names.id_of(start.name)).launches;
  }

  const std::vector<Interval>& communication = timeline.communication.intervals();
  std::size_t next = 0;
  for (const KernelSegment& kernel : kernels) {
    Sums& sums = sums_of(names.id_of(kernel.name));
    sums.running_ns += kernel.end_ns - kernel.begin_ns;
    while (next < communication.size() && communication[next].end_ns <= kernel.begin_ns) {
      ++next;
    }
    for (std::size_t i = next; i < communication.size() && communication[i].begin_ns < kernel.end_ns; ++i) {
      sums.hides_ns += std::min(kernel.end_ns, communication[i].end_ns) -
                       std::max(kernel.begin_ns, communication[i].begin_ns);
    }
  }

  std::size_t behind = 0;  // the first kernel that ends after the moment looked at
  for (const HostSegment& call : timeline.host_segments) {
    for (std::uint64_t time_ns = call.begin_ns; time_ns < call.end_ns;) {
      while (behind < kernels.size() && kernels[behind].end_ns <= time_ns) {
        ++behind;
      }
      const std::uint64_t idle_until_ns =
          behind < kernels.size() ? std::clamp(kernels[behind].begin_ns, time_ns, call.end_ns) : call.end_ns;
      if (behind != 0 && time_ns < idle_until_ns) {
        exposed_after_[{names.id_of(kernels[behind - 1].name), site_of_call[call.call]}] +=
            idle_until_ns - time_ns;
      }
      time_ns = behind < kernels.size() && idle_until_ns < call.end_ns ? kernels[behind].end_ns : call.end_ns;
    }
  }
}

void KernelSums::merge(const KernelSums& part, std::span<const std::uint32_t> strings,
                       std::span<const std::uint32_t> sites) {
  for (std::uint32_t name = 0; name < part.sums_.size(); ++name) {
    const Sums& added = part.sums_[name];
    if (added.is_of_kernel()) {
      Sums& sums = sums_of(strings[name]);
      sums.launches += added.launches;
      sums.running_ns += added.running_ns;
      sums.hides_ns += added.hides_ns;
    }
  }
  for (const auto& [after, time_ns] : part.exposed_after_.entries()) {
    exposed_after_[{strings[after.name], sites[after.site]}] += time_ns;
  }
}

std::vector<KernelFigures> KernelSums::finish(
    const std::function<std::string(std::uint32_t)>& place_of_site) const {
  std::vector<KernelFigures> figures;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> exposed_after;
  for (const auto& [after, time_ns] : exposed_after_.entries()) {
    exposed_after[{after.name, after.site}] = time_ns;
  }
  for (std::uint32_t name = 0; name < sums_.size(); ++name) {
    const Sums& sums = sums_[name];
    if (!sums.is_of_kernel()) {
      continue;
    }
    KernelFigures kernel{
        readable_symbol(strings_.at(name)), sums.launches, sums.running_ns, sums.hides_ns, 0, ""};
    std::uint64_t most_ns = 0;
    for (auto each = exposed_after.lower_bound({name, 0u});
         each != exposed_after.end() && each->first.first == name; ++each) {
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
