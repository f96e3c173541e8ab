#include "transports/one_shot/symmetric_memory.hpp"

#include "transports/device_memory/ipc_export.hpp"

namespace penstock::transports {

Status SymmetricMemory::make(const cuda::ContextRef& context, std::size_t bytes, SymmetricMemory& memory) {
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return scope.status();
  if (Status taken = cuda::RelaySlice::take(context, bytes, memory.slice_); !taken.ok()) return taken;
  const Buffer& buffer = memory.slice_.buffer();
  const cuda::Export exported = cuda::export_range(buffer);
  if (exported.why_not != nullptr) return {Code::declined, exported.why_not, exported.error};
  // before other processes write there
  CUstream stream = nullptr;
  if (Status made = context->stream(cuda::StreamUse::one_shot, stream); !made.ok()) return made;
  const auto address = reinterpret_cast<CUdeviceptr>(buffer.pointer);
  const cuda::Driver& driver = *cuda::driver();
  Status cleared =
      cuda::check(driver.cuMemsetD8Async(address, 0, memory.slice_.bytes(), stream), "cuMemsetD8Async");
  if (cleared.ok()) cleared = cuda::check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
  if (!cleared.ok()) return cleared;
  memory.context_ = context;
  memory.part_ = {{this_process(), buffer.buffer_id, buffer.range_base, buffer.range_bytes},
                  address - buffer.range_base,
                  exported.handle,
                  true};
  return {};
}

Status SymmetricMemory::open(std::span<const SymmetricPart> parts, std::size_t own) {
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  for (std::size_t process = 0; process < parts.size(); ++process) {
    const SymmetricPart& part = parts[process];
    if (!part.is_there) return {Code::declined, "symmetric memory that another process has not"};
    if (process == own) {
      addresses_.push_back(static_cast<std::byte*>(slice_.buffer().pointer));
      continue;
    }
    // another part of this process, which cannot open its own handles: kernels reach it by peer access
    if (part.range.owner == this_process()) {
      addresses_.push_back(reinterpret_cast<std::byte*>(part.range.base + part.offset));
      continue;
    }
    std::shared_ptr<const cuda::MappedRange> mapped;
    if (Status opened = cuda::IpcCache::of_process().map(part.range, part.handle, context_, mapped);
        !opened.ok()) {
      return opened;
    }
    addresses_.push_back(reinterpret_cast<std::byte*>(mapped->address() + part.offset));
    mapped_.push_back(std::move(mapped));
  }
  return {};
}

}  // namespace penstock::transports
