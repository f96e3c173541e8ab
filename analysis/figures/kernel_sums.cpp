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

void KernelSums::add(const RankInput& rank) {
  if (rank.is_counted) {
    add_kernels(rank.window.timeline, rank.names);
    add_exposed_after(rank);
  }
}

void KernelSums::add_kernels(const Timeline& timeline, NameIds& names) {
  for (const KernelStart& start : timeline.kernel_starts) {
    ++sums_of(names.id_of(start.name)).launches;
  }

  const std::vector<Interval>& communication = timeline.communication.intervals();
  std::size_t next = 0;
  for (const KernelSegment& kernel : timeline.kernel_segments) {
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
}

void KernelSums::add_exposed_after(const RankInput& rank) {
  const Timeline& timeline = rank.window.timeline;
  const std::vector<KernelSegment>& kernels = timeline.kernel_segments;
  std::size_t behind = 0;  // the first kernel that ends after the moment looked at
  for (const HostSegment& call : timeline.host_segments) {
    for (std::uint64_t time_ns = call.begin_ns; time_ns < call.end_ns;) {
      while (behind < kernels.size() && kernels[behind].end_ns <= time_ns) {
        ++behind;
      }
      const std::uint64_t idle_until_ns =
          behind < kernels.size() ? std::clamp(kernels[behind].begin_ns, time_ns, call.end_ns) : call.end_ns;
      if (behind != 0 && time_ns < idle_until_ns) {
        exposed_after_[{rank.names.id_of(kernels[behind - 1].name), rank.window.site_of_call[call.call]}] +=
            idle_until_ns - time_ns;
      }
      time_ns = behind < kernels.size() && idle_until_ns < call.end_ns ? kernels[behind].end_ns : call.end_ns;
    }
  }
}

void KernelSums::merge(KernelSums&& part, const Renumbering& numbers) {
  for (std::uint32_t name = 0; name < part.sums_.size(); ++name) {
    if (part.sums_[name].is_of_kernel()) {
      merge_into(sums_of(numbers.strings[name]), std::move(part.sums_[name]), numbers);
    }
  }
  merge_into(exposed_after_, std::move(part.exposed_after_), numbers);
}

void KernelSums::finish(Report& report, SiteNames& names) {
  std::vector<KernelFigures>& figures = report.kernels;
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
      std::string place = names.place_of(each->first.second);
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
}

}  // namespace penstock::analysis
