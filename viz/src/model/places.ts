// Call sites in words, as in analysis/report/text_figures.cpp.
import type { CallSite } from '../generated/report';

const base_name = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Returns file and line, else module and offset. Calls from libraries include the library. */
export function position_of(site: CallSite): string {
  const module = base_name(site.module);
  if (site.line !== 0) return `${module.includes('.so') ? `${module} ` : ''}${base_name(site.file)}:${site.line}`;
  if (module !== '') return `${module}+0x${site.module_offset.toString(16)}`;
  return site.module_offset === 0 ? 'unknown source line' : `0x${site.module_offset.toString(16)}`;
}

export const place_text = (site: CallSite) =>
  site.function === '' ? position_of(site) : `${position_of(site)} ${site.function}`;

export const place_in_sentence = (site: CallSite) =>
  site.function === '' ? position_of(site) : `${site.function} (${position_of(site)})`;

/** Returns the command line without the folder of its program. */
export function command_text(command_line: string): string {
  const end = command_line.indexOf(' ');
  const program = end < 0 ? command_line : command_line.slice(0, end);
  return base_name(program) + command_line.slice(program.length);
}
