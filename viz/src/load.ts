// Turns the page's texts into a report and its timeline, a comparison, a history, or a problem in words. Pure: must not know the
// DOM.
import type { Diff } from './generated/diff';
import type { Report } from './generated/report';
import type { Timeline } from './generated/timeline';
import type { Trend } from './generated/trend';
import { validate as validate_diff } from './generated/validate_diff';
import { validate as validate_report } from './generated/validate_report';
import { validate as validate_timeline } from './generated/validate_timeline';
import { validate as validate_trend } from './generated/validate_trend';
import { decode_timeline, type TimelineModel } from './model/timeline/decode';

export interface Problem {
  readonly problem: string;
  readonly details: string;
}

interface Kind {
  /** The name of what is loaded, for people: "report". */
  readonly noun: string;
  /** Without its version number. */
  readonly schema: string;
  readonly version: number;
  readonly validate: typeof validate_report;
}

const report_kind: Kind = { noun: 'report', schema: 'penstock-report-', version: 2, validate: validate_report };
const diff_kind: Kind = { noun: 'comparison', schema: 'penstock-diff-', version: 1, validate: validate_diff };
const trend_kind: Kind = { noun: 'history', schema: 'penstock-trend-', version: 1, validate: validate_trend };
const timeline_kind: Kind = { noun: 'timeline', schema: 'penstock-timeline-', version: 1, validate: validate_timeline };

function document_of(text: string, kind: Kind): { data: unknown } | Problem {
  const { noun } = kind;
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return {
      problem: `The ${noun} in this file is damaged: it cannot be read.`,
      details: `${String(error)}; ${text.length} characters are there. Perhaps the file was cut short while it was copied.`,
    };
  }
  const schema = (data as { schema?: unknown } | null)?.schema;
  const known = `${kind.schema}${kind.version}`;
  if (schema !== known) {
    const of = typeof schema === 'string' ? schema.slice(0, 80) : 'without a name';
    return newer_than_known(of, kind)
      ? {
          problem: `The ${noun} in this file is newer than the page that should show it.`,
          details: `Its schema is ${of}, this page reads ${known}. Make the page with the Penstock that wrote the ${noun}.`,
        }
      : {
          problem: `What this file holds is no ${noun} that this page can show.`,
          details: `Its schema is ${of}, this page reads ${known}.`,
        };
  }
  if (!kind.validate(data)) {
    const wrong = (kind.validate.errors ?? []).map((each) => `${each.instancePath || `the ${noun}`} ${each.message ?? ''}`);
    return {
      problem: `The ${noun} in this file is damaged: parts of it are missing or are not what they should be.`,
      details: `${wrong.join('; ')}.`,
    };
  }
  return { data };
}

function newer_than_known(schema: string, kind: Kind): boolean {
  const number = schema.startsWith(kind.schema) ? /^\d+$/.exec(schema.slice(kind.schema.length))?.[0] : undefined;
  return number !== undefined && Number(number) > kind.version;
}

export type Loaded = { report: Report } | Problem;

export function load(text: string): Loaded {
  const document = document_of(text, report_kind);
  return 'data' in document ? { report: document.data as Report } : document;
}

export type LoadedTimeline = { timeline: TimelineModel } | Problem;

export function load_timeline(text: string): LoadedTimeline {
  const document = document_of(text, timeline_kind);
  if (!('data' in document)) return document;
  try {
    return { timeline: decode_timeline(document.data as Timeline) };
  } catch (error) {
    return { problem: 'The timeline in this file is damaged: its events cannot be read.', details: `${error instanceof Error ? error.message : String(error)}.` };
  }
}

export type LoadedDiff = { diff: Diff } | Problem;

export function load_diff(text: string): LoadedDiff {
  const document = document_of(text, diff_kind);
  return 'data' in document ? { diff: document.data as Diff } : document;
}

export type LoadedTrend = { trend: Trend } | Problem;

export function load_trend(text: string): LoadedTrend {
  const document = document_of(text, trend_kind);
  return 'data' in document ? { trend: document.data as Trend } : document;
}
