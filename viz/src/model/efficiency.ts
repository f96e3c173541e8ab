// The efficiencies of POP and TALP as a tree.
import type { Replay } from '../generated/report';

export interface Efficiency {
  readonly name: string;
  /** A share; each parent is the product of its children. */
  readonly value: number;
  readonly meaning: string;
  readonly children: readonly Efficiency[];
}

const leaf = (name: string, value: number, meaning: string): Efficiency => ({ name, value, meaning, children: [] });

/** Returns the tree of the ranks (POP) and, if the report has it, that of their GPUs (TALP). */
export function efficiencies(replay: Replay): Efficiency[] {
  const host = replay.efficiency;
  const gpu = replay.gpu_efficiency;
  const of_ranks: Efficiency = {
    name: 'Parallel efficiency of the ranks (POP)',
    value: host.parallel,
    meaning: 'mean computing of the ranks ÷ the time',
    children: [
      leaf('load balance', host.load_balance, 'mean computing of the ranks ÷ that of the busiest'),
      {
        name: 'communication',
        value: host.communication,
        meaning: "the busiest rank's computing ÷ the time",
        children: [
          leaf('serialisation', host.serialisation, "the busiest rank's computing ÷ the time with free messages: lost is waiting for each other"),
          leaf('transfer', host.transfer, 'the time with free messages ÷ the time: lost is what the messages themselves take'),
        ],
      },
    ],
  };
  if (gpu === null) return [of_ranks];
  const of_gpus: Efficiency = {
    name: 'Parallel efficiency of the GPUs (TALP)',
    value: gpu.parallel,
    meaning: 'mean time in kernels ÷ the time',
    children: [
      leaf('load balance', gpu.load_balance, 'mean time in kernels ÷ that of the busiest GPU'),
      leaf('communication', gpu.communication, "the busiest GPU's kernels ÷ its kernels and copies"),
      leaf('orchestration', gpu.orchestration, 'these ÷ the time: lost is time in which it has nothing to do'),
    ],
  };
  return [of_ranks, of_gpus];
}

/** Returns a tree as rows with their depth, from the top. */
export const rows_of = (tree: Efficiency, depth = 0): { depth: number; node: Efficiency }[] => [
  { depth, node: tree },
  ...tree.children.flatMap((child) => rows_of(child, depth + 1)),
];

/** Returns the leaf that loses most: where to look first. */
export function weakest(tree: Efficiency): Efficiency {
  return rows_of(tree)
    .map(({ node }) => node)
    .filter((node) => node.children.length === 0)
    .reduce((worst, node) => (node.value < worst.value ? node : worst));
}
