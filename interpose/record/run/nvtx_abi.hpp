// Declares the part of NVTX's tool interface that Penstock uses, because a build for the simulated GPU has no
// NVIDIA headers. It is an ABI: a test compares it with nvtx3/nvtxDetail/nvtxTypes.h where that exists.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::record::nvtx {

using RangeId = std::uint64_t;
using Function = void (*)();
/// Holds, for each callback id, the address of the program's pointer to the function that it calls.
using FunctionTable = Function**;

enum Module : int { module_core = 1, module_core2 = 5 };
enum ExportTable : std::uint32_t { table_callbacks = 1 };

/// Callback ids of module_core.
enum Core : unsigned {
  core_range_start_ex = 4,
  core_range_start_a = 5,
  core_range_start_w = 6,
  core_range_end = 7,
  core_range_push_ex = 8,
  core_range_push_a = 9,
  core_range_push_w = 10,
  core_range_pop = 11,
};

/// Callback ids of module_core2.
enum Core2 : unsigned {
  core2_range_start_ex = 2,
  core2_range_end = 3,
  core2_range_push_ex = 4,
  core2_range_pop = 5,
  core2_register_string_a = 10,
  core2_register_string_w = 11,
  core2_domain_create_a = 12,
  core2_domain_create_w = 13,
};

struct ExportTableCallbacks {
  std::size_t struct_size;
  /// `size`: ids below it are in the table. Returns 0 if the module is unknown.
  int (*get_module_function_table)(int module, FunctionTable* table, unsigned* size);
};

using GetExportTable = const void* (*)(std::uint32_t table);

enum MessageType : std::int32_t { message_ascii = 1, message_unicode = 2, message_registered = 3 };

/// EventAttributes::payload is the address of PayloadData.
inline constexpr std::int32_t payload_extended = static_cast<std::int32_t>(0xDFBD0009);

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t payloads;  ///< of payload_extended: their number; else reserved
  std::uint64_t payload;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;  ///< what register_string returned
  } message;
};

// The extension for payloads, whose functions lie in one segment of slots, by their callback id.

enum ExtensionModule : std::uint16_t { module_payload = 2 };

enum Payload : unsigned {
  payload_schema_register = 0,
  payload_range_push = 3,
  payload_range_pop = 4,
  payload_range_start = 5,
  payload_range_end = 6,
};

struct ExtensionSegment {
  std::size_t id;
  std::size_t slot_count;
  std::intptr_t* slots;
};

struct ExtensionModuleInfo {
  std::uint16_t nvtx_version;
  std::uint16_t struct_size;
  std::uint16_t module_id;
  std::uint16_t compatible_id;
  std::size_t segment_count;
  ExtensionSegment* segments;
  std::intptr_t (*get_export_function)(std::uint32_t);
  const void* information;
};

struct PayloadData {
  std::uint64_t schema_id;
  std::size_t size;  ///< SIZE_MAX: that of the schema
  const void* payload;
};

enum PayloadEntryType : std::uint64_t {
  entry_int = 5,
  entry_int32 = 15,
  entry_uint64 = 18,
  entry_size = 22,
};

struct PayloadSchemaEntry {
  std::uint64_t flags;  ///< 0: a plain value
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t array_or_union_detail;
  std::uint64_t offset;  ///< 0: at the begin, or where alignment puts it
  const void* semantics;
  const void* reserved;
};

enum PayloadSchemaField : std::uint64_t {
  schema_has_entries = 1u << 4,
  schema_has_entry_count = 1u << 5,
  schema_has_static_size = 1u << 6,
  schema_has_id = 1u << 8,
};

/// The first schema id that a program may choose itself.
inline constexpr std::uint64_t first_static_schema = std::uint64_t{1} << 24;

/// Without its last field, which older headers do not have.
struct PayloadSchema {
  std::uint64_t fields;
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const PayloadSchemaEntry* entries;
  std::size_t entry_count;
  std::size_t static_size;
  std::size_t pack_align;
  std::uint64_t id;
};

}  // namespace penstock::record::nvtx
