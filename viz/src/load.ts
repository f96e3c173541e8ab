// From the text that the page carries to a report, or to words for why there is none. Pure: knows no document.
import type { Report } from './generated/report';
import { validate } from './generated/validate';

const schema_name = 'penstock-report-2';

export type Loaded = { report: Report } | { problem: string; details: string };

export function load(text: string): Loaded {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return {
      problem: 'The report in this file is damaged: it cannot be read.',
      details: `${String(error)}; ${text.length} characters are there. Perhaps the file was cut short while it was copied.`,
    };
  }
  const schema = (data as { schema?: unknown } | null)?.schema;
  if (schema !== schema_name) {
    const of = typeof schema === 'string' ? schema.slice(0, 80) : 'without a name';
    return newer_than_known(of)
      ? {
          problem: 'The report in this file is newer than the page that should show it.',
          details: `Its schema is ${of}, this page reads ${schema_name}. Make the page with the Penstock that wrote the report.`,
        }
      : {
          problem: 'What this file holds is no report that this page can show.',
          details: `Its schema is ${of}, this page reads ${schema_name}.`,
        };
  }
  if (!validate(data)) {
    const wrong = (validate.errors ?? []).map((each) => `${each.instancePath || 'the report'} ${each.message ?? ''}`);
    return {
      problem: 'The report in this file is damaged: parts of it are missing or are not what they should be.',
      details: `${wrong.join('; ')}.`,
    };
  }
  return { report: data as Report };
}

function newer_than_known(schema: string): boolean {
  const number = /^penstock-report-(\d+)$/.exec(schema)?.[1];
  return number !== undefined && Number(number) > 2;
}
