#include "interpose/record/run/network_bytes.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

namespace penstock::record {

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return {};
}

/// Adds an interface whose counters can be read. `unit`: bytes for each that they count.
void add_counters(std::vector<InterfaceBytes>& all, std::string kind, std::string name,
                  const fs::path& received, const fs::path& sent, std::uint64_t unit) {
  const std::optional<std::uint64_t> in = number_in(received);
  const std::optional<std::uint64_t> out = number_in(sent);
  if (in && out) all.push_back({std::move(kind), std::move(name), *in * unit, *out * unit});
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
    entries.push_back(each->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void add_ethernet(std::vector<InterfaceBytes>& all, const fs::path& sys) {
  std::vector<fs::path> interfaces = entries_of(sys / "class/net");
  std::erase_if(interfaces, [](const fs::path& each) { return each.filename() == "lo"; });
  const auto has_device = [](const fs::path& each) {
    std::error_code error;
    return fs::exists(each / "device", error);
  };
  if (std::any_of(interfaces.begin(), interfaces.end(), has_device))
    std::erase_if(interfaces, [&](const fs::path& each) { return !has_device(each); });
  for (const fs::path& each : interfaces) {
    add_counters(all, "ethernet", each.filename(), each / "statistics/rx_bytes", each / "statistics/tx_bytes",
                 1);
  }
}

void add_infiniband(std::vector<InterfaceBytes>& all, const fs::path& sys) {
  constexpr std::uint64_t word_bytes = 4;  // these counters count words
  for (const fs::path& adapter : entries_of(sys / "class/infiniband")) {
    for (const fs::path& port : entries_of(adapter / "ports")) {
      add_counters(all, "infiniband", adapter.filename().string() + ":" + port.filename().string(),
                   port / "counters/port_rcv_data", port / "counters/port_xmit_data", word_bytes);
    }
  }
}

}  // namespace

std::vector<InterfaceBytes> read_network_bytes(const fs::path& sys) {
  std::vector<InterfaceBytes> all;
  add_ethernet(all, sys);
  add_infiniband(all, sys);
  return all;
}

std::vector<InterfaceBytes> bytes_since(const std::vector<InterfaceBytes>& before,
                                        const std::vector<InterfaceBytes>& now) {
  std::vector<InterfaceBytes> gained;
  for (const InterfaceBytes& each : now) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const InterfaceBytes& known) {
      return known.kind == each.kind && known.name == each.name;
    });
    if (old == before.end() || each.received < old->received || each.sent < old->sent) continue;
    gained.push_back({each.kind, each.name, each.received - old->received, each.sent - old->sent});
  }
  return gained;
}

std::string fact_of(const InterfaceBytes& bytes) {
  return bytes.kind + " " + bytes.name + " " + std::to_string(bytes.received) + " " +
         std::to_string(bytes.sent);
}

}  // namespace penstock::record
