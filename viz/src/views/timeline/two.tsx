// The timelines of two runs below each other, at one scale, moved together or one by one.
import { useMemo, useState } from 'preact/hooks';
import type { LoadedTimeline } from '../../load';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { first_display, type Display } from '../../model/timeline/display';
import { alike, bounds_of, common_moments, followed, pair_of, type Pair, type Side } from '../../model/timeline/pair';
import { Section } from '../parts';
import { Completeness } from './completeness';
import { StateLegend } from './legend';
import { NoTimeline } from './section';
import { TimelineKeys, TimelineOf } from './timeline';

const keys_id = 'timeline-keys';
const names: Pair<string> = ['before', 'after'];

function Both({ models }: { models: Pair<TimelineModel> }) {
  const [views, set_views] = useState<Pair<Range>>(() => alike(pair_of((side) => models[side].first_view)));
  const [displays, set_displays] = useState<Pair<Display>>(() => pair_of((side) => first_display(models[side], true)));
  const [is_together, set_together] = useState(true);
  const moments = useMemo(() => common_moments(models), [models]);
  const runs = pair_of((side) => models[side].run);
  const bounds = is_together ? bounds_of(runs, views) : runs;
  const set_view = (side: Side) => (next: Range | ((before: Range) => Range)) =>
    set_views((before) => {
      const view = typeof next === 'function' ? next(before[side]) : next;
      return is_together ? followed(before, side, view) : pair_of((each) => (each === side ? view : before[each]));
    });
  const set_display = (side: Side) => (next: Display) => set_displays((before) => pair_of((each) => (each === side ? next : before[each])));
  const set_both = (together: boolean) => {
    set_together(together);
    if (together) set_views(alike(views));
  };
  return (
    <>
      <StateLegend models={models} />
      <p class="zoom">
        <label>
          <input type="checkbox" checked={is_together} onChange={(event) => set_both(event.currentTarget.checked)} /> Move both together
        </label>
        {moments.length === 0 ? null : <span class="apart">Look in both at</span>}
        {moments.map((moment) => (
          <button key={moment.why} type="button" onClick={() => set_views(moment.views)}>
            {moment.why}
          </button>
        ))}
      </p>
      {pair_of((side) => (
        <div key={side}>
          <h3>{side === 0 ? 'Before' : 'After'}</h3>
          <Completeness model={models[side]} />
          <TimelineOf model={models[side]} view={views[side]} set_view={set_view(side)} display={displays[side]} set_display={set_display(side)} bounds={bounds[side]} name={`Timeline ${names[side]}`} keys_id={keys_id} is_compact />
        </div>
      ))}
      <TimelineKeys id={keys_id} />
    </>
  );
}

export function TwoTimelines({ loaded }: { loaded: Pair<LoadedTimeline> }) {
  const models = useMemo(() => {
    const [before, after] = loaded;
    return 'timeline' in before && 'timeline' in after ? ([before.timeline, after.timeline] as const) : undefined;
  }, [loaded]);
  return (
    <Section
      id="timelines"
      title="Timelines"
      intro="What each rank and its GPU did when, before and after, at one scale: each run’s times are from the moment its first rank returned from MPI_Init; of repeated runs the first."
    >
      {models === undefined ? loaded.map((each, side) => ('timeline' in each ? null : <NoTimeline key={side} problem={`${side === 0 ? 'Before' : 'After'}: ${each.problem}`} details={each.details} />)) : <Both models={models} />}
    </Section>
  );
}
