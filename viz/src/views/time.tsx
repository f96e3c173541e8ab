// Where the time goes: its parts, each with its seconds; where kernels were not recorded, the causes of waiting alone.
import type { Place, Report, Unattributed } from '../generated/report';
import { share_of, time_unit } from '../format';
import { by_size, cause_meaning, cause_name, type Cause, type CauseShare } from '../model/causes';
import { is_cause_within_clock_error } from '../model/clock_error';
import { words_of } from '../model/overview';
import { cause_of_part, part_meaning, part_name, part_rows, places_of_time, steps_of, type PartPlaces, type PartRow } from '../model/parts';
import { CauseName, ClockErrorMark, ClockErrorNote, PartName, Section, StackedBar } from './parts';
import { Table, type Column } from './table';

const whys: Record<Unattributed['why'], string> = {
  no_partner: "the other side's half was not recorded",
  no_common_clock: 'the other side is on a host whose clock could not be synchronised',
  nothing_recorded: 'the awaited operation was not recorded',
};

/** Returns what the row of all communication means, whose causes follow. */
const communication_meaning = (is_exposed: boolean) => `the host is in MPI${is_exposed ? ', and no kernel runs' : ''}; the parts below it are its causes`;

/** The title of the parts' table, as in `penstock report`. */
export const time_title = (report: Report) => (report.steps === null ? 'Where the time goes' : 'Where the time of a step goes');

/** What the words of a table mean, below it. */
function Meanings({ of }: { of: readonly { name: string; meaning: string }[] }) {
  return (
    <dl class="meanings">
      {of.map(({ name, meaning }) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{meaning}</dd>
        </>
      ))}
    </dl>
  );
}

function PartsTable({ report, is_doubtful }: { report: Report; is_doubtful: (cause: Cause) => boolean }) {
  const { ranks, whole, noun, is_exposed, who } = words_of(report);
  const unit = time_unit(report.counted.total_s / ranks / steps_of(report));
  const rows = part_rows(report);
  const title = ({ part }: PartRow) => (part === undefined ? noun : part_name(part));
  const show_part = (row: PartRow) => {
    if (row.part === undefined) return <span class="sum">{title(row)}</span>;
    const cause = cause_of_part(row.part);
    return (
      <span class={row.is_cause ? 'indented' : ''}>
        <PartName part={row.part} />
        {cause !== undefined && is_doubtful(cause) ? <ClockErrorMark /> : null}
      </span>
    );
  };
  const show_bar = (row: PartRow) => <StackedBar pieces={bar_of(row, rows)} full={Math.max(...rows.map((each) => each.time_s))} />;
  const columns: Column<PartRow>[] = [
    { key: 'part', title: 'Part', value: title, show: show_part },
    { key: 'time', title: report.steps === null ? 'a rank' : 'a rank and step', unit: unit.name, decimals: 3, value: (row) => row.time_s * unit.per_second },
    { key: 'share', title: `of ${whole}`, unit: '%', decimals: 2, value: (row) => row.share * 100 },
    ...(rows.some((row) => row.most !== undefined)
      ? [
          { key: 'most', title: 'most', unit: unit.name, decimals: 3, meaning: 'Of the rank that has most of it', value: (row: PartRow) => (row.most === undefined ? null : row.most.time_s * unit.per_second) },
          { key: 'rank', title: 'on rank', decimals: 0, is_name: true, value: (row: PartRow) => row.most?.rank ?? null },
        ]
      : []),
    { key: 'bar', title: 'compared', value: (row) => row.time_s, show: show_bar },
  ];
  return (
    <>
      <Table caption={`The parts of the time, of ${who}`} rows={rows} columns={columns} />
      <Meanings of={rows.map((row) => ({ name: title(row), meaning: row.part === undefined ? communication_meaning(is_exposed) : part_meaning(row.part) }))} />
    </>
  );
}

/** Exposed communication is drawn in the colours of its causes. */
const bar_of = (row: PartRow, rows: readonly PartRow[]) =>
  (row.part === undefined ? rows.filter((each) => each.is_cause) : [row]).flatMap(({ part, time_s }) => (part === undefined ? [] : [{ kind: part, name: part_name(part), time_s }]));

function CausesTable({ report, is_doubtful }: { report: Report; is_doubtful: (cause: Cause) => boolean }) {
  const { unit, ranks, whole, who } = words_of(report);
  const shares = by_size(report.counted.by_cause_s);
  const show_cause = ({ cause }: CauseShare) => (
    <>
      <CauseName cause={cause} />
      {is_doubtful(cause) ? <ClockErrorMark /> : null}
    </>
  );
  const columns: Column<CauseShare>[] = [
    { key: 'cause', title: 'Cause', value: (row) => row.cause, show: show_cause },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => (row.time_s / ranks) * unit.per_second },
    { key: 'share', title: `of ${whole}`, unit: '%', decimals: 2, value: (row) => share_of(row.time_s, report.counted.total_s) * 100 },
    {
      key: 'bar',
      title: 'compared',
      value: (row) => row.time_s,
      show: (row) => <StackedBar pieces={[{ kind: row.cause, name: row.cause, time_s: row.time_s }]} full={shares[0]?.time_s ?? 0} />,
    },
  ];
  return (
    <>
      <Table caption={`Time by cause, of ${who}`} rows={shares} columns={columns} />
      <Meanings of={shares.map(({ cause }) => ({ name: cause_name(cause), meaning: cause_meaning(cause) }))} />
    </>
  );
}

export function Time({ report }: { report: Report }) {
  const { unit, ranks, noun, who } = words_of(report);
  const has_parts = report.counted.parts_s != null;
  const is_doubtful = (cause: Cause) => is_cause_within_clock_error(report.counted.by_cause_s, report.counted.within_clock_error_s, cause);
  const place_columns = ({ part, all_s }: PartPlaces): Column<Place>[] => [
    { key: 'where', title: 'Where', value: (row) => row.where },
    { key: 'times', title: 'times', decimals: 0, value: (row) => row.times },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => (row.time_s / ranks) * unit.per_second },
    { key: 'share', title: `of ${part_name(part)}`, unit: '%', decimals: 1, value: (row) => share_of(row.time_s, all_s) * 100 },
    { key: 'most', title: 'most', unit: unit.name, decimals: 3, meaning: 'Of the rank that has most of it', value: (row) => row.most_s * unit.per_second },
    { key: 'rank', title: 'on rank', decimals: 0, is_name: true, value: (row) => (row.most_rank < 0 ? null : row.most_rank) },
  ];
  const gap_columns: Column<Unattributed>[] = [
    { key: 'call', title: 'MPI function', value: (row) => row.mpi_function },
    { key: 'why', title: 'why', value: (row) => whys[row.why] },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => (row.counted_s / ranks) * unit.per_second },
  ];
  return (
    <Section
      id="time"
      title={has_parts ? time_title(report) : 'Communication time by cause'}
      intro={has_parts ? `Of ${who}. Each moment belongs to one part, so the parts add up; those that are ${noun} are the causes of waiting.` : undefined}
    >
      {has_parts ? <PartsTable report={report} is_doubtful={is_doubtful} /> : <CausesTable report={report} is_doubtful={is_doubtful} />}
      <ClockErrorNote is_needed={by_size(report.counted.by_cause_s).some(({ cause }) => is_doubtful(cause))} />
      {places_of_time(report).map((places) => (
        <Table key={places.part} caption={places.caption} search="Find places" rows={places.rows} columns={place_columns(places)} left_out={report.left_out?.[places.part]} />
      ))}
      {report.unattributed.length > 0 ? (
        <Table caption="What could not be attributed" rows={report.unattributed} columns={gap_columns} left_out={report.left_out?.['unattributed']} />
      ) : null}
    </Section>
  );
}
