// Counts the ranks that each notice of the recorder comes from. Must not know what notices say.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class Notices {
 public:
  void add(const RankInput& rank) {
    std::set<std::string> texts;
    for (const trace::Notice& each : rank.trace.notices) {
      texts.emplace(rank.trace.strings.at(each.text).c_str());
    }
    texts.erase("");
    for (const std::string& text : texts) {
      const std::int32_t number = rank.trace.header.world_rank;
      ++notices_.try_emplace(text, NoticeFigures{text, 0, number}).first->second.ranks;
    }
  }
  /// Keeps the first rank that had a notice.
  void merge(Notices&& part, const Renumbering&) {
    for (auto& [text, added] : part.notices_) {
      const auto [notice, is_new] = notices_.try_emplace(text, added);
      notice->second.ranks += is_new ? 0 : added.ranks;
    }
  }
  auto members() { return std::tie(notices_); }
  void finish(Report& report, SiteNames&) {
    for (auto& [text, notice] : notices_) {
      report.notices.push_back(std::move(notice));
    }
  }

 private:
  std::map<std::string, NoticeFigures> notices_;
};

}  // namespace penstock::analysis
