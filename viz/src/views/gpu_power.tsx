// Power and clocks of the GPUs.
import type { GpuPowerOfOne, Report } from '../generated/report';
import { Section } from './parts';
import { Table, type Column } from './table';

/** A sentence for each. Further ones are in the table. */
const most_warnings = 3;

export function ThrottledGpus({ report }: { report: Report }) {
  const all = report.gpu_power?.throttled ?? [];
  const further = all.length + (report.left_out?.['gpu_power.throttled'] ?? 0) - most_warnings;
  if (all.length === 0) return null;
  return (
    <ul class="notices" aria-label="Throttled GPUs">
      {all.slice(0, most_warnings).map((words) => (
        <li key={words}>! {words}</li>
      ))}
      {further > 0 ? (
        <li>
          … and {further} more, in <a href="#gpu-power">Power</a>
        </li>
      ) : null}
    </ul>
  );
}

function reason_of({ throttled, throttled_by_power, throttled_by_heat }: GpuPowerOfOne): string {
  if (throttled === null || throttled === 0) return '';
  if ((throttled_by_power ?? 0) === 0 && (throttled_by_heat ?? 0) === 0) return 'hardware';
  return (throttled_by_power ?? 0) >= (throttled_by_heat ?? 0) ? 'power limit' : 'heat';
}

export const has_gpu_power = (report: Report) => (report.gpu_power?.gpus.length ?? 0) > 0;

export function GpuPower({ report }: { report: Report }) {
  const { gpu_power } = report;
  if (gpu_power === undefined || !has_gpu_power(report)) return null;
  const columns: Column<GpuPowerOfOne>[] = [
    { key: 'host', title: 'Host', value: (row) => row.host },
    { key: 'gpu', title: 'GPU', decimals: 0, is_name: true, meaning: 'Its number in nvidia-smi', value: (row) => row.index },
    { key: 'bus', title: 'PCI bus', value: (row) => row.pci_bus_id },
    { key: 'rank', title: 'rank', decimals: 0, is_name: true, meaning: 'The first that used it', value: (row) => row.rank },
    { key: 'energy', title: 'energy', unit: 'J', decimals: 1, value: (row) => row.energy_j },
    { key: 'power', title: 'power', unit: 'W', decimals: 0, meaning: 'On average', value: (row) => row.mean_power_w },
    { key: 'most', title: 'at most', unit: 'W', decimals: 0, value: (row) => row.most_power_w },
    { key: 'clock', title: 'clock', unit: 'MHz', decimals: 0, meaning: 'Of its multiprocessors, on average', value: (row) => row.mean_sm_mhz },
    { key: 'least', title: 'at least', unit: 'MHz', decimals: 0, value: (row) => row.least_sm_mhz },
    { key: 'possible', title: 'possible', unit: 'MHz', decimals: 0, value: (row) => row.possible_sm_mhz },
    { key: 'heat', title: 'hottest', unit: '°C', decimals: 0, value: (row) => row.hottest_c },
    { key: 'throttled', title: 'throttled', unit: '%', decimals: 1, meaning: 'Share of the samples', value: (row) => (row.throttled === null ? null : row.throttled * 100) },
    { key: 'reason', title: 'by', value: reason_of },
  ];
  return (
    <Section id="gpu-power" title="Power and clocks" intro={gpu_power.words ?? ''}>
      <Table caption="Each GPU in what is counted, as its driver told ten times a second" search="Find hosts, GPUs or ranks" rows={gpu_power.gpus} columns={columns} left_out={report.left_out?.['gpu_power.gpus']} />
    </Section>
  );
}
