import { longest } from '../domain/text/format.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { ReportDocument, Table } from './document.ts';
import { renderHtml } from './render-html.ts';
import { documentOf } from './write-document.ts';

export const reportFormats = ['terminal', 'json', 'markdown', 'html'] as const;

export type ReportFormat = (typeof reportFormats)[number];

/** Renders the report in a format; the text ends with a line end. */
export function renderReport(report: RunReport, format: ReportFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'terminal':
      return renderText(documentOf(report));
    case 'markdown':
      return renderMarkdown(documentOf(report));
    case 'html':
      return renderHtml(documentOf(report));
  }
}

function renderText(document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    `${title}\n${wrapped(subtitle)}`,
    lines(
      headline.map(({ label, value, note }) => [label, value, note]),
      [false, true, false],
    ),
    actions.length === 0
      ? 'Needs a person: nothing'
      : ['Needs a person:', ...actions.map(textOfAction)].join('\n'),
    ...sections.map(({ title: name, lead, tables }) =>
      [
        `${name}\n${'-'.repeat(name.length)}`,
        ...(lead === '' ? [] : [wrapped(lead)]),
        ...tables.map((table) => textTable(table)),
      ].join('\n\n'),
    ),
    footer,
  ];
  return `${blocks.join('\n\n')}\n`;
}

function textOfAction({ what, next }: ReportDocument['actions'][number]): string {
  return `${indented(what, 2)}\n${indented(`next: ${next}`, 4)}`;
}

function indented(text: string, columns: number): string {
  return wrapped(text, 80 - columns).replace(/^/gm, ' '.repeat(columns));
}

function textTable({ caption, columns, rows }: Table): string {
  const cells = [columns.map((column) => column.title), ...rows];
  return `${caption}:\n${lines(
    cells,
    columns.map((column) => column.numeric === true),
  )}`;
}

function lines(rows: readonly (readonly string[])[], numeric: readonly boolean[]): string {
  const widths = numeric.map((_, column) => longest(rows.map((row) => row[column] ?? '')));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          numeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n');
}

/** Breaks lines between words: a terminal of 80 columns shows them as they are. */
function wrapped(text: string, width = 78): string {
  return text.replace(new RegExp(`(.{1,${width}})(?:\\s+|$)`, 'g'), '$1\n').trimEnd();
}

/** Renders the report as Markdown with GitHub's tables, for a pull request, a wiki page or a message. */
function renderMarkdown(document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    `# ${escaped(title)}`,
    escaped(subtitle),
    markdownTable({
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
      ...tables.map(markdownTable),
    ]),
    escaped(footer),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function markdownTable({ caption, columns, rows }: Table): string {
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
  const most = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(most + 1);
  return most === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
