#include "tests/soak/usage.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace penstock::soak {
namespace {

namespace fs = std::filesystem;

/// A number in /proc/self/status.
std::int64_t status_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    std::int64_t value = 0;
    if (name == field + ":" && status >> value) return value;
    status.clear();
    std::getline(status, name);
  }
  return 0;
}

std::int64_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n');
}

std::int64_t device_kib() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) return 0;
  return static_cast<std::int64_t>((total_bytes - free_bytes) / 1024);
}

}  // namespace

Usage read_usage() {
  std::int64_t staging = 0;
  std::int64_t others = 0;
  for (const auto& [target, count] : read_descriptors())
    (target.starts_with("/memfd:penstock") ? staging : others) += count;
  return {status_of("RssAnon"), status_of("RssShmem"), staging,     others,
          count_mappings(),     status_of("Threads"),  device_kib()};
}

Descriptors read_descriptors() {
  Descriptors found;
  std::error_code error;
  for (const auto& descriptor : fs::directory_iterator("/proc/self/fd", error)) {
    std::string target = fs::read_symlink(descriptor, error).string();
    std::erase_if(target, [](char each) { return each >= '0' && each <= '9'; });
    ++found[target];
  }
  return found;
}

std::string more_descriptors(const Descriptors& before, const Descriptors& after) {
  std::string lines;
  for (const auto& [target, count] : after) {
    const auto known = before.find(target);
    const std::int64_t earlier = known == before.end() ? 0 : known->second;
    if (count > earlier) lines += fmt::format("{:>4} more of {}\n", count - earlier, target);
  }
  return lines;
}

History::Extremes History::extremes(std::size_t quantity, std::size_t first, std::size_t last) const {
  Extremes found{samples_[first][quantity], samples_[first][quantity]};
  for (std::size_t i = first; i < last; ++i) {
    found.least = std::min(found.least, samples_[i][quantity]);
    found.most = std::max(found.most, samples_[i][quantity]);
  }
  return found;
}

std::string History::growth() const {
  const std::size_t count = samples_.size();
  if (count < 8) return "too few samples to tell\n";
  std::string grown;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const Extremes before = extremes(i, count / 4, count / 2);
    const Extremes after = extremes(i, count * 7 / 8, count);
    if (after.least <= before.most + quantities[i].slack) continue;
    grown +=
        fmt::format("{}: from {} at most to {} at least\n", quantities[i].name, before.most, after.least);
  }
  return grown;
}

std::string History::summary() const {
  std::string lines;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const Extremes found = extremes(i, samples_.size() / 4, samples_.size());
    lines += fmt::format("{:<20} {:>9} to {:>9}\n", quantities[i].name, found.least, found.most);
  }
  return lines;
}

}  // namespace penstock::soak
