// The timeline of a report.
import { useState } from 'preact/hooks';
import type { LoadedTimeline, Problem } from '../../load';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { first_display, type Display } from '../../model/timeline/display';
import { view_in, type LinkedView } from '../../model/timeline/link';
import { Section } from '../parts';
import { Completeness } from './completeness';
import { StateLegend } from './legend';
import { LinkButton, use_linked_view } from './link';
import { TimelineKeys, TimelineOf } from './timeline';

const keys_id = 'timeline-keys';

/** Replaces a timeline that cannot be shown. */
export function NoTimeline({ problem, details }: Problem) {
  return (
    <p class="warning" role="alert">
      {problem} {details}
    </p>
  );
}

function Single({ model }: { model: TimelineModel }) {
  const [{ view, display }, set_shown] = useState<LinkedView>(() => view_in(location.hash, model) ?? { view: model.first_view, display: first_display(model) });
  use_linked_view(model, set_shown);
  const set_view = (next: Range | ((before: Range) => Range)) => set_shown((before) => ({ ...before, view: typeof next === 'function' ? next(before.view) : next }));
  const set_display = (next: Display) => set_shown((before) => ({ ...before, display: next }));
  return (
    <>
      <Completeness model={model} />
      <StateLegend models={[model]} />
      <TimelineOf model={model} view={view} set_view={set_view} display={display} set_display={set_display} bounds={model.run} name="Timeline" keys_id={keys_id} />
      <p class="zoom">
        <LinkButton linked={{ view, display }} />
      </p>
      <TimelineKeys id={keys_id} />
    </>
  );
}

export function TimelineSection({ loaded }: { loaded: LoadedTimeline }) {
  return (
    <Section id="timeline" title="Timeline" intro="What each rank and its GPU did when, from the moment the first rank returned from MPI_Init. At first a typical step, where steps were found; the strip above shows the whole run.">
      {'timeline' in loaded ? <Single model={loaded.timeline} /> : <NoTimeline {...loaded} />}
    </Section>
  );
}
