// Reads what NCCL tells of a call by the payload of its NVTX range. Its fields are found by the names that
// NCCL registers with each layout (a schema), since layouts differ between its versions. Knows no recording.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "interpose/record/run/nvtx_abi.hpp"

namespace penstock::record {

struct NcclPayload {
  std::uint64_t communicator = 0;      ///< 0: not told
  std::optional<std::uint64_t> bytes;  ///< of the message
  std::int32_t peer = -1;              ///< root, or the other rank of a message; -1: not told
  std::int32_t ranks = 0;              ///< of the communicator; 0: not told
  std::int32_t rank = -1;              ///< in it, of the caller; -1: not told
};

/// The schemas of one NVTX domain. Trusts no size, offset, type or name; addresses must be right.
/// Thread: any.
class NcclSchemas {
 public:
  /// Notes a schema. The first one with an id stays.
  void add(const nvtx::PayloadSchema* schema) noexcept;
  /// Returns what is told by the first payload whose schema is known; nothing of what the payload does not
  /// reach.
  [[nodiscard]] NcclPayload read(const nvtx::PayloadData* payloads, std::size_t count) const noexcept;
  [[nodiscard]] NcclPayload read(const nvtx::EventAttributes* attributes) const noexcept;

 private:
  /// NCCL's ids are the first ones of those that a program may choose; NCCL 2.29 has 24.
  static constexpr std::uint64_t most_schemas = 64;
  /// Of a schema, and of the payloads of a range.
  static constexpr std::size_t most_entries = 32;
  static constexpr std::size_t most_payloads = 8;

  struct Field {
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;  ///< 0: the schema does not have it
  };
  struct Layout {
    std::atomic<std::uint32_t> state{0};  ///< 0: none; 1: being written; 2: valid
    std::uint64_t static_size = 0;        ///< 0: not told
    Field communicator, bytes, peer, ranks, rank;
  };
  [[nodiscard]] static Field* field_named(Layout& layout, const char* name) noexcept;
  [[nodiscard]] const Layout* layout_of(std::uint64_t schema_id) const noexcept;

  std::array<Layout, most_schemas> layouts_;
};

}  // namespace penstock::record
