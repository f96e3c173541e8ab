// The timeline of a report.
import { useState } from 'preact/hooks';
import type { LoadedTimeline, Problem } from '../../load';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { Section } from '../parts';
import { Completeness } from './completeness';
import { StateLegend } from './legend';
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
  const [view, set_view] = useState<Range>(model.first_view);
  return (
    <>
      <Completeness model={model} />
      <StateLegend models={[model]} />
      <TimelineOf model={model} view={view} set_view={set_view} bounds={model.run} name="Timeline" keys_id={keys_id} />
      <TimelineKeys id={keys_id} />
    </>
  );
}

export function TimelineSection({ loaded }: { loaded: LoadedTimeline }) {
  return (
    <Section id="timeline" title="Timeline" intro="What each rank and its GPU did when, from the moment the first rank returned from MPI_Init.">
      {'timeline' in loaded ? <Single model={loaded.timeline} /> : <NoTimeline {...loaded} />}
    </Section>
  );
}
