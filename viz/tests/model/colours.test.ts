// Whether the style sheet's colours can be told apart, also by the colour-blind, in light and in dark.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { causes } from '../../src/model/causes';
import { parts } from '../../src/model/parts';

type Triple = readonly [number, number, number];
type Theme = 'light' | 'dark';

const style = readFileSync(new URL('../../src/style.css', import.meta.url), 'utf8');
const blocks: Record<Theme, string> = {
  light: /^:root \{([^}]*)\}/m.exec(style)?.[1] ?? '',
  dark: /^:root\[data-theme='dark'\] \{([^}]*)\}/m.exec(style)?.[1] ?? '',
};
function variable(name: string, theme: Theme): string {
  const value = [blocks[theme], blocks.light].map((block) => new RegExp(`--${name}: ([^;]+);`).exec(block)?.[1]).find((each) => each !== undefined);
  if (value === undefined) throw new Error(`the style sheet has no --${name}`);
  return value;
}
function fill(name: string, theme: Theme): string {
  const value = new RegExp(`\\.fill-${name}[ ,][^{]*\\{ fill: ([^;]+);`).exec(style)?.[1];
  if (value === undefined) throw new Error(`the style sheet has no fill for ${name}`);
  return value.startsWith('var') ? variable(value.slice('var(--'.length, -1), theme) : value;
}

/** Linear red, green and blue. */
const linear = (hex: string) =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)) as unknown as Triple;

/** Machado, Oliveira and Fernandes 2009: how colours are seen without one of the three kinds of cones. */
const sights: Record<string, readonly Triple[]> = {
  'all cones': [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const times = (row: Triple, colour: Triple) => row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
const seen_by = (matrix: readonly Triple[], colour: Triple) => matrix.map((row) => Math.min(1, Math.max(0, times(row, colour)))) as unknown as Triple;

/** CIE L*a*b* of D65: distances in it are about what people see. */
function lab(colour: Triple): Triple {
  const root = (value: number) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = root(times([0.4124, 0.3576, 0.1805], colour) / 0.95047);
  const y = root(times([0.2126, 0.7152, 0.0722], colour));
  const z = root(times([0.0193, 0.1192, 0.9505], colour) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const distance = (left: Triple, right: Triple) => Math.hypot(left[0] - right[0], left[1] - right[1], left[2] - right[2]);
/** 2 can just be seen side by side; this is told apart at a glance. */
const least_distance = 12;

const transports = ['peer', 'mpi', 'staged', 'network', 'local', 'relayed', 'pushed', 'fused'].map((name) => `transport-${name}`);

/** What lies beside each other in one bar or track. */
const groups: Record<string, readonly string[]> = {
  'where the time went': parts,
  'where kernels are not known': [...causes, 'other'],
  'messages by transport': transports,
  'a GPU stream': ['kernel', 'copy', 'others_kernel'],
  'a thread': ['waiting_call', 'other_call', 'range'],
};

describe.each(['light', 'dark'] as const)('in %s', (theme) => {
  it.each(Object.keys(sights))('the colours of a bar are told apart with %s', (sight) => {
    const alike: string[] = [];
    for (const names of Object.values(groups)) {
      for (const [index, left] of names.entries()) {
        for (const right of names.slice(index + 1)) {
          const [first, second] = [left, right].map((name) => lab(seen_by(sights[sight] ?? [], linear(fill(name, theme))))) as [Triple, Triple];
          if (distance(first, second) < least_distance) alike.push(`${left} and ${right}: ${distance(first, second).toFixed(1)}`);
        }
      }
    }
    expect(alike).toEqual([]);
  });
  it.each(Object.keys(sights))('no transport looks like a cause of waiting with %s', (sight) => {
    const seen = (name: string) => lab(seen_by(sights[sight] ?? [], linear(fill(name, theme))));
    const alike = transports.flatMap((transport) => causes.filter((cause) => distance(seen(transport), seen(cause)) < least_distance).map((cause) => `${transport} and ${cause}`));
    expect(alike).toEqual([]);
  });
  it('the shades of the matrix go one way, from near the paper to far from it', () => {
    const [paper] = lab(linear(variable('paper', theme)));
    const from_paper = Array.from({ length: 8 }, (_, shade) => Math.abs(lab(linear(variable(`heat-${shade}`, theme)))[0] - paper));
    expect(from_paper).toEqual([...from_paper].sort((left, right) => left - right));
    expect(from_paper[0]).toBeGreaterThan(3);
  });
});

it('the dark colours are the same, whether the system or the reader wants them', () => {
  const by_system = /@media \(prefers-color-scheme: dark\) \{\s*:root[^{]*\{([^}]*)\}/.exec(style)?.[1] ?? '';
  const lines = (block: string) => block.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  expect(lines(by_system)).toEqual(lines(blocks.dark));
});
