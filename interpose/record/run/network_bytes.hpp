// Reads how many bytes the host's network interfaces have carried, from /sys: of Ethernet and of InfiniBand,
// whoever sent them. Must not know the recording.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace penstock::record {

struct InterfaceBytes {
  std::string kind;  ///< "ethernet" or "infiniband"
  std::string name;  ///< "eth0", "mlx5_0:1"
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

/// Returns all interfaces, by kind and name. Of Ethernet those with a device behind them or, in a container,
/// where none has one, all but the loopback. Errors: std::bad_alloc; what cannot be read is left out.
[[nodiscard]] std::vector<InterfaceBytes> read_network_bytes(const std::filesystem::path& sys = "/sys");

/// Returns what was carried since `before`. Interfaces that are new, or were reset, are left out.
[[nodiscard]] std::vector<InterfaceBytes> bytes_since(const std::vector<InterfaceBytes>& before,
                                                      const std::vector<InterfaceBytes>& now);

/// Returns "ethernet eth0 123 456": kind, name, received, sent, as a recording's fact "network" has it.
[[nodiscard]] std::string fact_of(const InterfaceBytes& bytes);

}  // namespace penstock::record
