import { describe, expect, it } from 'vitest';
import { pinched, type Fingers } from '../../../src/model/timeline/pinch';

const all = { from: 0, to: 1000 };
/** A picture of 500 pixels, 100 pixels from the left. */
const view_after = (from: Fingers, to: Fingers, view = all) => pinched(view, all, from, to, 100, 500);
const at = (x: number, y = 50) => ({ x, y });

describe('two fingers', () => {
  it('that spread zoom, and what lay between them stays between them', () => {
    // 350 px is the middle of the picture: 500 ns
    expect(view_after([at(300), at(400)], [at(250), at(450)])).toEqual({ from: 250, to: 750 });
    // 150 px is a tenth of it
    expect(view_after([at(125), at(175)], [at(100), at(200)])).toEqual({ from: 50, to: 550 });
  });
  it('that come together show more, and never more than there is', () => {
    expect(view_after([at(250), at(450)], [at(300), at(400)], { from: 400, to: 600 })).toEqual({ from: 300, to: 700 });
    expect(view_after([at(100), at(600)], [at(340), at(360)])).toEqual(all);
  });
  it('that move alike move the view', () => {
    expect(view_after([at(300), at(400)], [at(250), at(350)], { from: 400, to: 500 })).toEqual({ from: 410, to: 510 });
  });
  it('above each other zoom like those beside each other', () => {
    expect(view_after([at(350, 50), at(350, 150)], [at(350, 0), at(350, 200)])).toEqual({ from: 250, to: 750 });
  });
  it('at one place give a view all the same', () => {
    const view = view_after([at(350), at(350)], [at(350), at(350)]);
    expect(view).toEqual(all);
  });
});
