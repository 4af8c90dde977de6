import { lengthOfLongest } from '../domain/text/format.ts';
import type { RunReport } from '../outputs/report-output.ts';
import type { ReportDocument, ReportTable } from './write-document.ts';
import { renderHtml } from './render-html.ts';
import { reportDocumentOf } from './write-document.ts';

export const reportFormats = ['markdown', 'json', 'html'] as const;

export type ReportFormat = (typeof reportFormats)[number];

export function renderReport(report: RunReport, format: ReportFormat): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  const document = reportDocumentOf(report);
  return format === 'html' ? renderHtml(document) : renderMarkdown(document);
}

/** Renders Markdown for a terminal, a pull request, a wiki page or a message. The tables are GitHub's. */
function renderMarkdown({ title, subtitle, headline, actions, sections, footer }: ReportDocument): string {
  const blocks = [
    `# ${escaped(title)}`,
    escaped(subtitle),
    markdownTable({
      caption: 'In short',
      columns: [{ title: 'Figure' }, { title: 'Value', numeric: true }, { title: 'Note' }],
      rows: headline.map(({ label, value, note }) => [label, value, note]),
    }),
    '## For you to do',
    actions.length === 0
      ? 'Nothing.'
      : actions.map(({ what, next }) => `- ${escaped(what)} Next: ${code(next)}`).join('\n'),
    ...sections.flatMap(({ title: name, lead, tables }) => [
      `## ${escaped(name)}`,
      escaped(lead),
      ...tables.map(markdownTable),
    ]),
    escaped(footer),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Aligns columns for readers of the plain text, except a last column of text. */
function markdownTable({ caption, columns, rows }: ReportTable): string {
  const [header = [], ...lines] = [columns.map(({ title }) => title), ...rows].map((row) => row.map(escaped));
  const widths = columns.map(({ numeric }, at) =>
    at === columns.length - 1 && !numeric
      ? 3
      : lengthOfLongest([header, ...lines].map((row) => row[at] ?? '')),
  );
  const line = (row: readonly string[]): string => {
    const cells = row.map((cell, at) =>
      columns[at]?.numeric ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!),
    );
    return `| ${cells.join(' | ')} |`;
  };
  const rule = columns.map(
    ({ numeric }, at) => '-'.repeat(widths[at]! - (numeric ? 1 : 0)) + (numeric ? ':' : ''),
  );
  return [`**${escaped(caption)}**\n`, line(header), line(rule), ...lines.map(line)].join('\n');
}

/**
 * Escapes Markdown and HTML, and the point of `www.`, which GitHub turns into a link. `_` inside a word is harmless.
 */
function escaped(text: string): string {
  return text
    .replace(/[\\`*[\]<>|~&!]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/(?<=www)\./gi, '&#46;');
}

/** Makes a code span whose fence is longer than any run of backticks in the text. */
function code(text: string): string {
  const most = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(most + 1);
  return most === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
