#include "faults.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "simulated_gpu.h"

namespace simulated_gpu {
namespace {

/// Reads a number at the start of `text` and removes it from there.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool parse_fault(std::string_view text, Fault& fault) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  fault.function = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  if (!take_number(text, fault.error)) return false;
  while (!text.empty()) {
    const char mark = text.front();
    text.remove_prefix(1);
    if (mark == '@' ? !take_number(text, fault.from_call) : mark != 'x' || !take_number(text, fault.times)) {
      return false;
    }
  }
  return true;
}

struct CountedFault {
  Fault fault;
  std::atomic<std::uint64_t> calls{0};
};

struct Faults {
  std::size_t count = 0;
  std::unique_ptr<CountedFault[]> rows;
};

/// Never freed: a call may be counting in it, and calls may come until the process ends.
const Faults* make_faults(const char* text) {
  auto* made = new Faults;
  std::vector<Fault> parsed = parse_faults(text != nullptr ? text : "");
  made->count = parsed.size();
  made->rows = std::make_unique<CountedFault[]>(parsed.size());
  for (std::size_t i = 0; i < parsed.size(); ++i) made->rows[i].fault = std::move(parsed[i]);
  return made;
}

std::atomic<const Faults*>& faults() {
  static std::atomic<const Faults*> current{make_faults(std::getenv("SIMULATED_GPU_FAULTS"))};
  return current;
}

}  // namespace

std::vector<Fault> parse_faults(std::string_view text) {
  std::vector<Fault> parsed;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (Fault fault; parse_fault(entry, fault)) {
      parsed.push_back(std::move(fault));
    } else {
      std::fprintf(stderr, "simulated GPU: SIMULATED_GPU_FAULTS: cannot read \"%.*s\"\n",
                   static_cast<int>(entry.size()), entry.data());
    }
  }
  return parsed;
}

CUresult injected_fault(const char* function) noexcept {
  const Faults& all = *faults().load(std::memory_order_acquire);
  for (std::size_t i = 0; i < all.count; ++i) {
    CountedFault& row = all.rows[i];
    if (row.fault.function != function) continue;
    const std::uint64_t call = row.calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (call >= row.fault.from_call && call - row.fault.from_call < row.fault.times) {
      return static_cast<CUresult>(row.fault.error);
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace simulated_gpu

int simulated_gpu_injected_fault(const char* function) {
  return simulated_gpu::injected_fault(function);
}

void simulated_gpu_inject_faults(const char* faults) {
  simulated_gpu::faults().store(simulated_gpu::make_faults(faults), std::memory_order_release);
}
