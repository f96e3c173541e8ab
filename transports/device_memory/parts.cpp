#include "transports/device_memory/parts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace penstock::transports {
namespace {

/// Host and managed memory share no page.
constexpr std::uintptr_t page_bytes = 4096;
/// Unmanaged device memory is mapped in aligned blocks of 2 MiB that hold nothing else.
constexpr std::uintptr_t aligned_block_bytes = std::uintptr_t{2} << 20;

constexpr std::uintptr_t page_of(std::uintptr_t address) noexcept {
  return address / page_bytes;
}
constexpr std::uintptr_t end_of_aligned_block(std::uintptr_t address) noexcept {
  return (address / aligned_block_bytes + 1) * aligned_block_bytes;
}

const void* at_address(std::uintptr_t address) noexcept {
  return reinterpret_cast<const void*>(address);
}

std::uintptr_t address_of_piece(const void* base, const Block& block, std::size_t index) noexcept {
  return reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(block.offset) +
         index * static_cast<std::uintptr_t>(block.stride);
}

/// More rows at one distance are those of an array, not allocations that happen to lie so.
constexpr std::size_t most_joined_pieces = 64;

/// Calls `visit(address, bytes, is_row)` for each piece of a layout in the order of the message, until it
/// returns false. `is_row`: amid the rows of an array.
template <class Visit>
bool all_pieces(const void* base, const Layout& layout, Visit visit) {
  for (const Block& block : layout.blocks()) {
    const bool is_array = block.count > most_joined_pieces;
    for (std::size_t index = 0; index < block.count; ++index) {
      const bool is_row = is_array && index != 0 && index + 1 != block.count;
      if (!visit(address_of_piece(base, block, index), block.bytes, is_row)) return false;
    }
  }
  return true;
}

/// Distinguishes host from device addresses that are queried one after the other.
class HostPages {
 public:
  /// `is_row`: as for all_pieces(); a row near another host address is not queried.
  [[nodiscard]] bool is_host(std::uintptr_t address, bool is_row = false) noexcept {
    if (last_ && page_of(address) == page_of(*last_)) return true;
    if (last_ && is_row && end_of_aligned_block(address) == end_of_aligned_block(*last_)) return true;
    if (is_on_device(at_address(address))) return false;
    last_ = address;
    return true;
  }
  /// Returns the end of the host memory that begins at `address`, which is a host address: `end` or less.
  /// Pieces of a layout may have been joined where host memory and that of a device touch.
  [[nodiscard]] std::uintptr_t host_until(std::uintptr_t address, std::uintptr_t end, bool is_row) noexcept {
    const std::uintptr_t behind = std::min(end, end_of_aligned_block(address));
    if (is_host(behind - 1, is_row)) return behind;
    std::uintptr_t host = page_of(address);
    std::uintptr_t other = page_of(behind - 1);
    while (other - host > 1) {
      const std::uintptr_t middle = host + (other - host) / 2;
      (is_host(middle * page_bytes) ? host : other) = middle;
    }
    return other * page_bytes;
  }

 private:
  std::optional<std::uintptr_t> last_;
};

/// Sorts pieces by the allocation in which they lie.
class Partition {
 public:
  /// Adds the next bytes of the message.
  void add(std::uintptr_t address, std::size_t bytes, bool is_row) {
    while (bytes > 0) {
      const auto [part, end] = find(address, address + bytes, is_row);
      const std::size_t run = std::min<std::size_t>(bytes, end - address);
      add_to(parts_[part], address, run);
      packed_bytes_ += run;
      address += run;
      bytes -= run;
    }
  }
  [[nodiscard]] std::vector<ViewPart> take() noexcept { return std::move(parts_); }

 private:
  struct Found {
    std::size_t part;
    std::uintptr_t end;  ///< addresses below this surely lie there
  };
  struct Range {
    std::uintptr_t end;
    std::size_t part;
  };

  [[nodiscard]] Found find(std::uintptr_t address, std::uintptr_t end_of_piece, bool is_row) {
    auto range = ranges_.upper_bound(address);
    if (range != ranges_.begin() && (--range)->second.end > address)
      return {range->second.part, range->second.end};
    if (host_pages_.is_host(address, is_row)) {
      if (host_part_ == none) host_part_ = begin_part(address);
      return {host_part_, host_pages_.host_until(address, end_of_piece, is_row)};
    }
    const std::size_t part = begin_part(address);
    const Buffer& buffer = parts_[part].view.buffer;
    if (buffer.range_bytes == 0 || !buffer.holds(0, 1)) return {part, end_of_aligned_block(address)};
    const auto base = static_cast<std::uintptr_t>(buffer.range_base);
    ranges_[base] = {base + buffer.range_bytes, part};
    return {part, base + buffer.range_bytes};
  }
  [[nodiscard]] std::size_t begin_part(std::uintptr_t address) {
    parts_.emplace_back().view.buffer = transports::inspect(at_address(address));
    return parts_.size() - 1;
  }
  void add_to(ViewPart& part, std::uintptr_t address, std::size_t bytes) {
    const auto origin = reinterpret_cast<std::uintptr_t>(part.view.buffer.pointer);
    part.view.layout.append({.offset = static_cast<std::ptrdiff_t>(address - origin), .bytes = bytes});
    part.packed.append({.offset = static_cast<std::ptrdiff_t>(packed_bytes_), .bytes = bytes});
  }

  static constexpr std::size_t none = SIZE_MAX;
  std::vector<ViewPart> parts_;
  std::map<std::uintptr_t, Range> ranges_;  ///< by their begin
  HostPages host_pages_;
  std::size_t host_part_ = none;
  std::size_t packed_bytes_ = 0;
};

}  // namespace

bool reaches_device(const void* base, const Layout& layout) noexcept {
  HostPages host_pages;
  return !all_pieces(base, layout, [&](std::uintptr_t address, std::size_t bytes, bool is_row) {
    for (const std::uintptr_t end = address + bytes; address < end;
         address = host_pages.host_until(address, end, is_row)) {
      if (!host_pages.is_host(address, is_row)) return false;
    }
    return true;
  });
}

void find_parts(BufferView& view) {
  Partition partition;
  all_pieces(view.buffer.pointer, view.layout, [&](std::uintptr_t address, std::size_t bytes, bool is_row) {
    partition.add(address, bytes, is_row);
    return true;
  });
  std::vector<ViewPart> parts = partition.take();
  if (parts.size() < 2) return;
  void* const base = view.buffer.pointer;
  const auto has_kind = [](BufferKind kind) {
    return [kind](const ViewPart& part) { return part.view.buffer.kind == kind; };
  };
  const auto freed = std::ranges::find_if(parts, has_kind(BufferKind::unknown));
  const auto on_device = std::ranges::find_if(
      parts, [](const ViewPart& part) { return lives_on_device(part.view.buffer.kind); });
  if (const auto shown = freed != parts.end() ? freed : on_device; shown != parts.end())
    view.buffer = shown->view.buffer;
  view.buffer.pointer = base;
  view.parts = std::make_shared<const std::vector<ViewPart>>(std::move(parts));
}

bool is_of_one_host_kind(const BufferView& view) noexcept {
  return all_pieces(view.buffer.pointer, view.layout, [&](std::uintptr_t address, std::size_t bytes, bool) {
    return transports::inspect(at_address(address)).kind == view.buffer.kind &&
           transports::inspect(at_address(address + bytes - 1)).kind == view.buffer.kind;
  });
}

}  // namespace penstock::transports
