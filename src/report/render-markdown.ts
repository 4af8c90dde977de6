import type { ReportDocument, Table } from './document-types.ts';

/** Renders the report as Markdown with GitHub's tables, for a pull request, a wiki page or a message. */
export function renderMarkdown(document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    `# ${escaped(title)}`,
    escaped(subtitle),
    renderTable({
      caption: 'In short',
      columns: [{ title: 'Figure' }, { title: 'Value', numeric: true }, { title: 'Note' }],
      rows: headline.map(({ label, value, note }) => [label, value, note]),
    }),
    '## Needs a person',
    actions.length === 0
      ? 'Nothing.'
      : actions.map(({ what, next }) => `- ${escaped(what)} Next: ${code(next)}`).join('\n'),
    ...sections.flatMap(({ title: name, lead, tables }) => [
      `## ${name}`,
      ...(lead === '' ? [] : [escaped(lead)]),
      ...tables.map(renderTable),
    ]),
    escaped(footer),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function renderTable({ caption, columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    `**${escaped(caption)}**\n`,
    line(columns.map(({ title }) => title)),
    line(columns.map(({ numeric }) => (numeric ? '---:' : '---'))),
    ...rows.map((row) => line(row.map(escaped))),
  ].join('\n');
}

/** Escapes Markdown and HTML, mainly in file names. */
function escaped(text: string): string {
  return text
    .replace(/[\\`*[\]<>|~&!]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/(?<=www)\./gi, '&#46;');
}

/** A code span with a fence longer than any run of backticks in the text. */
function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
