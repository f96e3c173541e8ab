// The parts of the generator: regions and places that all of them draw, and what each family of operations
// adds to a program. Each draws from numbers of its own.
#pragma once

#include "tests/differential/program.hpp"
#include "tests/support/random.hpp"

namespace penstock::differential {

using test_support::Random;

/// Memory of a rank; of a rank that uses no GPU, always pageable.
[[nodiscard]] Region allocate_region(Program& program, Random& random, int rank, std::size_t bytes,
                                     unsigned device_percent);
[[nodiscard]] Region allocate_region(Program& program, Random& random, int rank, std::size_t bytes,
                                     MemoryKind kind);
[[nodiscard]] MemoryKind draw_kind(const Program& program, Random& random, int rank, unsigned device_percent);
/// For so many elements; perhaps with more room.
[[nodiscard]] Place draw_place(Program& program, Random& random, int rank, Base base, int elements,
                               bool with_room, unsigned device_percent);

/// Before any memory is drawn.
void leave_ranks_without_gpu(Program& program, Random random);
/// Messages into pageable memory, whose receives may be posted before a GPU is used.
void add_early_messages(Program& program, Random random);
/// Some messages get no elements; those without say so in different ways, and some types get empty blocks.
void empty_some_messages(Program& program, Random random);
void empty_some_collectives(Program& program, Random random);
/// Some messages and shares get absolute types over several allocations.
void spread_some_messages(Program& program, Random random);
void spread_some_collectives(Program& program, Random random, bool everywhere);
void add_freed_handles(Program& program, Random random);
void add_planted_errors(Program& program, Random random);
/// After all actions have been scheduled.
void move_some_actions_into_callbacks(Program& program, Random random);

}  // namespace penstock::differential
