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
    meaning: 'mean computing of the ranks by the time',
    children: [
      leaf('load balance', host.load_balance, 'mean computing of the ranks by that of the busiest'),
      {
        name: 'communication',
        value: host.communication,
        meaning: "the busiest rank's computing by the time",
        children: [
          leaf('serialisation', host.serialisation, 'what is left by waiting for each other, were messages free'),
          leaf('transfer', host.transfer, 'what is left by what messages themselves cost'),
        ],
      },
    ],
  };
  if (gpu === null) return [of_ranks];
  const of_gpus: Efficiency = {
    name: 'Parallel efficiency of the GPUs (TALP)',
    value: gpu.parallel,
    meaning: 'mean time in kernels by the time',
    children: [
      leaf('load balance', gpu.load_balance, 'mean time in kernels by that of the busiest GPU'),
      leaf('communication', gpu.communication, "the busiest GPU's kernels by its kernels and copies"),
      leaf('orchestration', gpu.orchestration, 'these by the time: what is left by having nothing to do'),
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
