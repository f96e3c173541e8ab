#include "interpose/record/run/allocators.hpp"

#include <link.h>

#include <set>

namespace penstock::record {

std::string_view allocator_of(std::string_view library) noexcept {
  const std::string_view file = library.substr(library.rfind('/') + 1);
  if (file.starts_with("libc10_cuda.so")) return "PyTorch";
  if (file.starts_with("librmm.so")) return "RMM";
  return library.find("/cupy/cuda/") != std::string_view::npos ||
                 library.find("/cupy_backends/cuda/") != std::string_view::npos
             ? "CuPy"
             : "";
}

std::string loaded_allocators() {
  std::set<std::string_view> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        const std::string_view allocator = allocator_of(library->dlpi_name);
        if (!allocator.empty()) static_cast<std::set<std::string_view>*>(found)->insert(allocator);
        return 0;
      },
      &loaded);
  std::string text;
  for (const std::string_view each : loaded) text.append(text.empty() ? "" : ", ").append(each);
  return text;
}

}  // namespace penstock::record
