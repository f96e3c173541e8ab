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
#include "interpose/record/run/nvtx_abi.hpp"

namespace penstock::record {

namespace {

std::atomic<bool> is_injected{false};
std::atomic<bool> is_wanted{false};

bool records() noexcept {
  return is_wanted.load(std::memory_order_relaxed) && is_on();
}

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
};

/// Converts from UTF-32, which wchar_t is here, to UTF-8.
std::string narrow(const wchar_t* wide) {
  std::string text;
  for (; *wide != 0; ++wide) {
    const auto c = static_cast<std::uint32_t>(*wide);
    const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += static_cast<char>(0xc0 | c >> 6), tail(0);
    } else if (c < 0x10000) {
      text += static_cast<char>(0xe0 | c >> 12), tail(6), tail(0);
    } else {
      text += static_cast<char>(0xf0 | (c >> 18 & 7)), tail(12), tail(6), tail(0);
    }
  }
  return text;
}

std::uint32_t id_of(const char* text) noexcept {
  return text == nullptr ? trace::no_string : intern(text);
}

std::uint32_t id_of(const wchar_t* text) noexcept try {
  return text == nullptr ? trace::no_string : intern(narrow(text));
} catch (...) {
  return trace::no_string;
}

std::uint32_t id_of(const nvtx::EventAttributes* attributes) noexcept {
  if (attributes == nullptr) return trace::no_string;
  switch (attributes->message_type) {
    case nvtx::message_ascii:
      return id_of(attributes->message.ascii);
    case nvtx::message_unicode:
      return id_of(attributes->message.unicode);
    case nvtx::message_registered: {
      auto* named = static_cast<Named*>(const_cast<void*>(attributes->message.registered));
      return named == nullptr ? trace::no_string : named->id();
    }
    default:
      return trace::no_string;
  }
}

std::uint32_t id_of_domain(void* domain) noexcept {
  return domain == nullptr ? trace::no_string : static_cast<Named*>(domain)->id();
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
  return records() ? stack_of_thread.push(domain, id_of(attributes)) : RangeStack::none_open;
}
int on_domain_pop(void* domain) noexcept {
  return records() ? stack_of_thread.pop(domain) : RangeStack::none_open;
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

void* make_named(const char* text) noexcept try {
  return Named::make(text == nullptr ? "" : text);
} catch (...) {
  return nullptr;
}
void* make_named(const wchar_t* text) noexcept try {
  return Named::make(text == nullptr ? std::string() : narrow(text));
} catch (...) {
  return nullptr;
}
template <typename Text>
void* create_domain(Text name) noexcept {
  return make_named(name);
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
