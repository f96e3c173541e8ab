#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

void move_some_actions_into_callbacks(Program& program, Random random) {
  if (random.chance(50)) return;
  const auto percent = static_cast<unsigned>(random.between(2, 40));
  for (std::vector<Action>& actions : program.actions) {
    for (Action& action : actions) {
      if (!random.chance(percent)) continue;
      action.inside = static_cast<Callback>(random.below(static_cast<std::size_t>(Callback::count_)));
    }
  }
}

}  // namespace penstock::differential
