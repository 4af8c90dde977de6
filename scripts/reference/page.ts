import { readFileSync } from 'node:fs';

/** Above this line, people write the page. */
const border = '<!-- Below this line, npm run reference writes the page. -->';

export const pagePath = (name: string): string =>
  new URL(`../../docs/reference/${name}.md`, import.meta.url).pathname;

/** The whole page: its text as it stands in the file, and the generated part. */
export function pageWith(name: string, generated: string): string {
  const [text = ''] = readFileSync(pagePath(name), 'utf8').split(border);
  return `${text.trimEnd()}\n\n${border}\n\n${generated.trim()}\n`;
}

/** A table in Markdown. A bar within a cell would end the cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Text of the code as Markdown: `<name>` would be HTML, and a path of a page becomes a link to it. */
export function prose(text: string): string {
  return text
    .replaceAll('<', '&lt;')
    .replaceAll(/docs\/(?:reference\/)?([\w/-]+)\.md/g, (_, path: string) => {
      const name = path.split('/').at(-1)!;
      return `[${name}.md](${path === name ? '' : '../'}${path}.md)`;
    });
}

export const code = (text: string): string => `\`${text}\``;

/** Prose in lines of at most 120 characters. */
export function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && `${line} ${word}`.length > 120) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
