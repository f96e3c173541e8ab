#include "analysis/report/conclusions/misplaced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "analysis/report/report.hpp"
#include "analysis/tables/core_list.hpp"

namespace penstock::analysis {
namespace {

using RanksOfHost = std::vector<const PlacementFigures*>;

/// What is wrong on one host.
struct Mistake {
  std::size_t ranks = 0;  ///< that it hits; 0: nothing is wrong
  std::string words;
};

std::string counted(std::size_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

/// Ranks may share GPUs if they are more than the GPUs are. One GPU that is the only one visible may be meant
/// so.
Mistake shared_gpus(const RanksOfHost& ranks) {
  std::set<std::string> used;
  std::size_t users = 0;
  std::uint64_t visible = ~std::uint64_t{0};
  for (const PlacementFigures* each : ranks) {
    if (each->gpus.empty()) continue;
    ++users;
    visible = std::min(visible, each->visible_gpus);
    used.insert(each->gpus.begin(), each->gpus.end());
  }
  if (users <= used.size() || visible <= used.size()) return {};
  const std::string which = used.size() == 1 ? fmt::format(" ({})", address_of(*used.begin())) : "";
  return {users, fmt::format("use {}{}, though each sees {}", counted(used.size(), "GPU"), which, visible)};
}

/// Ranks that have a core in common, and what they have together.
struct Sharing {
  Cores cores;
  std::size_t ranks = 0;
};

/// Adds a rank's cores, and joins those that it connects.
void add_rank(std::vector<Sharing>& groups, Cores cores) {
  Sharing joined{std::move(cores), 1};
  const auto is_apart = [&joined](const Sharing& other) { return !have_common(other.cores, joined.cores); };
  const auto connected = std::partition(groups.begin(), groups.end(), is_apart);
  for (auto each = connected; each != groups.end(); ++each) {
    joined.cores.merge(each->cores);
    joined.ranks += each->ranks;
  }
  groups.erase(connected, groups.end());
  groups.push_back(std::move(joined));
}

Mistake shared_cores(const RanksOfHost& ranks) {
  std::vector<Sharing> groups;
  for (const PlacementFigures* each : ranks) {
    if (Cores cores = cores_in(each->cores); !cores.empty()) add_rank(groups, std::move(cores));
  }
  Mistake worst;
  for (const Sharing& each : groups) {
    if (each.ranks <= each.cores.size() || each.ranks <= worst.ranks) continue;
    worst = {each.ranks,
             fmt::format("have {}{}: a rank that waits holds up another that computes",
                         counted(each.cores.size(), "core"),
                         each.cores.size() == 1 ? fmt::format(" ({})", *each.cores.begin()) : "")};
  }
  return worst;
}

/// Returns a sentence on the host that is hit hardest; empty: none is hit.
std::string worst_of(const std::map<std::string, RanksOfHost>& hosts, Mistake (*find)(const RanksOfHost&)) {
  Mistake worst;
  const std::string* where = nullptr;
  std::size_t hit = 0;
  for (const auto& [host, ranks] : hosts) {
    Mistake mistake = find(ranks);
    hit += mistake.ranks != 0 ? 1 : 0;
    if (mistake.ranks > worst.ranks) {
      worst = std::move(mistake);
      where = &host;
    }
  }
  if (where == nullptr) return {};
  const std::string others = hit == 1 ? "" : fmt::format("; so it is on {} more", counted(hit - 1, "host"));
  return fmt::format("{} of {} {}{}.", counted(worst.ranks, "rank"), *where, worst.words, others);
}

}  // namespace

bool ranks_share_gpus(const Report& report) {
  std::set<std::pair<std::string, std::string>> used;  // host and GPU
  for (const PlacementFigures& each : report.placement) {
    for (const std::string& gpu : each.gpus) {
      if (!used.emplace(each.host, gpu).second) return true;
    }
  }
  return false;
}

std::vector<std::string> misplaced_texts(const Report& report) {
  std::map<std::string, RanksOfHost> hosts;
  for (const PlacementFigures& each : report.placement) hosts[each.host].push_back(&each);
  std::vector<std::string> texts{worst_of(hosts, shared_gpus), worst_of(hosts, shared_cores)};
  std::erase(texts, "");
  return texts;
}

}  // namespace penstock::analysis
