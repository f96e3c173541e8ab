#include "interpose/record/run/nccl_payload.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace penstock::record {

namespace {

std::uint32_t bytes_of(std::uint64_t type) noexcept {
  switch (type) {
    case nvtx::entry_int:
    case nvtx::entry_int32:
      return 4;
    case nvtx::entry_uint64:
    case nvtx::entry_size:
      return 8;
    default:
      return 0;
  }
}

/// Returns whether the payload has the field, and reads it.
template <typename Field, typename Value>
bool read_field(const Field& field, const nvtx::PayloadData& data, std::uint64_t size,
                Value& value) noexcept {
  if (field.bytes != sizeof value || field.offset > size || size - field.offset < sizeof value) return false;
  std::memcpy(&value, static_cast<const std::byte*>(data.payload) + field.offset, sizeof value);
  return true;
}

}  // namespace

/// The names are those of NCCL's src/include/nvtx_payload_schemas.h, and of src/collectives.cc before 2.25.
NcclSchemas::Field* NcclSchemas::field_named(Layout& layout, const char* name) noexcept {
  if (name == nullptr) return nullptr;
  const std::string_view text(name);
  if (text == "NCCL communicator ID") return &layout.communicator;
  if (text == "Message size [bytes]" || text == "Bytes") return &layout.bytes;
  if (text == "Root" || text == "Peer rank") return &layout.peer;
  if (text == "No. of ranks" || text == "No. of devices") return &layout.ranks;
  if (text == "Rank") return &layout.rank;
  return nullptr;
}

void NcclSchemas::add(const nvtx::PayloadSchema* schema) noexcept {
  constexpr std::uint64_t needed =
      nvtx::schema_has_entries | nvtx::schema_has_entry_count | nvtx::schema_has_id;
  if (schema == nullptr || (schema->fields & needed) != needed || schema->entries == nullptr ||
      schema->id < nvtx::first_static_schema || schema->id - nvtx::first_static_schema >= most_schemas) {
    return;
  }
  Layout& layout = layouts_[schema->id - nvtx::first_static_schema];
  std::uint32_t none = 0;
  if (!layout.state.compare_exchange_strong(none, 1, std::memory_order_acquire)) return;
  if ((schema->fields & nvtx::schema_has_static_size) != 0) layout.static_size = schema->static_size;
  for (std::size_t i = 0; i < std::min(schema->entry_count, most_entries); ++i) {
    const nvtx::PayloadSchemaEntry& entry = schema->entries[i];
    Field* const field = field_named(layout, entry.name);
    // Behind the first entry an offset of 0 means that alignment tells it, which NCCL does not leave it to.
    const bool knows_offset = i == 0 || entry.offset != 0;
    if (field == nullptr || entry.flags != 0 || !knows_offset || entry.offset > UINT32_MAX) continue;
    *field = {static_cast<std::uint32_t>(entry.offset), bytes_of(entry.type)};
  }
  layout.state.store(2, std::memory_order_release);
}

const NcclSchemas::Layout* NcclSchemas::layout_of(std::uint64_t schema_id) const noexcept {
  const std::uint64_t number = schema_id - nvtx::first_static_schema;
  if (schema_id < nvtx::first_static_schema || number >= most_schemas) return nullptr;
  const Layout& layout = layouts_[number];
  return layout.state.load(std::memory_order_acquire) == 2 ? &layout : nullptr;
}

NcclPayload NcclSchemas::read(const nvtx::PayloadData* payloads, std::size_t count) const noexcept {
  NcclPayload told;
  if (payloads == nullptr) return told;
  for (std::size_t i = 0; i < std::min(count, most_payloads); ++i) {
    const nvtx::PayloadData& data = payloads[i];
    const Layout* const layout = layout_of(data.schema_id);
    if (layout == nullptr || data.payload == nullptr) continue;
    const std::uint64_t size = data.size == SIZE_MAX ? layout->static_size : data.size;
    read_field(layout->communicator, data, size, told.communicator);
    if (std::uint64_t bytes = 0; read_field(layout->bytes, data, size, bytes)) told.bytes = bytes;
    read_field(layout->peer, data, size, told.peer);
    read_field(layout->ranks, data, size, told.ranks);
    read_field(layout->rank, data, size, told.rank);
    break;
  }
  return told;
}

NcclPayload NcclSchemas::read(const nvtx::EventAttributes* attributes) const noexcept {
  if (attributes == nullptr || attributes->payload_type != nvtx::payload_extended ||
      attributes->payloads <= 0) {
    return {};
  }
  return read(reinterpret_cast<const nvtx::PayloadData*>(static_cast<std::uintptr_t>(attributes->payload)),
              static_cast<std::size_t>(attributes->payloads));
}

}  // namespace penstock::record
