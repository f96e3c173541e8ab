// The colours of the timelines' states.
import { useMemo } from 'preact/hooks';
import type { TimelineModel, Track } from '../../model/timeline/decode';
import { state_name } from '../../model/timeline/words';

/** Returns true if the track's shares contain the state. */
function has_share({ shares }: Track, state: number): boolean {
  const at = shares?.states.indexOf(state) ?? -1;
  return (shares?.sums[at]?.[shares.bins] ?? 0) > 0;
}

function states_of(model: TimelineModel): string[] {
  return model.states.filter((_, state) => model.ranks.some((rank) => rank.tracks.some((track) => track.state.includes(state) || has_share(track, state))));
}

export function StateLegend({ models }: { models: readonly TimelineModel[] }) {
  const seen = useMemo(() => [...new Set(models.flatMap(states_of))], models);
  return (
    <ul class="legend" aria-label="Colours of the timeline">
      {seen.map((state) => (
        <li key={state}>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`fill-${/^\w+$/.test(state) ? state : 'other'}`} width="10" height="10" />
          </svg>
          {state_name(state)}
        </li>
      ))}
    </ul>
  );
}
