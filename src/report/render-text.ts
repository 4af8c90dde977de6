import type { ReportDocument, Table } from './document.ts';

/** Renders the report as plain text for a terminal. */
export function renderText(document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const blocks = [
    `${title}\n${subtitle}`,
    lines(
      headline.map(({ label, value, note }) => [label, value, note]),
      [false, true, false],
    ),
    ...(actions.length === 0
      ? ['Needs a person: nothing']
      : [`Needs a person:\n${actions.map(({ what, next }) => `  ${what}\n    next: ${next}`).join('\n')}`]),
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

function renderTable({ caption, columns, rows }: Table): string {
  const cells = [columns.map((column) => column.title), ...rows];
  return `${caption}:\n${lines(
    cells,
    columns.map((column) => column.numeric === true),
  )}`;
}

function lines(rows: readonly (readonly string[])[], numeric: readonly boolean[]): string {
  const widths = numeric.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
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

/** Breaks lines between words, at 78 characters: a terminal of 80 columns shows them as they are. */
function wrapped(text: string): string {
  return text.replace(/(.{1,78})(?:\s+|$)/g, '$1\n').trimEnd();
}
