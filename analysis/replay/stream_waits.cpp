#include "analysis/replay/stream_waits.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

namespace penstock::analysis {
namespace {

/// A launch or a stream wait, in call order: correlation ids are assigned one by one.
struct Issued {
  std::uint32_t correlation;
  std::uint32_t stream;
  std::size_t kernel;  ///< `no_kernel`: the stream has to wait
};
constexpr std::size_t no_kernel = ~std::size_t{0};

/// Returns true if all kernels ran on one GPU: a call does not record the GPU of its stream.
bool are_on_one_gpu(const std::vector<const trace::DeviceActivity*>& kernels) {
  return std::all_of(kernels.begin(), kernels.end(), [&](const trace::DeviceActivity* each) {
    return each->device == kernels.front()->device;
  });
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> stream_waits(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels) {
  std::vector<Issued> order;
  for (const trace::CudaSynchronisation& each : rank.synchronisations) {
    if (each.own == 0 && rank.is_stream_wait(each)) {
      order.push_back({each.correlation, each.stream, no_kernel});
    }
  }
  if (order.empty() || !are_on_one_gpu(kernels)) {
    return {};
  }
  std::set<std::uint32_t> with_kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    order.push_back({kernels[i]->correlation, kernels[i]->stream, i});
    with_kernels.insert(kernels[i]->stream);
  }
  // no kernel waits on the others, as of copies, whose waits would only become more and more
  std::erase_if(order, [&](const Issued& each) { return !with_kernels.contains(each.stream); });
  std::stable_sort(order.begin(), order.end(), [](const Issued& left, const Issued& right) {
    return left.correlation < right.correlation;
  });

  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<std::pair<std::uint32_t, std::size_t>>
      recent;  // the last kernel of each stream, latest launch first
  std::map<std::uint32_t, std::vector<std::size_t>> waited_for;
  for (const Issued& each : order) {
    std::vector<std::size_t>& waits = waited_for[each.stream];
    if (each.kernel == no_kernel) {
      const auto other = std::find_if(recent.begin(), recent.end(), [&](const auto& last) {
        return last.first != each.stream && std::find(waits.begin(), waits.end(), last.second) == waits.end();
      });
      if (other != recent.end()) {
        waits.push_back(other->second);
      }
      continue;
    }
    for (const std::size_t from : waits) {
      if (kernels[from]->end_ns <= kernels[each.kernel]->begin_ns) {
        pairs.emplace_back(each.kernel, from);
      }
    }
    waits.clear();
    std::erase_if(recent, [&](const auto& last) { return last.first == each.stream; });
    recent.insert(recent.begin(), {each.stream, each.kernel});
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<std::pair<std::size_t, std::size_t>> synchronised_kernels(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (!are_on_one_gpu(kernels)) {
    return pairs;
  }
  using Launch = std::pair<std::uint32_t, std::size_t>;  // correlation and kernel
  std::map<std::uint32_t, std::vector<Launch>> by_stream;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    by_stream[kernels[i]->stream].emplace_back(kernels[i]->correlation, i);
  }
  for (auto& [stream, launches] : by_stream) {
    std::sort(launches.begin(), launches.end());
  }
  const auto add_last = [&](std::size_t call, const std::vector<Launch>& launches) {
    const trace::CudaSynchronisation& record = rank.synchronisations[call];
    const auto behind = std::lower_bound(launches.begin(), launches.end(), Launch{record.correlation, 0});
    if (behind != launches.begin() && kernels[(behind - 1)->second]->end_ns <= record.end_ns) {
      pairs.emplace_back(call, (behind - 1)->second);
    }
  };
  for (std::size_t call = 0; call < rank.synchronisations.size(); ++call) {
    const trace::CudaSynchronisation& record = rank.synchronisations[call];
    const std::string& what = rank.strings.at(record.what);
    if (record.own != 0 || record.correlation == 0) {
      continue;
    }
    if (const auto stream = by_stream.find(record.stream); what == "stream" && stream != by_stream.end()) {
      add_last(call, stream->second);
    }
    for (const auto& [stream, launches] : by_stream) {
      if (what == "context") {
        add_last(call, launches);
      }
    }
  }
  return pairs;
}

std::vector<std::uint64_t> launched_by_ns(const RankTrace& rank,
                                          const std::vector<const trace::DeviceActivity*>& kernels) {
  constexpr std::uint64_t unknown_ns = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::pair<std::uint32_t, std::uint64_t>> calls;  // correlation, and the earliest begin of that
                                                               // call or a later one
  for (const trace::CudaSynchronisation& each : rank.synchronisations) {
    calls.emplace_back(each.correlation, each.begin_ns);
  }
  std::sort(calls.begin(), calls.end());
  for (std::size_t i = calls.size(); i > 1; --i) {
    calls[i - 2].second = std::min(calls[i - 2].second, calls[i - 1].second);
  }
  std::vector<std::uint64_t> times_ns;
  for (const trace::DeviceActivity* each : kernels) {
    const auto later = std::upper_bound(calls.begin(), calls.end(), std::pair{each->correlation, unknown_ns});
    times_ns.push_back(later == calls.end() || each->correlation == 0 ? unknown_ns : later->second);
  }
  return times_ns;
}

}  // namespace penstock::analysis
