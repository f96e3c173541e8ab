#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

MemoryKind draw_kind(const Program& program, Random& random, int rank, unsigned device_percent) {
  constexpr MemoryKind host[] = {MemoryKind::pageable, MemoryKind::pinned};
  constexpr MemoryKind device[] = {MemoryKind::device, MemoryKind::device, MemoryKind::async_pool,
                                   MemoryKind::managed, MemoryKind::virtual_memory};
  const MemoryKind kind = random.chance(device_percent) ? device[random.below(5)] : host[random.below(2)];
  return program.uses_no_gpu[rank] ? MemoryKind::pageable : kind;
}

Region allocate_region(Program& program, Random& random, int rank, std::size_t bytes,
                       unsigned device_percent) {
  const MemoryKind kind = draw_kind(program, random, rank, device_percent);
  return allocate_region(program, random, rank, bytes, kind);
}

Region allocate_region(Program& program, Random& random, int rank, std::size_t bytes, MemoryKind kind) {
  Region region;
  region.kind = kind;
  std::size_t& used = program.arena_bytes[rank][static_cast<std::size_t>(kind)];
  region.offset = used + guard_bytes;
  region.bytes = bytes;
  used += guard_bytes * 2 + (bytes + 15) / 16 * 16 + random.below(4) * 16;
  return region;
}

Place draw_place(Program& program, Random& random, int rank, Base base, int elements, bool with_room,
                 unsigned device_percent) {
  Place place;
  if (random.chance(40)) place.shape = static_cast<Shape>(random.between(1, 3));
  for (const int copies : {2, 3, 7}) {
    if (place.shape != Shape::contiguous && elements % copies == 0 && random.chance(25)) {
      place.copies = copies;
    }
  }
  place.elements_each = elements / place.copies;
  if (with_room && random.chance(40)) {
    if (place.shape != Shape::contiguous && random.chance(50)) {
      place.copies += random.between(1, 2);
    } else {
      place.elements_each += random.between(1, 40);
    }
  }
  place.region = allocate_region(program, random, rank, span_bytes(place, base), device_percent);
  return place;
}

}  // namespace penstock::differential
