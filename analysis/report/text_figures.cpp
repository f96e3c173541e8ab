#include "analysis/report/text_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "analysis/joining/message_class.hpp"
#include "analysis/layout/text_table.hpp"
#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {
namespace {

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

/// Returns file and line, else module and offset. Calls from libraries include the library.
std::string position_of(const CallSiteFigures& site) {
  const std::string module = base_name(site.module);
  const bool is_library = module.find(".so") != std::string::npos;
  if (site.line != 0) {
    return fmt::format("{}{}:{}", is_library ? module + " " : "", base_name(site.file), site.line);
  }
  if (!module.empty()) {
    return fmt::format("{}+0x{:x}", module, site.module_offset);
  }
  return site.module_offset != 0 ? fmt::format("0x{:x}", site.module_offset) : "unknown source line";
}

}  // namespace

TimeUnit::TimeUnit(double typical_ns) : ns_(1e9), name_("s") {
  if (typical_ns < 1e6) {
    ns_ = 1e3;
    name_ = "µs";
  } else if (typical_ns < 1e9) {
    ns_ = 1e6;
    name_ = "ms";
  }
}

std::string TimeUnit::number(double time_ns) const {
  return fmt::format("{:.3f}", time_ns / ns_);
}

std::string time_text(double time_ns) {
  return time_text(time_ns, TimeUnit(time_ns));
}

std::string time_text(double time_ns, const TimeUnit& unit) {
  const double number = time_ns / unit.ns();
  return fmt::format("{:.{}f} {}", number, number < 10 ? 2 : number < 100 ? 1 : 0, unit.name());
}

std::string change_text(double before_ns, double after_ns) {
  constexpr double many_times = 10;
  if (before_ns == 0) {
    return after_ns == 0 ? "0 %" : "new";
  }
  const double times = after_ns / before_ns;
  return times >= many_times ? fmt::format("{:.0f} times as long", times)
                             : fmt::format("{:+.1f} %", 100 * (times - 1));
}

std::string recorded_part_text(const RecordedPart& part) {
  const auto text_of = [](std::uint64_t time_ns) { return time_text(static_cast<double>(time_ns)); };
  const std::string run = (part.finished ? "" : "at least ") + text_of(part.run_ns);
  if (part.awaiting_rank >= 0) {
    return fmt::format("recorded is nothing of {}, as the window to be recorded never began on rank {}", run,
                       part.awaiting_rank);
  }
  std::string text = "recorded ";
  if (!part.lacks_begin()) {
    text += "up to " + text_of(part.recorded_ns);
  } else if (part.ends_early) {
    text += fmt::format("from {} to {}", text_of(part.from_ns), text_of(part.recorded_ns));
  } else {
    text += fmt::format("from {} on", text_of(part.from_ns));
  }
  text += " of " + run;
  if (part.is_window) {
    text += ", the window that was to be recorded";
  } else if (part.lacks_begin() && part.last_rank >= 0) {
    text += fmt::format(", as rank {} has no earlier records", part.last_rank);
  }
  if (part.first_rank >= 0) {
    text += fmt::format("{}when rank {} ran out of space", part.lacks_begin() ? ", and to " : ", ",
                        part.first_rank);
  }
  return text + "; the rest is unknown";
}

std::string unfinished_clause(const UnfinishedFigures& unfinished) {
  std::string clause = unfinished.words;
  if (clause.ends_with('.')) {
    clause.pop_back();
  }
  if (!clause.empty()) {
    clause.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(clause.front())));
  }
  return clause;
}

std::string what_is_missing(const Report& report) {
  if (report.unfinished) {
    return unfinished_clause(*report.unfinished);
  }
  const auto lost = std::find_if(report.flaws.begin(), report.flaws.end(),
                                 [](const Flaw& flaw) { return flaw.loses_records; });
  if (lost != report.flaws.end()) {
    return describe(*lost);
  }
  return report.recorded_part && !report.recorded_part->is_window ? recorded_part_text(*report.recorded_part)
                                                                  : "";
}

std::string TimeUnit::with_unit(double time_ns) const {
  return number(time_ns) + " " + name_;
}

const char* whole_of(const Report& report) noexcept {
  if (report.recorded_part) {
    return report.steps ? "recorded steps" : "recorded part";
  }
  return report.steps ? "steps" : "run";
}

std::string counted_rank_text(const Report& report) {
  const auto counted = std::find_if(report.ranks.begin(), report.ranks.end(),
                                    [](const RankFigures& rank) { return rank.is_counted; });
  return report.counted_ranks != 1 || counted == report.ranks.end() ? "the average rank"
                                                                    : fmt::format("rank {}", counted->rank);
}

double share_of(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent_text(double share) {
  const double value = share * 100;
  return value < 0.05 && value > 0 ? "<0.1 %" : fmt::format("{:.1f} %", value);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) {
    value /= 1024;
  }
  const bool is_whole = value == std::floor(value) || value >= 100;
  return fmt::format("{:.{}f} {}", value, is_whole ? 0 : 1, units[unit]);
}

std::string size_class_text(std::uint64_t limit_bytes) {
  return limit_bytes == 0 ? "> " + bytes_text(*std::rbegin(size_limits_bytes))
                          : "≤ " + bytes_text(limit_bytes);
}

std::string count_text(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, 1, ',');
  }
  return digits;
}

std::string speed_text(double gigabytes_per_s) {
  constexpr double most_decimals = 8;  // bytes of a message that took minutes
  const double of_two_digits = gigabytes_per_s > 0 ? 1 - std::floor(std::log10(gigabytes_per_s)) : 0;
  const int decimals = gigabytes_per_s >= 100 ? 0
                       : gigabytes_per_s >= 10
                           ? 1
                           : static_cast<int>(std::clamp(of_two_digits, 2.0, most_decimals));
  return fmt::format("{:.{}f}", gigabytes_per_s, decimals);
}

std::string bar_text(double share, std::size_t columns) {
  constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double exact = std::clamp(share, 0.0, 1.0) * 8 * static_cast<double>(columns);
  const auto units = static_cast<std::size_t>(std::lround(exact));
  std::string text;
  for (std::size_t i = 0; i < units / 8; ++i) {
    text += "█";
  }
  return text + eighths[units % 8];
}

std::string short_version(std::string_view version) {
  std::string text = printable(version.substr(0, version.find_first_of("\n,")));
  constexpr std::string_view word = "Version:";
  if (const std::size_t at = text.find(word); at != std::string::npos) {
    text.erase(at, word.size());
  }
  std::string single_spaced;
  std::unique_copy(text.begin(), text.end(), std::back_inserter(single_spaced),
                   [](char left, char right) { return left == ' ' && right == ' '; });
  return single_spaced;
}

std::string command_text(std::string_view command_line) {
  const std::size_t end = std::min(command_line.find(' '), command_line.size());
  return printable(base_name(command_line.substr(0, end)).append(command_line.substr(end)));
}

std::string place_text(const CallSiteFigures& site) {
  return printable(site.function.empty() ? position_of(site)
                                         : position_of(site) + " " + short_symbol(site.function));
}

std::string place_in_sentence(const CallSiteFigures& site) {
  return printable(site.function.empty()
                       ? position_of(site)
                       : fmt::format("{} ({})", short_symbol(site.function), position_of(site)));
}

}  // namespace penstock::analysis
