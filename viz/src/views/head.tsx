// The program that was run, and the links to the sections.
import { useEffect, useState } from 'preact/hooks';
import type { Report } from '../generated/report';
import { date_text, plural } from '../format';
import { command_text } from '../model/places';
import { BrokenJob } from './broken';

type Theme = 'light' | 'dark';

export function ThemeSwitch() {
  const [theme, set_theme] = useState<Theme>(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const other = theme === 'dark' ? 'light' : 'dark';
  const change = () => {
    document.documentElement.dataset['theme'] = other;
    set_theme(other);
  };
  return (
    <button type="button" class="theme" onClick={change}>
      {other === 'dark' ? 'Dark' : 'Light'} colours
    </button>
  );
}

/** Returns the first line of an MPI's version, without extra spaces. */
export const short_version = (version: string) => (/^[^\n,]*/.exec(version)?.[0] ?? '').replace('Version:', '').replace(/\s+/g, ' ').trim();

export function SimulatedGpu() {
  return <p class="warning">The GPU was simulated: its times say nothing of a real one's.</p>;
}

export function SectionLinks({ sections }: { sections: readonly { id: string; name: string }[] }) {
  return (
    <nav aria-label="Sections">
      <ul>
        {sections.map(({ id, name }) => (
          <li key={id}>
            <a href={`#${id}`}>{name}</a>
          </li>
        ))}
      </ul>
      <ThemeSwitch />
    </nav>
  );
}

/** The head of a page about several runs: `command` is the one that writes it, `program` what was run. */
export function HeadOfRuns({
  command,
  program,
  sections,
  facts,
  simulated_gpu,
}: {
  command: 'diff' | 'trend';
  program: string;
  sections: readonly { id: string; name: string }[];
  facts?: string;
  simulated_gpu: boolean;
}) {
  const title = command_text(program);
  useEffect(() => {
    document.title = `${title} · Penstock ${command}`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#summary">
        To the summary
      </a>
      <header>
        <h1>
          <span class="brand">penstock {command}</span> <code>{title}</code>
        </h1>
        {facts === undefined ? null : <p class="facts">{facts}</p>}
        {simulated_gpu ? <SimulatedGpu /> : null}
      </header>
      <SectionLinks sections={sections} />
    </>
  );
}

export function Head({ report, sections }: { report: Report; sections: readonly { id: string; name: string }[] }) {
  const { job } = report;
  const [host] = job.hosts;
  const [gpu] = job.gpus;
  const facts = [
    `${plural(job.ranks, 'rank')} on ${job.hosts.length === 1 && host !== undefined ? host : plural(job.hosts.length, 'host')}`,
    short_version(job.mpi),
    job.simulated_gpu ? 'simulated GPU' : job.gpus.length > 1 ? `${gpu ?? ''} and ${job.gpus.length - 1} more` : (gpu ?? ''),
    date_text(job.began_unix_s),
  ].filter((fact) => fact !== '');
  return (
    <>
      <header>
        <h1>
          <span class="brand">penstock</span> <code>{command_text(job.program)}</code>
        </h1>
        <p class="facts">{facts.join(' · ')}</p>
        <BrokenJob report={report} />
        {job.simulated_gpu ? <SimulatedGpu /> : null}
      </header>
      <SectionLinks sections={sections} />
    </>
  );
}
