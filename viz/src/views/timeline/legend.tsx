// The colours of the timelines' states.
import { useMemo } from 'preact/hooks';
import type { TimelineModel, Track } from '../../model/timeline/decode';
import { state_name } from '../../model/timeline/words';
import { Swatch } from '../parts';

/** Returns true if the track's shares contain the state. */
function has_share({ shares }: Track, state: number): boolean {
  const at = shares?.states.indexOf(state) ?? -1;
  return (shares?.sums[at]?.[shares.bins] ?? 0) > 0;
}

function states_of(model: TimelineModel): string[] {
  return model.states.filter((_, state) => model.ranks.some((rank) => rank.tracks.some((track) => track.state.includes(state) || has_share(track, state))));
}

/** Returns true if kernels hide a part of some wait. */
const has_faint_part = (model: TimelineModel) =>
  model.ranks.some((rank) => rank.tracks.some(({ exposed, begin, end }) => exposed?.some((time, piece) => time > 0 && time < (end[piece] as number) - (begin[piece] as number)) === true));

export function StateLegend({ models }: { models: readonly TimelineModel[] }) {
  const seen = useMemo(() => [...new Set(models.flatMap(states_of))], models);
  const has_faint = useMemo(() => models.some(has_faint_part), models);
  return (
    <ul class="legend" aria-label="Colours of the timeline">
      {seen.map((state) => (
        <li key={state}>
          <Swatch kind={/^\w+$/.test(state) ? state : 'other'} />
          {state_name(state)}
        </li>
      ))}
      {has_faint ? (
        <li>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <rect class="fill-wire faint" width="10" height="10" />
          </svg>
          faint: the part of a wait that kernels hide
        </li>
      ) : null}
      {models.some(({ messages }) => messages.count > 0) ? (
        <li>
          <svg class="swatch arrow" viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 1 9 9M9 9 4.5 8M9 9 8 4.5" />
          </svg>
          message
        </li>
      ) : null}
    </ul>
  );
}
