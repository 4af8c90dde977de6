import { longest } from '../domain/text/longest.ts';
import type { ReportDocument, Table } from './document-types.ts';

export function renderText(document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    `${title}\n${wrapped(subtitle)}`,
    lines(
      headline.map(({ label, value, note }) => [label, value, note]),
      [false, true, false],
    ),
    actions.length === 0
      ? 'Needs a person: nothing'
      : ['Needs a person:', ...actions.map(renderAction)].join('\n'),
    ...sections.map(({ title: name, lead, tables }) =>
      [
        `${name}\n${'-'.repeat(name.length)}`,
        ...(lead === '' ? [] : [wrapped(lead)]),
        ...tables.map((table) => renderTable(table)),
      ].join('\n\n'),
    ),
    footer,
  ];
  return `${blocks.join('\n\n')}\n`;
}

function renderAction({ what, next }: ReportDocument['actions'][number]): string {
  return `${indented(what, 2)}\n${indented(`next: ${next}`, 4)}`;
}

function indented(text: string, columns: number): string {
  return wrapped(text, 80 - columns).replace(/^/gm, ' '.repeat(columns));
}

function renderTable({ caption, columns, rows }: Table): string {
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
