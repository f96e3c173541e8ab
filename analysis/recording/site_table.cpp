#include "analysis/recording/site_table.hpp"

#include <string_view>

namespace penstock::analysis {
namespace {

/// `text_id`: returns a text's number in the pool.
template <typename TextId>
Site site_at(const RankTrace& rank, std::uint64_t call_site, std::uint32_t function, const TextId& text_id) {
  Site site{text_id(rank.strings.at(function)), {}};
  for (const std::uint64_t address : rank.return_addresses_of(call_site)) {
    const RecordedFrame frame = rank.frame_at(address);
    site.frames.push_back({text_id(frame.text), frame.build, frame.address, frame.offset});
  }
  return site;
}

}  // namespace

void SiteTable::begin_rank() {
  of_rank_.clear();
  recent_.fill({});
}

std::uint32_t SiteTable::number_of(const Site& site) {
  const auto [found, is_new] = ids_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    sites_.push_back(site);
  }
  return found->second;
}

std::uint32_t SiteTable::id_of(const RankTrace& rank, std::uint64_t call_site, std::uint32_t function) {
  const RankKey key{call_site, function};
  Recent& recent = recent_[HashRankKey{}(key) % recent_.size()];
  if (recent.is_there && recent.key == key) {
    return recent.id;
  }
  const auto [known, is_new_to_rank] = of_rank_.try_emplace(key, 0u);
  if (is_new_to_rank) {
    known->second = joined(number_of(
        site_at(rank, call_site, function, [this](std::string_view text) { return pool_.id_of(text); })));
  }
  recent = {key, known->second, true};
  return known->second;
}

std::optional<std::uint32_t> SiteTable::find(const RankTrace& rank, std::uint64_t call_site,
                                             std::uint32_t function) const {
  bool is_known = true;
  const Site site = site_at(rank, call_site, function, [&](std::string_view text) {
    const std::optional<std::uint32_t> id = pool_.find(text);
    is_known = is_known && id.has_value();
    return id.value_or(0);
  });
  const auto found = ids_.find(site);
  return is_known && found != ids_.end() ? std::optional(found->second) : std::nullopt;
}

std::vector<std::uint32_t> SiteTable::take_in(const SiteTable& other, std::span<const std::uint32_t> texts) {
  std::vector<std::uint32_t> ids;
  for (Site site : other.sites_) {
    site.function = texts[site.function];
    for (SiteFrame& each : site.frames) {
      each.text = texts[each.text];
    }
    ids.push_back(number_of(site));
  }
  return ids;
}

}  // namespace penstock::analysis
