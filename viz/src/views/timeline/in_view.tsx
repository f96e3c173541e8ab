// The longest events in view as a table, which a screen reader reads instead of the picture.
import { useMemo } from 'preact/hooks';
import { time_unit } from '../../format';
import type { Range, TimelineModel } from '../../model/timeline/decode';
import { longest_in, range_of, type Selection } from '../../model/timeline/navigation';
import { name_of } from '../../model/timeline/words';
import { Table, type Column } from '../table';
import { use_rested } from '../use_rested';

const most_listed = 60;

export function InView({ model, view, select }: { model: TimelineModel; view: Range; select: (selection: Selection) => void }) {
  const rested = use_rested(view);
  const rows = useMemo(() => longest_in(model.ranks, rested, most_listed), [model, rested]);
  const unit = time_unit((rested.to - rested.from) * 1e-9);
  const in_unit = (time_ns: number) => time_ns * 1e-9 * unit.per_second;
  const columns: Column<Selection>[] = [
    {
      key: 'name',
      title: 'Event',
      value: (row) => name_of(model, row.track, row.piece),
      show: (row) => (
        <button type="button" class="plain" onClick={() => select(row)}>
          {name_of(model, row.track, row.piece)}
        </button>
      ),
    },
    { key: 'rank', title: 'rank', decimals: 0, is_name: true, value: (row) => row.rank.rank },
    { key: 'track', title: 'on', value: (row) => row.track.name },
    { key: 'begin', title: 'begins', unit: unit.name, decimals: 3, value: (row) => in_unit(range_of(row).from) },
    { key: 'length', title: 'takes', unit: unit.name, decimals: 3, value: (row) => in_unit(range_of(row).to - range_of(row).from) },
  ];
  return (
    <details class="in-view">
      <summary>What is in view, as a table</summary>
      <Table caption="The longest events in view" rows={rows} columns={columns} search="Find names or ranks in it" />
    </details>
  );
}
