// Buttons for what the keys of a timeline do.
import type { Range } from '../../model/timeline/decode';
import { panned, zoomed } from '../../model/timeline/navigation';
import { range_text } from '../../model/timeline/words';
import type { SetView } from './gestures';

interface Properties {
  readonly view: Range;
  readonly set_view: SetView;
  readonly bounds: Range;
  readonly are_all_open: boolean;
  readonly open_all: (open: boolean) => void;
  readonly measure: (range: Range) => void;
}

export function Controls({ view, set_view, bounds, are_all_open, open_all, measure }: Properties) {
  const is_all = view.from === bounds.from && view.to === bounds.to;
  return (
    <p class="zoom">
      <button type="button" onClick={() => set_view(zoomed(view, bounds, 0.5))}>
        Closer
      </button>
      <button type="button" disabled={is_all} onClick={() => set_view(zoomed(view, bounds, 2))}>
        Farther
      </button>
      <button type="button" disabled={is_all} aria-label="Earlier" onClick={() => set_view(panned(view, bounds, -0.5))}>
        ←
      </button>
      <button type="button" disabled={is_all} aria-label="Later" onClick={() => set_view(panned(view, bounds, 0.5))}>
        →
      </button>
      <button type="button" disabled={is_all} onClick={() => set_view(bounds)}>
        All
      </button>
      <button type="button" onClick={() => open_all(!are_all_open)}>
        {are_all_open ? 'Close all ranks' : 'Open all ranks'}
      </button>
      <button type="button" onClick={() => measure(view)}>
        Add up what is in view
      </button>{' '}
      <span class="window">{range_text(view)}</span>
    </p>
  );
}
