import { describe, expect, it } from 'vitest';
import { alike, bounds_of, common_moments, followed } from '../../../src/model/timeline/pair';
import { model_with, track_with } from './timeline_builder';

describe('two timelines', () => {
  it('are shown at one scale, each from where it begins', () => {
    expect(alike([{ from: 10, to: 30 }, { from: 500, to: 600 }])).toEqual([{ from: 10, to: 110 }, { from: 500, to: 600 }]);
  });
  it('follow each other, so that what lies above each other stays so', () => {
    const views = [{ from: 10, to: 110 }, { from: 500, to: 600 }] as const;
    expect(followed(views, 0, { from: 30, to: 80 })).toEqual([{ from: 30, to: 80 }, { from: 520, to: 570 }]);
    expect(followed(views, 1, { from: 520, to: 570 })).toEqual([{ from: 30, to: 80 }, { from: 520, to: 570 }]);
  });
  it('can be looked at as far as any of them goes', () => {
    const runs = [{ from: 0, to: 1000 }, { from: 0, to: 3000 }] as const;
    const bounds = bounds_of(runs, [{ from: 100, to: 200 }, { from: 500, to: 600 }]);
    expect(bounds).toEqual([{ from: -400, to: 2600 }, { from: 0, to: 3000 }]);
    // all of them lies above each other as before
    expect(followed([{ from: 100, to: 200 }, { from: 500, to: 600 }], 0, bounds[0])).toEqual(bounds);
  });
  it('have moments in common: of the same kind, whichever step it was', () => {
    const with_windows = (windows: { when_ns: [number, number]; why: string }[]) => model_with([[track_with('waits', [])]], { windows });
    const before = with_windows([
      { when_ns: [0, 40], why: 'a typical step: step 3' },
      { when_ns: [50, 60], why: 'the slowest step: step 7' },
      { when_ns: [70, 71], why: 'a long wait: rank 0, wire' },
    ]);
    const after = with_windows([
      { when_ns: [200, 210], why: 'the slowest step: step 1' },
      { when_ns: [100, 120], why: 'a typical step: step 9' },
    ]);
    expect(common_moments([before, after])).toEqual([
      { why: 'a typical step', views: [{ from: 0, to: 40 }, { from: 100, to: 140 }] },
      { why: 'the slowest step', views: [{ from: 50, to: 70 }, { from: 200, to: 220 }] },
    ]);
    expect(common_moments([before, with_windows([])])).toEqual([]);
  });
});
