import { readFileSync } from 'node:fs';
import { code, prose, table } from './page.ts';

interface Group {
  readonly meaning: string[];
  readonly settings: string[];
  readonly defaults: string[];
}

/** Writes the reference page of settings from `.env.example`, which explains each setting and has its default. */
export function settingsPage(): string {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const [, ...sections] = example.split(/^# --- (?=.* -+$)/m);
  return sections
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const rows = groupsOf(lines).map(({ meaning, settings, defaults }) => [
        settings.map(code).join(', '),
        defaults.map(code).join(', '),
        prose(meaning.join(' ')),
      ]);
      return `## ${title.replace(/ -+$/, '')}\n\n${table(['Setting', 'Default', 'Meaning'], rows)}`;
    })
    .join('\n\n');
}

/** Groups settings with the comment above them, which explains all settings up to the next comment. */
function groupsOf(lines: readonly string[]): Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    const [, name, value] = /^([A-Z][A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
    const last = groups.at(-1);
    if (line.startsWith('#')) {
      if (last === undefined || last.settings.length > 0)
        groups.push({ meaning: [], settings: [], defaults: [] });
      groups.at(-1)!.meaning.push(line.replace(/^# ?/, ''));
    } else if (name !== undefined && last !== undefined) {
      last.settings.push(name);
      if (value) last.defaults.push(value);
    }
  }
  return groups;
}
