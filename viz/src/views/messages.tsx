// Messages and collectives: sizes, transports, and how much of the possible speed they reached.
import type { Collective, Report, Transport } from '../generated/report';
import { bytes_text, count_text, size_class_text, speed_number } from '../format';
import { histogram, possible_gb_per_s, went_packed } from '../model/messages';
import { words_of } from '../model/overview';
import { CauseBar, Section, transport_fill, TransportLegend } from './parts';
import { Table, type Column } from './table';

function Sizes({ classes }: { classes: readonly Transport[] }) {
  const { transports, sizes } = histogram(classes);
  const most = Math.max(...sizes.map((size) => size.messages));
  return (
    <figure>
      <TransportLegend transports={transports} />
      <table class="bars">
        <caption>Messages by size and transport</caption>
        <tbody>
          {sizes.map((size) => {
            let begin = 0;
            return (
              <tr key={size.limit_bytes}>
                <th scope="row">{size_class_text(size.limit_bytes)}</th>
                <td class="wide">
                  <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={size.by_transport.map((count, index) => `${transports[index] ?? ''} ${count}`).join(', ')}>
                    {size.by_transport.map((count, index) => {
                      const x = begin;
                      begin += (count / most) * 100;
                      return (
                        <rect key={index} class={transport_fill(transports[index] ?? '')} x={x} width={(count / most) * 100} height="10">
                          <title>{`${transports[index] ?? ''}: ${count_text(count)} messages`}</title>
                        </rect>
                      );
                    })}
                  </svg>
                </td>
                <td class="number">
                  {count_text(size.messages)}, {bytes_text(size.bytes)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </figure>
  );
}

const MiB = 1024 * 1024;

export function Messages({ report }: { report: Report }) {
  const { unit, ranks, adjective } = words_of(report);
  const largest_s = Math.max(...report.transports.map((each) => each.counted_s));
  const limit = (row: { size_limit_bytes: number | null }) => row.size_limit_bytes ?? Infinity;
  const columns: Column<Transport>[] = [
    { key: 'buffers', title: 'Messages', value: (row) => `${row.parts > 0 ? 'part of other calls: ' : ''}${row.source} → ${row.destination}` },
    { key: 'size', title: 'size', value: limit, show: (row) => size_class_text(row.size_limit_bytes) },
    { key: 'messages', title: 'count', decimals: 0, meaning: 'Messages of the program, each counted once; of other calls, such as collectives, the parts that moved', value: (row) => row.messages + row.parts },
    { key: 'bytes', title: 'payload', unit: 'MiB', decimals: 3, value: (row) => (row.bytes + row.part_bytes) / MiB },
    ...(report.transports.some(went_packed)
      ? [{ key: 'wire', title: 'sent', unit: 'MiB', decimals: 3, meaning: 'Less than the payload where lists of integers went as bitmaps', value: (row: Transport) => row.wire_bytes / MiB }]
      : []),
    { key: 'transport', title: 'transport', value: (row) => row.transport },
    { key: 'why', title: 'why this transport', value: (row) => (row.transport === 'mpi' ? 'carried by the MPI library' : row.reason) },
    { key: 'median', title: 'median', unit: 'GB/s', decimals: 2, number_text: speed_number, meaning: 'From when both sides were ready', value: (row) => row.median_gb_per_s },
    { key: 'possible', title: 'possible', unit: 'GB/s', decimals: 2, number_text: speed_number, meaning: 'The best that any transport reached in this run, between such buffers at that size', value: (row) => possible_gb_per_s(row, report.transports) },
    {
      key: 'reached',
      title: 'reached',
      unit: '%',
      decimals: 0,
      meaning: 'Median of possible',
      value: (row) => {
        const possible = possible_gb_per_s(row, report.transports);
        return possible === null || possible === 0 || row.median_gb_per_s === null ? null : (row.median_gb_per_s / possible) * 100;
      },
    },
    { key: 'time', title: `${adjective} a rank`, unit: unit.name, decimals: 3, value: (row) => (row.counted_s / ranks) * unit.per_second },
    { key: 'bar', title: 'by cause', value: (row) => row.counted_s, show: (row) => <CauseBar times={row.by_cause_s} full={largest_s} /> },
  ];
  const collective_columns: Column<Collective>[] = [
    { key: 'function', title: 'Collective', value: (row) => row.mpi_function },
    { key: 'size', title: 'size a rank', value: limit, show: (row) => size_class_text(row.size_limit_bytes) },
    { key: 'calls', title: 'calls', decimals: 0, value: (row) => row.calls },
    { key: 'bytes', title: 'payload of all', unit: 'MiB', decimals: 3, value: (row) => row.bytes / MiB },
    { key: 'waiting', title: 'waiting a rank', unit: unit.name, decimals: 3, meaning: 'Until the last rank, or the root, arrived; hidden or not', value: (row) => (row.waiting_s / ranks) * unit.per_second },
    { key: 'moving', title: 'moving a rank', unit: unit.name, decimals: 3, meaning: 'From then on', value: (row) => (row.moving_s / ranks) * unit.per_second },
    { key: 'median', title: 'median', unit: 'GB/s', decimals: 2, number_text: speed_number, value: (row) => row.median_gb_per_s },
    { key: 'transport', title: 'transport', value: (row) => (row.transport === 'none' ? 'mpi' : row.transport) },
    { key: 'why', title: 'why', value: (row) => (row.transport === 'none' ? 'host memory, or moved by another rank' : row.reason) },
  ];
  return (
    <Section id="messages" title="Messages">
      {report.transports.length > 0 ? (
        <>
          <Sizes classes={report.transports} />
          <Table caption="Messages by buffers, size and transport" search="Find transports or reasons" list="transports" rows={report.transports} columns={columns} left_out={report.left_out?.['transports']} />
        </>
      ) : null}
      {report.collectives.length > 0 ? (
        <>
          <h3>Collectives</h3>
          <Table caption="Collective calls" search="Find collectives" rows={report.collectives} columns={collective_columns} left_out={report.left_out?.['collectives']} />
        </>
      ) : null}
    </Section>
  );
}
