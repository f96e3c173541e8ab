// The names of NVTX's ranges and domains: texts in any of its forms, and the ids that they have in the
// recording. Knows no ranges.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "interpose/record/recorder.hpp"
#include "interpose/record/run/nccl_payload.hpp"
#include "interpose/record/run/nvtx_abi.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// A domain or a registered string. NVTX's handles are pointers to it. It may be made before the recording
/// begins, so its id is looked up at the first use.
class Named {
 public:
  /// Never destroyed, as programs keep their handles.
  [[nodiscard]] static Named* make(std::string text) {
    auto* const named = new Named(std::move(text));
    named->next_ = all_.load(std::memory_order_relaxed);
    while (!all_.compare_exchange_weak(named->next_, named, std::memory_order_release)) {
    }
    return named;
  }

  /// NCCL's domain has these, and no other.
  void give_schemas() { nccl_schemas_ = std::make_unique<NcclSchemas>(); }
  [[nodiscard]] NcclSchemas* nccl_schemas() const noexcept { return nccl_schemas_.get(); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  [[nodiscard]] std::uint32_t id() noexcept {
    std::uint32_t id = id_.load(std::memory_order_relaxed);
    if (id == trace::no_string) {
      id = intern(text_);
      id_.store(id, std::memory_order_relaxed);
    }
    return id;
  }

 private:
  explicit Named(std::string text) : text_(std::move(text)) {}

  static constinit inline std::atomic<Named*> all_{nullptr};
  Named* next_ = nullptr;
  const std::string text_;
  std::atomic<std::uint32_t> id_{trace::no_string};
  std::unique_ptr<NcclSchemas> nccl_schemas_;
};

/// Converts from UTF-32, which wchar_t is here, to UTF-8.
[[nodiscard]] std::string to_utf8(const wchar_t* wide);

[[nodiscard]] std::uint32_t id_of(const char* text) noexcept;
[[nodiscard]] std::uint32_t id_of(const wchar_t* text) noexcept;
[[nodiscard]] std::uint32_t id_of(const nvtx::EventAttributes* attributes) noexcept;
[[nodiscard]] std::uint32_t id_of_domain(void* domain) noexcept;
/// Returns null for all domains but NCCL's.
[[nodiscard]] NcclSchemas* nccl_schemas_of(void* domain) noexcept;

}  // namespace penstock::record
