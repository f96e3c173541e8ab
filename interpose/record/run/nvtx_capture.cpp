#include "interpose/record/run/nvtx_capture.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/file/window.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/record/run/nccl_calls.hpp"
#include "interpose/record/run/nvtx_abi.hpp"
#include "interpose/record/run/nvtx_names.hpp"

namespace penstock::record {

namespace {

std::atomic<bool> is_injected{false};
std::atomic<bool> is_wanted{false};

bool records() noexcept {
  return is_wanted.load(std::memory_order_relaxed) && is_on();
}

struct OpenRange {
  std::uint64_t begin_ns;
  void* domain;
  std::uint32_t name;
  std::uint32_t entry;
  std::uint8_t depth;
};

/// Notes that a range begins, for all that count ranges.
OpenRange begin_range(void* domain, std::uint32_t name, std::uint8_t depth) noexcept {
  const OpenRange range{now_ns(), domain, name, range_entries().enter(name), depth};
  window().range_begins(name, range.entry, range.begin_ns);
  return range;
}

void record_range(const OpenRange& range, std::uint64_t end_ns, std::uint64_t thread_id) noexcept {
  trace::Range record{};
  record.begin_ns = range.begin_ns;
  record.end_ns = end_ns;
  record.thread_id = thread_id;
  record.name = range.name;
  record.domain = id_of_domain(range.domain);
  record.depth = range.depth;
  record.entry = range.entry;
  record.kind = trace::RecordKind::range;
  write(record);
  window().range_ends(range.name, range.entry, end_ns);
}

/// The push/pop ranges of one thread. Each domain nests separately.
class RangeStack {
 public:
  /// Returns the range's level in its domain, as NVTX's functions do.
  int push(void* domain, std::uint32_t name) noexcept {
    const int level = level_in(domain);
    if (open_ == ranges_.size()) {
      ++too_deep_;
      recording().leave_out_range();
    } else {
      ranges_[open_++] = begin_range(domain, name, static_cast<std::uint8_t>(level));
    }
    return level;
  }

  int pop(void* domain) noexcept {
    if (too_deep_ != 0) return static_cast<int>(open_ + --too_deep_);
    for (std::size_t i = open_; i-- > 0;) {
      if (ranges_[i].domain != domain) continue;
      record_range(ranges_[i], now_ns(), thread_id());
      const int level = ranges_[i].depth;
      std::copy(ranges_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                ranges_.begin() + static_cast<std::ptrdiff_t>(open_),
                ranges_.begin() + static_cast<std::ptrdiff_t>(i));
      --open_;
      return level;
    }
    return none_open;  // the range was pushed before the recording began
  }

  void close_all(std::uint64_t end_ns) noexcept {
    while (open_ != 0) record_range(ranges_[--open_], end_ns, thread_id());
  }

  static constexpr int none_open = -2;  ///< NVTX_NO_PUSH_POP_TRACKING

 private:
  static constexpr std::size_t most_open = 64;

  [[nodiscard]] int level_in(void* domain) const noexcept {
    return static_cast<int>(std::count_if(ranges_.begin(),
                                          ranges_.begin() + static_cast<std::ptrdiff_t>(open_),
                                          [&](const OpenRange& range) { return range.domain == domain; }));
  }
  [[nodiscard]] std::uint64_t thread_id() noexcept {
    if (thread_id_ == 0) thread_id_ = static_cast<std::uint64_t>(gettid());
    return thread_id_;
  }

  std::array<OpenRange, most_open> ranges_{};
  std::size_t open_ = 0;
  std::size_t too_deep_ = 0;  ///< pushes without a place; their pops come first
  std::uint64_t thread_id_ = 0;
};

constinit thread_local RangeStack stack_of_thread;

/// The start/end ranges of the process. They may end on another thread, so the id encodes a range's place.
class StartedRanges {
 public:
  nvtx::RangeId start(void* domain, std::uint32_t name) noexcept {
    const std::uint64_t serial = next_serial_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t tried = 0; tried < places; ++tried) {
      const nvtx::RangeId id = (serial + tried) % places + (serial + 1) * places;
      Place& place = places_[id % places];
      std::uint64_t free = 0;
      if (!place.id.compare_exchange_strong(free, id, std::memory_order_acquire)) continue;
      place.range = begin_range(domain, name, start_end_depth);
      return id;  // a thread that ends it got the id from here, and so sees the range
    }
    recording().leave_out_range();
    return 0;
  }

  void end(nvtx::RangeId id) noexcept {
    Place& place = places_[id % places];
    if (id == 0 || place.id.load(std::memory_order_relaxed) != id) return;
    record_range(place.range, now_ns(), static_cast<std::uint64_t>(gettid()));
    place.id.store(0, std::memory_order_release);
  }

 private:
  static constexpr std::size_t places = 4096;
  static constexpr std::uint8_t start_end_depth = 255;

  struct Place {
    std::atomic<nvtx::RangeId> id{0};
    OpenRange range{};
  };
  std::array<Place, places> places_{};
  std::atomic<std::uint64_t> next_serial_{0};
};

constinit StartedRanges started_ranges;

// The functions that the program's NVTX calls reach.

template <typename Message>
int on_push(Message message) noexcept {
  return records() ? stack_of_thread.push(nullptr, id_of(message)) : RangeStack::none_open;
}
int on_pop() noexcept {
  return records() ? stack_of_thread.pop(nullptr) : RangeStack::none_open;
}
int on_domain_push(void* domain, const nvtx::EventAttributes* attributes) noexcept {
  if (!records()) return RangeStack::none_open;
  const std::uint32_t name = id_of(attributes);
  if (const NcclSchemas* nccl = nccl_schemas_of(domain)) begin_nccl_call(name, nccl->read(attributes));
  return stack_of_thread.push(domain, name);
}
int on_payload_pop(void* domain, const nvtx::PayloadData* payloads, std::size_t count) noexcept {
  if (!records()) return RangeStack::none_open;
  if (const NcclSchemas* nccl = nccl_schemas_of(domain)) end_nccl_call(nccl->read(payloads, count));
  return stack_of_thread.pop(domain);
}
int on_domain_pop(void* domain) noexcept {
  return on_payload_pop(domain, nullptr, 0);
}
/// The names of such ranges would be in their payloads.
int on_payload_push(void* domain, const nvtx::PayloadData*, std::size_t) noexcept {
  return on_domain_push(domain, nullptr);
}

template <typename Message>
nvtx::RangeId on_start(Message message) noexcept {
  return records() ? started_ranges.start(nullptr, id_of(message)) : 0;
}
void on_end(nvtx::RangeId id) noexcept {
  if (records()) started_ranges.end(id);
}
nvtx::RangeId on_domain_start(void* domain, const nvtx::EventAttributes* attributes) noexcept {
  return records() ? started_ranges.start(domain, id_of(attributes)) : 0;
}
void on_domain_end(void*, nvtx::RangeId id) noexcept {
  on_end(id);
}

nvtx::RangeId on_payload_start(void* domain, const nvtx::PayloadData*, std::size_t) noexcept {
  return on_domain_start(domain, nullptr);
}
void on_payload_end(void*, nvtx::RangeId id, const nvtx::PayloadData*, std::size_t) noexcept {
  on_end(id);
}
/// Returns the id that the program has chosen; others are not kept.
std::uint64_t on_schema(void* domain, const nvtx::PayloadSchema* schema) noexcept {
  if (NcclSchemas* nccl = nccl_schemas_of(domain)) nccl->add(schema);
  return schema != nullptr && (schema->fields & nvtx::schema_has_id) != 0 ? schema->id : 0;
}

void* make_named(const char* text) noexcept try {
  return Named::make(text == nullptr ? "" : text);
} catch (...) {
  return nullptr;
}
void* make_named(const wchar_t* text) noexcept try {
  return Named::make(text == nullptr ? std::string() : to_utf8(text));
} catch (...) {
  return nullptr;
}
template <typename Text>
void* create_domain(Text name) noexcept try {
  void* const domain = make_named(name);
  if (auto* named = static_cast<Named*>(domain); named != nullptr && named->text() == "NCCL")
    named->give_schemas();
  return domain;
} catch (...) {
  return nullptr;
}
template <typename Text>
void* register_string(void*, Text text) noexcept {
  return make_named(text);
}

class Installer {
 public:
  Installer(const nvtx::ExportTableCallbacks& callbacks, nvtx::Module module) noexcept {
    if (callbacks.get_module_function_table(module, &table_, &size_) == 0) size_ = 0;
  }
  template <typename Ours>
  void install(unsigned id, Ours* ours) const noexcept {
    if (id < size_ && table_[id] != nullptr) *table_[id] = reinterpret_cast<nvtx::Function>(ours);
  }

 private:
  nvtx::FunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void install(const nvtx::ExportTableCallbacks& callbacks) noexcept {
  const Installer core(callbacks, nvtx::module_core);
  core.install(nvtx::core_range_push_ex, &on_push<const nvtx::EventAttributes*>);
  core.install(nvtx::core_range_push_a, &on_push<const char*>);
  core.install(nvtx::core_range_push_w, &on_push<const wchar_t*>);
  core.install(nvtx::core_range_pop, &on_pop);
  core.install(nvtx::core_range_start_ex, &on_start<const nvtx::EventAttributes*>);
  core.install(nvtx::core_range_start_a, &on_start<const char*>);
  core.install(nvtx::core_range_start_w, &on_start<const wchar_t*>);
  core.install(nvtx::core_range_end, &on_end);

  const Installer core2(callbacks, nvtx::module_core2);
  core2.install(nvtx::core2_range_push_ex, &on_domain_push);
  core2.install(nvtx::core2_range_pop, &on_domain_pop);
  core2.install(nvtx::core2_range_start_ex, &on_domain_start);
  core2.install(nvtx::core2_range_end, &on_domain_end);
  core2.install(nvtx::core2_register_string_a, &register_string<const char*>);
  core2.install(nvtx::core2_register_string_w, &register_string<const wchar_t*>);
  core2.install(nvtx::core2_domain_create_a, &create_domain<const char*>);
  core2.install(nvtx::core2_domain_create_w, &create_domain<const wchar_t*>);
}

void install(const nvtx::ExtensionModuleInfo& module) noexcept {
  if (module.segment_count == 0 || module.segments == nullptr) return;
  const nvtx::ExtensionSegment& functions = module.segments[0];
  const auto install = [&](unsigned id, auto* ours) {
    if (id < functions.slot_count) functions.slots[id] = reinterpret_cast<std::intptr_t>(ours);
  };
  install(nvtx::payload_schema_register, &on_schema);
  install(nvtx::payload_range_push, &on_payload_push);
  install(nvtx::payload_range_pop, &on_payload_pop);
  install(nvtx::payload_range_start, &on_payload_start);
  install(nvtx::payload_range_end, &on_payload_end);
}

/// Returns whether NVTX, which reads that variable at its first call, will find this library.
bool environment_names_us() noexcept {
  const char* named = std::getenv("NVTX_INJECTION64_PATH");
  Dl_info us{};
  struct stat theirs {
  }, ours{};
  return named != nullptr && dladdr(reinterpret_cast<const void*>(&environment_names_us), &us) != 0 &&
         stat(named, &theirs) == 0 && stat(us.dli_fname, &ours) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino;
}

}  // namespace

void start_nvtx_capture() noexcept {
  is_wanted.store(true, std::memory_order_relaxed);
  if (is_injected.load() || environment_names_us()) recording().add_features(trace::feature::ranges);
}

void close_open_ranges(std::uint64_t end_ns) noexcept {
  if (records()) stack_of_thread.close_all(end_ns);
}

}  // namespace penstock::record

/// Called by NVTX at the first NVTX call of each module of the program. Nonzero: our functions may be called.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    penstock::record::nvtx::GetExportTable get_export_table) {
  using namespace penstock::record;
  const auto* callbacks =
      static_cast<const nvtx::ExportTableCallbacks*>(get_export_table(nvtx::table_callbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  install(*callbacks);
  is_injected.store(true);
  if (records()) recording().add_features(penstock::trace::feature::ranges);
  return 1;
}

/// Called by NVTX at the first call of an extension, in each module of the program. Nonzero: what we have not
/// set does nothing.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    penstock::record::nvtx::ExtensionModuleInfo* module) {
  using namespace penstock::record;
  if (module == nullptr || module->struct_size < sizeof *module) return 0;
  if (module->module_id == nvtx::module_payload) install(*module);
  return 1;
}
