// What happens in the marked part of the timeline, added up.
import { useMemo } from 'preact/hooks';
import { plural, share_of, time_unit } from '../../format';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { sums_in, type NamedSum, type StateSum } from '../../model/timeline/sums';
import { cause_of, ns_text, range_text, state_name } from '../../model/timeline/words';
import { Swatch } from '../parts';
import { Table, type Column } from '../table';
import { use_rested } from '../use_rested';

const MiB = 1024 * 1024;

/** Waits are those that are exposed; what kernels hide of them is a state of its own. */
const name_of_sum = (state: string) => (cause_of(state) === undefined ? state_name(state) : `exposed: ${state_name(state)}`);

export function SumsOfMark({ model, mark: moving, close }: { model: TimelineModel; mark: Range; close: () => void }) {
  const mark = use_rested(moving);
  const sums = useMemo(() => sums_in(model, mark), [model, mark]);
  const span = mark.to - mark.from;
  const unit = time_unit(span * 1e-9);
  const in_unit = (time_ns: number) => time_ns * 1e-9 * unit.per_second;
  const show_state = ({ state }: { state: string }, name: string) => (
    <span class="cause">
      <Swatch kind={state} />
      {name}
    </span>
  );
  const state_columns: Column<StateSum>[] = [
    { key: 'state', title: 'What', value: (row) => name_of_sum(row.state), show: (row) => show_state(row, name_of_sum(row.state)) },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => in_unit(row.time / Math.max(1, sums.ranks)) },
    { key: 'share', title: 'of it', unit: '%', decimals: 1, value: (row) => share_of(row.time / Math.max(1, sums.ranks), span) * 100 },
    { key: 'most', title: 'most', unit: unit.name, decimals: 3, meaning: 'Of the rank that has most of it', value: (row) => in_unit(row.most) },
    { key: 'rank', title: 'on rank', decimals: 0, is_name: true, value: (row) => row.most_rank },
  ];
  const named_columns: Column<NamedSum>[] = [
    { key: 'name', title: 'Kernel or copy', value: (row) => (row.name === '' ? state_name(row.state) : row.name), show: (row) => show_state(row, row.name === '' ? state_name(row.state) : row.name) },
    { key: 'times', title: 'times', decimals: 0, value: (row) => row.times },
    { key: 'time', title: 'a rank', unit: unit.name, decimals: 3, value: (row) => in_unit(row.time / Math.max(1, sums.ranks)) },
    { key: 'bytes', title: 'bytes', unit: 'MiB', decimals: 3, value: (row) => (row.bytes === 0 ? null : row.bytes / MiB) },
  ];
  return (
    <div class="details sums">
      <h3>
        {ns_text(span)}, from {range_text(mark)}, of {plural(sums.ranks, 'rank')}
      </h3>
      <p>
        <button type="button" onClick={close}>
          Remove the mark
        </button>
      </p>
      {sums.states.length === 0 ? <p>No kernel, no copy and no wait.</p> : <Table caption="Sums of what is marked" rows={sums.states} columns={state_columns} />}
      {sums.named.length === 0 ? null : <Table caption="Kernels and copies in what is marked" search="Find names" rows={sums.named} columns={named_columns} />}
      {sums.is_partial ? <p class="note">Short kernels and copies are missing from the second table: there is more than a page can hold.</p> : null}
    </div>
  );
}
