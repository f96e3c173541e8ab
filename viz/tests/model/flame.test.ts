import { describe, expect, it } from 'vitest';
import type { CallPath } from '../../src/generated/report';
import { boxes_below, flame_of, found_s, is_without_paths, neighbour, type FlameBox } from '../../src/model/flame';
import { by_cause } from './report_builder';

const path = (mpi_function: string, frames: string[], times: Parameters<typeof by_cause>[0], call_site = 0): CallPath => {
  const by_cause_s = by_cause(times);
  return { mpi_function, frames: frames as [string, ...string[]], shown_frame: 0, call_site, calls: 1, counted_s: Object.values(by_cause_s).reduce((sum, each) => sum + each, 0), by_cause_s };
};
const paths = [
  path('MPI_Waitall', ['exchange (halo.cpp:20)', 'step (main.cpp:5)', 'main (main.cpp:30)'], { wire: 2, late_sender: 1 }),
  path('MPI_Waitall', ['exchange (halo.cpp:40)', 'step (main.cpp:5)', 'main (main.cpp:30)'], { wire: 4 }, 1),
  path('MPI_Allreduce', ['main (main.cpp:31)'], { wait_at_collective: 3 }, 2),
  path('MPI_Send', ['helper_thread (io.cpp:7)'], { late_receiver: 0.5 }, 3),
  path('MPI_Isend', ['exchange (halo.cpp:10)', 'step (main.cpp:5)', 'main (main.cpp:30)'], {}),
];
const outline = (box: FlameBox): string[] => boxes_below(box, 0).map((each) => `${' '.repeat(each.depth)}${each.name}${each.at && ` at ${each.at}`} ${each.begin_s} ${each.time_s}`);

describe('a flame graph', () => {
  it('has one box for what is called from one place, the widest first, and the causes below calls', () => {
    expect(outline(flame_of(paths))).toEqual([
      'all 0 10.5',
      ' main 0 10',
      '  step at main.cpp:30 0 7',
      '   exchange at main.cpp:5 0 7',
      '    MPI_Waitall at halo.cpp:40 0 4',
      '     wire 0 4',
      '    MPI_Waitall at halo.cpp:20 4 3',
      '     late sender 4 1',
      '     wire 5 2',
      '  MPI_Allreduce at main.cpp:31 7 3',
      '   wait at collective 7 3',
      ' helper_thread 10 0.5',
      '  MPI_Send at io.cpp:7 10 0.5',
      '   late receiver 10 0.5',
    ]);
  });
  it('keeps functions with parentheses and frames without a function whole', () => {
    const all = flame_of([path('MPI_Recv', ['run(int) (a.cpp:3)', 'solver+0x40', 'boost::f(std::pair<int, int>) (b.hpp:9)'], { wire: 1 })]);
    expect(outline(all).slice(1, 5)).toEqual([' boost::f(std::pair<int, int>) 0 1', '  solver+0x40 at b.hpp:9 0 1', '   run(int) 0 1', '    MPI_Recv at a.cpp:3 0 1']);
  });
  it('adds up what a search finds once, though it lies in what was found', () => {
    const all = flame_of(paths);
    expect(found_s(all, 'WIRE')).toBe(6);
    expect(found_s(all, 'main.cpp')).toBe(10);
    expect(found_s(all, 'exchange main.cpp:5')).toBe(7);
    expect(found_s(all, '  ')).toBe(0);
    expect(found_s(all, 'nowhere')).toBe(0);
  });
  it('is walked by arrow keys: up to the caller, down to the widest, to the sides within the row', () => {
    const all = flame_of(paths);
    const down = ['ArrowDown', 'ArrowDown'].reduce((box, key) => neighbour(box, key, all), all);
    expect(down.name).toBe('step');
    const beside = neighbour(down, 'ArrowRight', all);
    expect(beside.name).toBe('MPI_Allreduce');
    expect(neighbour(beside, 'ArrowRight', all).name).toBe('MPI_Send');
    expect(neighbour(beside, 'ArrowLeft', all)).toBe(down);
    expect(neighbour(down, 'ArrowUp', all).name).toBe('main');
    expect(neighbour(all, 'ArrowUp', all)).toBe(all);
    expect(neighbour(down, 'ArrowLeft', all)).toBe(down);
  });
  it('leaves out what is too narrow, and what nothing is exposed in', () => {
    expect(boxes_below(flame_of(paths), 1).some((box) => box.name === 'helper_thread')).toBe(false);
    expect(flame_of([]).children).toEqual([]);
  });
});

it('call sites alone are no call paths, calls in main are', () => {
  expect(is_without_paths([path('MPI_Recv', ['exchange (halo.cpp:20)'], { wire: 1 }), path('MPI_Send', ['main (main.cpp:3)'], { wire: 1 })])).toBe(true);
  expect(is_without_paths([path('MPI_Recv', ['main (main.cpp:3)'], { wire: 1 })])).toBe(false);
  expect(is_without_paths(paths)).toBe(false);
});
