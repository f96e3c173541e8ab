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

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;  ///< what register_string returned
  } message;
};

}  // namespace penstock::record::nvtx
