// A program that uses NVTX, without NVIDIA's headers: it has the tables of functions that a tool fills in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "interpose/record/run/nvtx_abi.hpp"

extern "C" int InitializeInjectionNvtx2(penstock::record::nvtx::GetExportTable);
extern "C" int InitializeInjectionNvtxExtension(penstock::record::nvtx::ExtensionModuleInfo*);

namespace penstock::test {

namespace nvtx = record::nvtx;

/// A program's side of NVTX: pointers that the tool sets, all null at first.
class FakeProgram {
 public:
  static constexpr unsigned ids = 16;

  using Initialize = int(nvtx::GetExportTable);
  using InitializeExtension = int(nvtx::ExtensionModuleInfo*);

  /// By the functions of a tool that is linked with the program, or of one that it has opened.
  [[nodiscard]] static int attach() { return attach(&InitializeInjectionNvtx2); }
  [[nodiscard]] static int attach(Initialize* initialize) { return initialize(export_table); }

  template <typename Result, typename... Arguments>
  static Result call(nvtx::Module module, unsigned id, Arguments... arguments) {
    const nvtx::Function function = (module == nvtx::module_core ? core_ : core2_)[id];
    if (function == nullptr) throw std::runtime_error("not attached");
    return reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...);
  }
  static int push(const char* name) { return call<int>(nvtx::module_core, nvtx::core_range_push_a, name); }
  static int pop() { return call<int>(nvtx::module_core, nvtx::core_range_pop); }
  static int push(void* domain, const nvtx::EventAttributes& attributes) {
    return call<int>(nvtx::module_core2, nvtx::core2_range_push_ex, domain, &attributes);
  }
  static int pop(void* domain) { return call<int>(nvtx::module_core2, nvtx::core2_range_pop, domain); }
  static nvtx::RangeId start(const char* name) {
    return call<nvtx::RangeId>(nvtx::module_core, nvtx::core_range_start_a, name);
  }
  static void end(nvtx::RangeId id) { call<void>(nvtx::module_core, nvtx::core_range_end, id); }
  static void* domain(const char* name) {
    return call<void*>(nvtx::module_core2, nvtx::core2_domain_create_a, name);
  }
  static void* registered(void* domain, const char* text) {
    return call<void*>(nvtx::module_core2, nvtx::core2_register_string_a, domain, text);
  }

  /// The same for the extension for payloads.
  [[nodiscard]] static int attach_payloads() { return attach_payloads(&InitializeInjectionNvtxExtension); }
  [[nodiscard]] static int attach_payloads(InitializeExtension* initialize) {
    nvtx::ExtensionSegment segment{0, payloads_.size(), payloads_.data()};
    nvtx::ExtensionModuleInfo module{};
    module.struct_size = sizeof module;
    module.module_id = nvtx::module_payload;
    module.segment_count = 1;
    module.segments = &segment;
    return initialize(&module);
  }
  static std::uint64_t register_schema(void* domain, const nvtx::PayloadSchema* schema) {
    return call_payload<std::uint64_t>(nvtx::payload_schema_register, domain, schema);
  }
  static int push_payload(void* domain, const nvtx::PayloadData* data, std::size_t count) {
    return call_payload<int>(nvtx::payload_range_push, domain, data, count);
  }
  static int pop_payload(void* domain, const nvtx::PayloadData* data, std::size_t count) {
    return call_payload<int>(nvtx::payload_range_pop, domain, data, count);
  }

  static nvtx::EventAttributes message(const char* text) {
    nvtx::EventAttributes attributes{};
    attributes.message_type = nvtx::message_ascii;
    attributes.message.ascii = text;
    return attributes;
  }

 private:
  static constexpr std::size_t payload_slots = 63;

  template <typename Result, typename... Arguments>
  static Result call_payload(unsigned id, Arguments... arguments) {
    if (payloads_[id] == 0) throw std::runtime_error("not attached");
    return reinterpret_cast<Result (*)(Arguments...)>(payloads_[id])(arguments...);
  }
  static int function_table(int module, nvtx::FunctionTable* table, unsigned* size) {
    static std::array<nvtx::Function*, ids> core_slots;
    static std::array<nvtx::Function*, ids> core2_slots;
    for (unsigned id = 0; id < ids; ++id) {
      core_slots[id] = id == 0 ? nullptr : &core_[id];
      core2_slots[id] = id == 0 ? nullptr : &core2_[id];
    }
    *size = ids;
    if (module == nvtx::module_core)
      *table = core_slots.data();
    else if (module == nvtx::module_core2)
      *table = core2_slots.data();
    else
      return 0;
    return 1;
  }
  static const void* export_table(std::uint32_t table) {
    static const nvtx::ExportTableCallbacks callbacks{sizeof callbacks, function_table};
    return table == nvtx::table_callbacks ? &callbacks : nullptr;
  }

  static inline std::array<nvtx::Function, ids> core_{};
  static inline std::array<nvtx::Function, ids> core2_{};
  static inline std::array<std::intptr_t, payload_slots> payloads_{};
};

}  // namespace penstock::test
