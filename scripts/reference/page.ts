import { readFileSync } from 'node:fs';

/** Marks where the generated part of a reference page begins. The text above is written by hand. */
const border = '<!-- Below this line, npm run reference writes the page. -->';

export const pagePath = (name: string): string =>
  new URL(`../../docs/reference/${name}.md`, import.meta.url).pathname;

/** Returns a whole page: its text by hand, as the file has it, and the generated part. */
export function pageWith(name: string, generated: string): string {
  const [text = ''] = readFileSync(pagePath(name), 'utf8').split(border);
  return `${text.trimEnd()}\n\n${border}\n\n${generated.trim()}\n`;
}

/** Formats a Markdown table. A bar in a cell is escaped, because it would end the cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Formats a text of the code as Markdown: `<name>` is escaped, and the path of a page becomes a link. */
export function prose(text: string): string {
  return text
    .replaceAll('<', '&lt;')
    .replaceAll(/docs\/(?:reference\/)?([\w/-]+)\.md/g, (_, path: string) => {
      const name = path.split('/').at(-1)!;
      return `[${name}.md](${path === name ? '' : '../'}${path}.md)`;
    });
}

export const code = (text: string): string => `\`${text}\``;

/** Wraps prose at 120 characters. */
export function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && `${line} ${word}`.length > 120) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}
