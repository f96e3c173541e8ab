// The page from top to bottom.
import { useEffect } from 'preact/hooks';
import type { Report } from '../generated/report';
import type { LoadedTimeline } from '../load';
import { command_text } from '../model/places';
import { CallPaths, has_call_paths } from './call_paths';
import { CallSites } from './call_sites';
import { Confidence } from './confidence';
import { Efficiencies } from './efficiency';
import { GpuPower, has_gpu_power } from './gpu_power';
import { Head } from './head';
import { Kernels } from './kernels';
import { MatrixView } from './matrix';
import { Messages } from './messages';
import { has_nccl, Nccl } from './nccl';
import { Others } from './others';
import { has_placement, Placement } from './placement';
import { Ranks } from './ranks';
import { StagingByHand } from './staging';
import { StepsView } from './steps';
import { Summary } from './summary';
import { Time } from './time';
import { TimelineSection } from './timeline/section';
import { WaitedFor } from './waited_for';
import { WhatIf } from './what_if';

/** In page order: id, name, and whether the report has content for it. */
const sections: readonly [string, string, (report: Report) => boolean][] = [
  ['summary', 'Summary', () => true],
  ['timeline', 'Timeline', () => true],
  ['time', 'Time', (report) => report.counted.total_s > 0],
  ['what-if', 'What if', (report) => report.counted.counted_s > 0],
  ['efficiency', 'Efficiency', (report) => report.replay !== null],
  ['ranks', 'Ranks', (report) => report.counted.total_s > 0],
  ['waited-for', 'Waited for', (report) => report.peers.length > 0 || report.latecomers.length > 0 || report.late_ranks.length > 0 || report.longest_waits.length > 0],
  ['steps', 'Steps', (report) => report.steps !== null],
  ['call-sites', 'Call sites', (report) => report.call_sites.length > 0],
  ['call-paths', 'Call paths', has_call_paths],
  ['messages', 'Messages', (report) => report.transports.length > 0 || report.collectives.length > 0],
  ['nccl', 'NCCL', has_nccl],
  ['matrix', 'Matrix', (report) => report.matrix !== null],
  ['kernels', 'Kernels', (report) => report.kernels.length > 0],
  ['placement', 'Placement', has_placement],
  ['gpu-power', 'Power', has_gpu_power],
  ['staging', 'Staging by hand', (report) => report.staging_by_hand.length > 0],
  ['others', 'More', () => true],
  ['confidence', 'Confidence', () => true],
];

export function App({ report, timeline }: { report: Report; timeline: LoadedTimeline }) {
  useEffect(() => {
    document.title = `${command_text(report.job.program)} · Penstock report`;
    // The sections did not exist yet when the browser looked for the address's fragment.
    if (location.hash.length > 1) document.getElementById(location.hash.slice(1).split('?')[0] ?? '')?.scrollIntoView();
  }, [report]);
  const shown = sections.filter(([, , has_any]) => has_any(report));
  const has = (id: string) => shown.some(([each]) => each === id);
  return (
    <>
      <a class="skip" href="#summary">
        To the summary
      </a>
      <Head report={report} sections={shown.map(([id, name]) => ({ id, name }))} />
      <main>
        <Summary report={report} />
        <TimelineSection loaded={timeline} />
        {has('time') ? <Time report={report} /> : null}
        {has('what-if') ? <WhatIf report={report} /> : null}
        <Efficiencies report={report} />
        {has('ranks') ? <Ranks report={report} /> : null}
        {has('waited-for') ? <WaitedFor report={report} /> : null}
        <StepsView report={report} />
        {has('call-sites') ? <CallSites report={report} /> : null}
        {has('call-paths') ? <CallPaths report={report} /> : null}
        {has('messages') ? <Messages report={report} /> : null}
        <Nccl report={report} />
        <MatrixView report={report} />
        {has('kernels') ? <Kernels report={report} /> : null}
        <Placement report={report} />
        <GpuPower report={report} />
        {has('staging') ? <StagingByHand report={report} /> : null}
        <Others report={report} />
        <Confidence report={report} />
      </main>
    </>
  );
}
