import { describe, expect, it } from 'vitest';
import { by_size, main_cause, sum_of } from '../../src/model/causes';
import { confidence } from '../../src/model/confidence';
import { efficiencies, rows_of, weakest } from '../../src/model/efficiency';
import { histogram, possible_gb_per_s } from '../../src/model/messages';
import { command_text, place_in_sentence, place_text } from '../../src/model/places';
import { compared, extremes, rank_columns } from '../../src/model/ranks';
import { bound } from '../../src/model/what_if';
import type { Replay } from '../../src/generated/report';
import { by_cause, rank_with, report_with, site_with, transport_with } from './report_builder';

describe('causes', () => {
  it('come by their size, without those that cost nothing', () => {
    expect(by_size(by_cause({ wire: 1, late_sender: 2 })).map(({ cause }) => cause)).toEqual(['late_sender', 'wire']);
    expect(main_cause(by_cause())).toBeUndefined();
    expect(sum_of(by_cause({ wire: 1, unattributed: 2 }))).toBe(3);
  });
});

describe('what-if sliders', () => {
  const times = by_cause({ wire: 0.3, late_sender: 0.1 });
  it('take away what they say', () => {
    const left = bound(2, times, { wire: 0.5 });
    expect(left.saved_s).toBeCloseTo(0.15);
    expect(left.counted_s).toBeCloseTo(0.25);
    expect(left.total_s).toBeCloseTo(1.85);
  });
  it('change nothing at zero, and never take more than there is', () => {
    expect(bound(2, times, {}).total_s).toBe(2);
    expect(bound(2, times, { wire: 7, late_sender: 1, gpu_not_ready: 1 }).counted_s).toBeCloseTo(0);
    expect(bound(2, times, { wire: -1 }).saved_s).toBe(0);
  });
});

describe('efficiencies', () => {
  const replay: Replay = {
    observed_s: 1,
    replayed_s: 1,
    edges_left_out: 0,
    efficiency: { parallel: 0.72, load_balance: 0.9, communication: 0.8, serialisation: 0.8, transfer: 1 },
    gpu_efficiency: null,
    longest_path: { kernels_s: 0, kernel_launch_s: 0, host_code_s: 1, communication_s: 0, before_steps_s: 0, first_rank: 0, calls: [], ranks: [] },
    what_if: [],
  };
  it('are trees whose parents are the products of their children', () => {
    const [tree] = efficiencies(replay);
    expect(tree).toBeDefined();
    for (const { node } of rows_of(tree!)) {
      if (node.children.length > 0) expect(node.children.reduce((product, child) => product * child.value, 1)).toBeCloseTo(node.value);
    }
    expect(rows_of(tree!).map(({ depth }) => depth)).toEqual([0, 1, 1, 2, 2]);
    expect(weakest(tree!).name).toBe('serialisation');
  });
  it('of GPUs are there where the report has them', () => {
    expect(efficiencies(replay)).toHaveLength(1);
    expect(efficiencies({ ...replay, gpu_efficiency: { parallel: 1, load_balance: 1, communication: 1, orchestration: 1 } })).toHaveLength(2);
  });
});

describe('places', () => {
  it('are file and line, or module and offset, and libraries are named', () => {
    expect(place_text(site_with())).toBe('halo.cpp:77 exchange');
    expect(place_in_sentence(site_with())).toBe('exchange (halo.cpp:77)');
    expect(place_text(site_with({ line: 0, function: '' }))).toBe('solver+0x40');
    expect(place_text(site_with({ module: '/lib/libhalo.so.1' }))).toBe('libhalo.so.1 halo.cpp:77 exchange');
    expect(place_text(site_with({ line: 0, function: '', module: '', module_offset: 0 }))).toBe('unknown source line');
  });
  it('of programs lose their folder, and nothing of the arguments', () => {
    expect(command_text('/a/b/solver --in /c/d')).toBe('solver --in /c/d');
    expect(command_text('solver')).toBe('solver');
  });
});

describe('ranks', () => {
  const ranks = [rank_with(2, { counted_s: 0.5 }), rank_with(0, { counted_s: 0.1 }), rank_with(1, { counted: false, counted_s: null, by_cause_s: null })];
  it('that are not counted are in no chart', () => expect(rank_columns(ranks).map(({ first }) => first)).toEqual([0, 2]));
  it('with least and most waiting are compared first', () => {
    expect(extremes(ranks)).toMatchObject({ least: { rank: 0 }, most: { rank: 2 } });
    expect(extremes([rank_with(0)])).toBeUndefined();
  });
  it('that are compared differ by right less left, and what is not known has no difference', () => {
    const rows = compared(rank_with(0, { kernels_s: null }), rank_with(1, { total_s: 1.5 }));
    expect(rows.find(({ name }) => name === 'all that is counted')?.difference_s).toBeCloseTo(0.5);
    expect(rows.find(({ name }) => name === 'kernels')?.difference_s).toBeNull();
    expect(rows.filter(({ cause }) => cause !== undefined).map(({ cause }) => cause)).toEqual(['wire']);
  });
});

describe('messages', () => {
  const classes = [
    transport_with({ messages: 10, bytes: 100, median_gb_per_s: 1, best_gb_per_s: 2, transport: 'staged' }),
    transport_with({ messages: 30, bytes: 300, median_gb_per_s: 4, best_gb_per_s: 5 }),
    transport_with({ messages: 1, bytes: 7, size_limit_bytes: null, transport: 'striped' }),
    transport_with({ messages: 2, bytes: 9, source: 'pageable', size_limit_bytes: 1024 }),
  ];
  it('are counted by size, smallest first, and by transport', () => {
    const { transports, sizes } = histogram(classes);
    expect(transports).toEqual(['peer', 'staged', 'striped']);
    expect(sizes.map((size) => [size.limit_bytes, size.messages, size.bytes])).toEqual([[1024, 2, 9], [65536, 40, 400], [null, 1, 7]]);
    expect(sizes[1]?.by_transport).toEqual([30, 10, 0]);
  });
  it('could reach what others of their kind and size reached', () => {
    expect(possible_gb_per_s(classes[0]!, classes)).toBe(5);
    expect(possible_gb_per_s(classes[2]!, classes)).toBeNull();
  });
  it('are not measured by lists that went as bitmaps', () => {
    const packed = transport_with({ bytes: 400, wire_bytes: 20, best_gb_per_s: 90 });
    expect(possible_gb_per_s(classes[0]!, [...classes, packed])).toBe(5);
    expect(possible_gb_per_s(packed, [...classes, packed])).toBe(90);
  });
});

describe('confidence', () => {
  it('names records, cost and clock', () => {
    expect(confidence(report_with({ ranks: [rank_with(0), rank_with(1)] }))).toEqual([
      '20 records, 0 dropped',
      'recording cost 0.1 % of the run',
      'GPU clock error ≤ 1.0 µs',
    ]);
  });
  it('names what was lost, and what is not known', () => {
    expect(confidence(report_with({ ranks: [rank_with(0, { gpu_clock_error_s: 0 })] })).join('; ')).not.toMatch(/GPU clock error/);
    const facts = confidence(report_with({ ranks: [rank_with(0, { tool_cost_s: null, gpu_clock_error_s: null, dropped_gpu_records: 2000 })] })).join('; ');
    expect(facts).toMatch(/2,000 GPU records lost: exposed time is too high/);
    expect(facts).toMatch(/recording cost unknown/);
    expect(facts).toMatch(/GPU clock error unknown/);
  });
});
