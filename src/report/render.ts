import { longest } from '../domain/text/format.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { ReportDocument, Table } from './write-document.ts';
import { renderHtml } from './render-html.ts';
import { documentOf } from './write-document.ts';

export const reportFormats = ['terminal', 'json', 'markdown', 'html'] as const;

export type ReportFormat = (typeof reportFormats)[number];

export function renderReport(report: RunReport, format: ReportFormat): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  const document = documentOf(report);
  return format === 'html' ? renderHtml(document) : renderText(document, textStyles[format]);
}

interface TextStyle {
  readonly heading: (level: 1 | 2, title: string) => string;
  readonly prose: (text: string) => string;
  readonly action: (action: ReportDocument['actions'][number]) => string;
  readonly table: (table: Table) => string;
}

const textStyles: Readonly<Record<'terminal' | 'markdown', TextStyle>> = {
  terminal: {
    heading: (level, title) => (level === 1 ? title : `${title}\n${'-'.repeat(title.length)}`),
    prose: (text) => wrapped(text),
    action: ({ what, next }) => `${indented(what, 2)}\n${indented(`next: ${next}`, 4)}`,
    table: textTable,
  },
  // With GitHub's tables, for a pull request, a wiki page or a message.
  markdown: {
    heading: (level, title) => `${'#'.repeat(level)} ${escaped(title)}`,
    prose: escaped,
    action: ({ what, next }) => `- ${escaped(what)} Next: ${code(next)}`,
    table: markdownTable,
  },
};

function renderText(document: ReportDocument, style: TextStyle): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    style.heading(1, title),
    style.prose(subtitle),
    style.table({
      caption: 'In short',
      columns: [{ title: 'Figure' }, { title: 'Value', numeric: true }, { title: 'Note' }],
      rows: headline.map(({ label, value, note }) => [label, value, note]),
    }),
    style.heading(2, 'Needs a person'),
    actions.length === 0 ? style.prose('Nothing.') : actions.map(style.action).join('\n'),
    ...sections.flatMap(({ title: name, lead, tables }) => [
      style.heading(2, name),
      ...(lead === '' ? [] : [style.prose(lead)]),
      ...tables.map(style.table),
    ]),
    style.prose(footer),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function indented(text: string, columns: number): string {
  return wrapped(text, 80 - columns).replace(/^/gm, ' '.repeat(columns));
}

function textTable({ caption, columns, rows }: Table): string {
  const cells = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, column) => longest(cells.map((row) => row[column] ?? '')));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (columns[at]?.numeric ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
  return [`${caption}:`, ...cells.map((row) => `  ${line(row)}`)].join('\n');
}

/** Breaks lines between words: a terminal of 80 columns shows them as they are. */
function wrapped(text: string, width = 78): string {
  return text.replace(new RegExp(`(.{1,${width}})(?:\\s+|$)`, 'g'), '$1\n').trimEnd();
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
