import { longest } from '../domain/text/format.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { ReportDocument, Table } from './write-document.ts';
import { renderHtml } from './render-html.ts';
import { documentOf } from './write-document.ts';

export const reportFormats = ['terminal', 'json', 'html'] as const;

export type ReportFormat = (typeof reportFormats)[number];

export function renderReport(report: RunReport, format: ReportFormat): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  const document = documentOf(report);
  return format === 'html' ? renderHtml(document) : renderText(document);
}

function renderText(document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    title,
    wrapped(subtitle),
    textTable({
      caption: 'In short',
      columns: [{ title: 'Figure' }, { title: 'Value', numeric: true }, { title: 'Note' }],
      rows: headline.map(({ label, value, note }) => [label, value, note]),
    }),
    heading('Needs a person'),
    actions.length === 0 ? 'Nothing.' : actions.map(actionText).join('\n'),
    ...sections.flatMap(({ title: name, lead, tables }) => [
      heading(name),
      ...(lead === '' ? [] : [wrapped(lead)]),
      ...tables.map(textTable),
    ]),
    wrapped(footer),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function heading(title: string): string {
  return `${title}\n${'-'.repeat(title.length)}`;
}

function actionText({ what, next }: ReportDocument['actions'][number]): string {
  return `${indented(what, 2)}\n${indented(`next: ${next}`, 4)}`;
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
