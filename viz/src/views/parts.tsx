// Small parts that many views share.
import type { ComponentChildren } from 'preact';
import { causes, cause_meaning, cause_name, by_size, type Cause, type SecondsByCause } from '../model/causes';
import { clock_error_meaning } from '../model/clock_error';
import { part_meaning, part_name, type Part } from '../model/parts';
import { digit_groups, share_of, time_text } from '../format';

/** A number with spaced groups of digits that is copied without spaces. */
export function Digits({ text }: { text: string }) {
  const groups = digit_groups(text);
  return (
    <span class="digits">
      {groups.map((group, index) => (
        <span key={index}>{group}</span>
      ))}
    </span>
  );
}

/** A section with a heading that links to itself. */
export function Section({ id, title, intro, children }: { id: string; title: string; intro?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <h2 id={`${id}-title`}>{title}</h2>
      {intro === undefined ? null : <p class="intro">{intro}</p>}
      {children}
    </section>
  );
}

/** One horizontal bar of coloured pieces, relative to `full`. Without a label it only repeats a number. */
export function StackedBar({ pieces, full, label }: { pieces: readonly { kind: string; name: string; time_s: number }[]; full: number; label?: string }) {
  const role = label === undefined ? ({ 'aria-hidden': 'true' } as const) : ({ role: 'img', 'aria-label': label } as const);
  let begin = 0;
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" {...role}>
      {pieces.map(({ kind, name, time_s }) => {
        const x = begin;
        const width = share_of(time_s, full) * 100;
        begin += width;
        return (
          <rect key={kind} class={`fill-${kind}`} x={x} y={0} width={width} height={10}>
            <title>{`${name}: ${time_text(time_s)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

/** Waiting by cause as one bar. */
export function CauseBar({ times, full }: { times: SecondsByCause; full: number }) {
  const shares = by_size(times);
  const label = shares.map(({ cause, time_s }) => `${cause_name(cause)} ${time_text(time_s)}`).join(', ');
  // In the order of causes, not of sizes, so that bars below each other can be compared.
  const pieces = causes.map((cause) => ({ kind: cause, name: cause_name(cause), time_s: times[cause] })).filter((each) => each.time_s > 0);
  return <StackedBar pieces={pieces} full={full} label={label === '' ? 'nothing' : label} />;
}

/** Marks a name or a figure that lies within the clocks' error. */
export function ClockErrorMark() {
  return (
    <abbr class="clock-error" title={clock_error_meaning}>
      {' ‡'}
    </abbr>
  );
}

/** The note below a table with such a mark. */
export function ClockErrorNote({ is_needed }: { is_needed: boolean }) {
  return is_needed ? <p class="note">‡ {clock_error_meaning}.</p> : null;
}

/** A small square in a colour of the style sheet. */
export function Swatch({ kind }: { kind: string }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect class={`fill-${kind}`} width="10" height="10" />
    </svg>
  );
}

export function CauseName({ cause }: { cause: Cause }) {
  return (
    <span class="cause" title={cause_meaning(cause)}>
      <Swatch kind={cause} />
      {cause_name(cause)}
    </span>
  );
}

export function PartName({ part }: { part: Part }) {
  return (
    <span class="cause" title={part_meaning(part)}>
      <Swatch kind={part} />
      {part_name(part)}
    </span>
  );
}

/** `line`: the name of a line that is drawn over the parts. */
export function Legend({ shown, line }: { shown: readonly Part[]; line?: string | undefined }) {
  return (
    <ul class="legend" aria-label="Colours of the parts of the time">
      {shown.map((part) => (
        <li key={part}>
          <PartName part={part} />
        </li>
      ))}
      {line === undefined ? null : (
        <li>
          <svg class="swatch line" viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 5H10" />
          </svg>
          {line}
        </li>
      )}
    </ul>
  );
}

/** Those with a colour of their own, which is the same in every picture. */
const coloured_transports = ['peer', 'mpi', 'staged', 'network', 'local', 'relayed', 'pushed', 'fused'];
const transport_kind = (name: string) => `transport-${coloured_transports.includes(name) ? name : 'other'}`;
export const transport_fill = (name: string) => `fill-${transport_kind(name)}`;

/** The colours of transports, in their order. */
export function TransportLegend({ transports }: { transports: readonly string[] }) {
  return (
    <ul class="legend" aria-label="Colours of the transports">
      {transports.map((name) => (
        <li key={name}>
          <Swatch kind={transport_kind(name)} />
          {name}
        </li>
      ))}
    </ul>
  );
}
