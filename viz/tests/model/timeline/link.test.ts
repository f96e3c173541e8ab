import { describe, expect, it } from 'vitest';
import { fragment_of, view_in } from '../../../src/model/timeline/link';
import { model_with, track_with } from './timeline_builder';

const tracks = [track_with('waits', [])];
const model = model_with([tracks, tracks, tracks, tracks, tracks]);
const linked = { view: { from: 100, to: 250 }, display: { open: new Set([0, 1, 2, 4]), shown: new Map([['GPU 0 streams', 'lanes'], ['a, b & c=%', 'hidden'], ['thread 0', 'row']] as const) } };

describe('a link to a view', () => {
  it('holds time, open ranks, and how tracks are shown', () => {
    expect(fragment_of(linked)).toBe('#timeline?ns=100-250&open=0-2,4&lanes=GPU%200%20streams&row=thread%200&hidden=a%2C%20b%20%26%20c%3D%25');
  });
  it('gives the same view again', () => {
    const again = view_in(fragment_of(linked), model)!;
    expect(again.view).toEqual(linked.view);
    expect(again.display.open).toEqual(linked.display.open);
    expect([...again.display.shown].sort()).toEqual([...linked.display.shown].sort());
  });
  it('gives no view of what the run does not have', () => {
    for (const fragment of ['', '#timeline', '#time', '#timeline?', '#timeline?ns=5-1', '#timeline?ns=2000-3000', '#timeline?ns=-1-x&open=%%%']) expect(view_in(fragment, model), fragment).toBeUndefined();
    expect([...view_in('#timeline?ns=1-9&open=3-99&hidden=%E0%A4%A', model)!.display.open]).toEqual([3, 4]);
  });
});
