#include "analysis/site_table.hpp"

#include <algorithm>

namespace penstock::analysis {
namespace {

/// The mapping that holds an address. A program has a few dozen.
const trace::Module* module_at(const RankTrace& rank, std::uint64_t address) {
  const auto found = std::find_if(
      rank.modules.begin(), rank.modules.end(),
      [address](const trace::Module& each) { return each.begin <= address && address < each.end; });
  return found == rank.modules.end() ? nullptr : &*found;
}

}  // namespace

std::uint32_t SiteTable::id_of(const RankTrace& rank, std::uint64_t call_site, std::uint32_t function) {
  const auto [known, is_new_to_rank] = of_rank_.try_emplace({call_site, function}, 0u);
  if (!is_new_to_rank) {
    return known->second;
  }
  Site site{pool_.id_of(""), pool_.id_of(rank.strings.at(function)), call_site, call_site};
  if (const trace::Module* module = module_at(rank, call_site); module != nullptr) {
    site.module = pool_.id_of(rank.strings.at(module->path));
    site.address = call_site - module->load_bias;
    site.offset = call_site - module->begin + module->file_offset;
  }
  const auto [found, is_new] = ids_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    sites_.push_back(site);
  }
  known->second = found->second;
  return found->second;
}

}  // namespace penstock::analysis
