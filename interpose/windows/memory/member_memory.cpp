#include "interpose/windows/memory/member_memory.hpp"

#include <algorithm>
#include <utility>

#include "interpose/staging/host_memory.hpp"
#include "interpose/windows/memory/host_reach.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/copy_selection/start_copy.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"
#include "transports/ipc/reach.hpp"
#include "transports/machine.hpp"
#include "transports/small/kernel_pull.hpp"

namespace penstock::interpose {
namespace {

using transports::belongs_to_context;
using transports::Buffer;
using transports::BufferKind;
using transports::BufferView;
using transports::Layout;
using transports::lives_on_device;
using transports::cuda::Context;
using transports::cuda::ContextRef;

/// A word whose value other processes do not have at the same address.
const std::uint64_t& probed_word() noexcept {
  static const std::uint64_t word = transports::this_process().nonce;
  return word;
}

/// Copies through host memory, for views of any layouts and in any contexts.
Status copy_through_host(const BufferView& from, const BufferView& to) {
  const HostMemory packed = HostMemory::take(from.layout.bytes());
  if (packed.data() == nullptr) return {Code::out_of_memory, "a window's copy through host memory"};
  Status copied = transports::download(packed.data(), from);
  return copied.ok() ? transports::upload(to, packed.data()) : copied;
}

/// Returns the source of one copy in `context`, or nothing if its layout needs more than one.
std::optional<transports::CopySource> as_source(const BufferView& from, const BufferView& to,
                                                const ContextRef& context) {
  transports::CopySource source{from.first_byte(), from.layout.bytes()};
  source.side = lives_on_device(from.buffer.kind) ? transports::Side::device : transports::Side::host;
  source.is_managed = from.buffer.kind == BufferKind::managed;
  source.is_pinned = from.is_pinned_throughout();
  if (from.layout.is_contiguous()) return source;
  const auto loops = from.layout.loops();
  if (!loops || !belongs_to_context(from.buffer.kind) ||
      !from.buffer.holds(from.layout.first_offset(), loops->extent()) ||
      !transports::can_copy_by_kernel(to, context)) {
    return std::nullopt;
  }
  source.loops = *loops;
  return source;
}

/// Starts a copy of what this process can address, all in `context`.
Status start_addressed(const BufferView& from, const BufferView& to, const ContextRef& context,
                       std::shared_ptr<const void> keeper, std::unique_ptr<transports::Pull>& pull) {
  if (from.is_scattered() || to.is_scattered()) return copy_through_host(from, to);
  const bool has_contexts =
      (!belongs_to_context(from.buffer.kind) || from.buffer.context == context->handle()) &&
      (!belongs_to_context(to.buffer.kind) || to.buffer.context == context->handle());
  auto source = has_contexts ? as_source(from, to, context) : std::nullopt;
  if (!source || (!lives_on_device(to.buffer.kind) && !transports::is_of_one_host_kind(to)))
    return copy_through_host(from, to);
  if (!lives_on_device(to.buffer.kind))
    wait_for_queued(from.buffer, from.handed_over_ns);  // a copy waits at its destination only
  source->keeper = std::move(keeper);
  Status started = transports::start_copy(*source, to, context, pull);
  return started.code() == Code::declined ? copy_through_host(from, to) : started;
}

}  // namespace

MemberRecord describe_member(void* base, std::uint64_t bytes, std::int64_t unit) noexcept {
  MemberRecord record{};
  record.bytes = bytes;
  record.unit = unit;
  record.probe_address = reinterpret_cast<std::uint64_t>(&probed_word());
  record.probe = probed_word();
  record.offer = transports::empty_offer();
  if (bytes == 0) return record;
  const BufferView memory{.buffer = transports::inspect(base), .layout = Layout::contiguous(bytes)};
  if (lives_on_device(memory.buffer.kind)) {
    const char* why_not = "";
    record.offer = transports::make_offer(memory, &why_not);
  } else {
    record.offer = transports::begin_offer(memory);
    record.offer.address = reinterpret_cast<std::uint64_t>(base);
    allow_others_to_reach_memory();
  }
  return record;
}

MemberMemory::MemberMemory(const MemberRecord& record) noexcept
    : record_(record), is_own_(transports::sender_of(record.offer) == transports::this_process()) {}

const char* MemberMemory::open() noexcept {
  if (record_.bytes == 0) return nullptr;
  if (is_own_) {
    reached_ = transports::inspect(reinterpret_cast<const void*>(record_.offer.address));
    return reached_->kind == BufferKind::unknown ? "the memory was freed" : nullptr;
  }
  return lives_on_device(record_.offer.kind) ? open_mapped() : open_host();
}

const char* MemberMemory::open_mapped() noexcept {
  switch (record_.offer.kind) {
    case BufferKind::async_pool:
      return "memory of cudaMallocAsync cannot be exported to other processes";
    case BufferKind::virtual_memory:
      return "memory mapped by cuMemMap cannot be exported to other processes";
    case BufferKind::managed:
      return "managed memory cannot be exported to other processes";
    default:
      break;
  }
  if (record_.offer.ipc_exported == 0) return "device memory could not be exported to other processes";
  if (!transports::cuda_in_use()) return "a rank that uses no GPU cannot reach device memory";
  const char* why_not = "out of memory";
  static_cast<void>(transports::guarded([&]() -> Status {
    const int device = std::max(0, transports::cuda::device_of(transports::device_of(record_.offer)));
    if (Context::any(device) == nullptr && Context::of(Context::handle_on(device)) == nullptr) {
      why_not = "this rank has no CUDA context";
      return {};
    }
    const BufferView nowhere;
    const transports::Payload payload(record_.offer, nowhere);
    if (const transports::Verdict& verdict = transports::judge_reach(payload); !verdict.accepted) {
      why_not = verdict.reason;
      return {};
    }
    transports::ReachedMemory memory;
    if (Status reached = transports::reach(payload, record_.bytes, memory); !reached.ok()) {
      why_not = "the driver refused to map device memory of another process";
      return {};
    }
    mapped_ = memory.mapped;
    const ContextRef& context = mapped_->context();
    reached_ = Buffer{.pointer = reinterpret_cast<void*>(memory.first),
                      .kind = BufferKind::device,
                      .device = context->device(),
                      .context = context->handle(),
                      .range_base = mapped_->address(),
                      .range_bytes = mapped_->range().bytes};
    why_not = nullptr;
    return {};
  }));
  return why_not;
}

const char* MemberMemory::open_host() noexcept {
  std::uint64_t word = 0;
  const std::int64_t process = record_.offer.process_id;
  const Status probed =
      read_host_memory(process, record_.probe_address, Layout::contiguous(sizeof word), &word);
  if (!probed.ok() || word != record_.probe)
    return "the kernel does not let this rank reach host memory of other ranks (process_vm_readv)";
  char byte = 0;
  const auto last = static_cast<std::ptrdiff_t>(record_.bytes - 1);
  const bool is_readable =
      read_host_memory(process, record_.offer.address, Layout::contiguous(1), &byte).ok() &&
      read_host_memory(process, record_.offer.address, Layout::contiguous(1, last), &byte).ok();
  return is_readable ? nullptr : "host memory of another rank cannot be read (process_vm_readv)";
}

bool lies_within(const Layout& where, std::uint64_t bytes) noexcept {
  const transports::OffsetRange span = where.span();
  return where.bytes() == 0 || (span.begin >= 0 && static_cast<std::uint64_t>(span.end) <= bytes);
}

void MemberMemory::close() noexcept {
  if (mapped_ == nullptr) return;
  reached_.reset();
  // without memory the mapping is kept, as if the GPU were at work
  static_cast<void>(transports::guarded([&]() -> Status {
    transports::cuda::IpcCache::of_process().drop(mapped_);
    mapped_.reset();
    transports::cuda::IpcCache::of_process().unmap_dropped();
    return {};
  }));
}

bool MemberMemory::leads_to(const MemberMemory& behind) const noexcept {
  if (record_.offer.kind != behind.record_.offer.kind) return false;
  if (record_.offer.kind == BufferKind::pageable || !reached_) return true;
  const std::uint64_t offset = behind.record_.offer.address - record_.offer.address;
  return reached_->holds(0, offset + behind.record_.bytes);
}

BufferView MemberMemory::view(const Buffer& buffer, const Layout& where) const {
  return {.buffer = buffer, .layout = where, .handed_over_ns = transports::time_of_call_ns()};
}

/// Prefers the context of the origin's buffer, which may map the memory, too, to that which mapped it first.
MemberMemory::Addressed MemberMemory::addressed_for(const BufferView& origin) const {
  Addressed found{*reached_, mapped_ != nullptr ? mapped_->context() : nullptr, mapped_};
  if (mapped_ == nullptr || !belongs_to_context(origin.buffer.kind) ||
      origin.buffer.context == found.context->handle()) {
    return found;
  }
  const transports::Payload payload(record_.offer, origin);
  transports::ReachedMemory memory;
  if (payload.context() == nullptr || !transports::judge_reach(payload).accepted ||
      !transports::reach(payload, record_.bytes, memory).ok()) {
    return found;
  }
  found.context = payload.context();
  found.keeper = memory.mapped;
  found.buffer.pointer = reinterpret_cast<void*>(memory.first);
  found.buffer.device = found.context->device();
  found.buffer.context = found.context->handle();
  found.buffer.range_base = memory.mapped->address();
  return found;
}

Status MemberMemory::start(Direction direction, const BufferView& origin, const Layout& where,
                           std::unique_ptr<transports::Pull>& pull) noexcept {
  return transports::guarded([&]() -> Status {
    if (where.bytes() == 0) return {};
    if (origin.buffer.kind == BufferKind::unknown)
      return {Code::bad_argument, "device memory that was freed"};
    if (!reached_) {
      // contiguous host memory needs no copy beside it
      const bool is_direct =
          !origin.is_scattered() && !lives_on_device(origin.buffer.kind) && origin.layout.is_contiguous();
      const HostMemory beside = is_direct ? HostMemory() : HostMemory::take(where.bytes());
      void* const packed = is_direct ? static_cast<void*>(origin.first_byte()) : beside.data();
      if (packed == nullptr) return {Code::out_of_memory, "a window's copy through host memory"};
      if (direction == Direction::put) {
        Status packing = is_direct ? Status{} : transports::download(packed, origin);
        return packing.ok() ? write(where, packed) : packing;
      }
      Status got = read(packed, where);
      return got.ok() && !is_direct ? transports::upload(origin, packed) : got;
    }
    auto [buffer, context, keeper] = addressed_for(origin);
    BufferView there = view(buffer, where);
    if (context == nullptr) {
      const Buffer& on_device = lives_on_device(origin.buffer.kind) ? origin.buffer : there.buffer;
      if (lives_on_device(on_device.kind)) context = Context::of(on_device);
      if (context == nullptr)
        return direction == Direction::put ? copy_through_host(origin, there)
                                           : copy_through_host(there, origin);
    }
    return direction == Direction::put ? start_addressed(origin, there, context, std::move(keeper), pull)
                                       : start_addressed(there, origin, context, std::move(keeper), pull);
  });
}

MemberMemory::ForKernels MemberMemory::for_kernels(const BufferView& origin,
                                                   const Layout& where) const noexcept {
  ForKernels found;
  if (!reached_ || !belongs_to_context(reached_->kind) || !where.is_contiguous()) return found;
  static_cast<void>(transports::guarded([&]() -> Status {
    const auto [buffer, context, keeper] = addressed_for(origin);
    if (buffer.context == origin.buffer.context || !lives_on_device(origin.buffer.kind)) {
      found = {static_cast<char*>(buffer.pointer) + where.first_offset(),
               context != nullptr ? context : Context::of(buffer), keeper};
    }
    return {};
  }));
  return found;
}

std::optional<BufferView> MemberMemory::for_uploads(const Layout& where) const {
  if (!reached_ || !belongs_to_context(reached_->kind)) return std::nullopt;
  return view(*reached_, where);
}

Status MemberMemory::read(void* packed, const Layout& where) noexcept {
  if (!reached_) return read_host_memory(record_.offer.process_id, record_.offer.address, where, packed);
  return transports::guarded([&] { return transports::download(packed, view(*reached_, where)); });
}

Status MemberMemory::write(const Layout& where, const void* packed) noexcept {
  if (!reached_) return write_host_memory(record_.offer.process_id, record_.offer.address, where, packed);
  return transports::guarded([&] { return transports::upload(view(*reached_, where), packed); });
}

}  // namespace penstock::interpose
