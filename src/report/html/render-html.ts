import { callsCharts } from './calls-charts.ts';
import { coverageChart, creditsChart, outcomesChart } from './charts.ts';
import type { ReportDocument, Section, Table } from '../document-types.ts';
import { html, Markup } from './html.ts';
import type { RunReport } from '../report-types.ts';
import { styleSheet } from './style.ts';

/**
 * Renders the report as one self-contained page without script, font, picture and network. Its content
 * security policy forbids them, so that an unescaped file name could not load anything.
 */
export function renderHtml(report: RunReport, document: ReportDocument): string {
  const { title, subtitle, headline, actions, sections, footer } = document;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${new Markup(styleSheet)}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          <p class="subtitle">${subtitle}</p>
        </header>
        <main>
          <dl class="headline">
            ${headline.map(
              ({ label, value, note }) =>
                html`<div>
                  <dt>${label}</dt>
                  <dd class="figure">${value}</dd>
                  <dd class="note">${note}</dd>
                </div> `,
            )}
          </dl>
          ${renderActions(actions)} ${sections.map((section) => renderSection(report, section))}
        </main>
        <footer><p>${footer}</p></footer>
      </body>
    </html> `;
  return page.text.replace(/\n\s+/g, '\n');
}

function renderActions(actions: ReportDocument['actions']): Markup {
  const none = actions.length === 0;
  return html`<section class="actions${none ? ' none' : ''}" aria-labelledby="needs-person">
    <h2 id="needs-person">${none ? 'Nothing needs a person' : 'Needs a person'}</h2>
    ${
      none
        ? ''
        : html`<ul>
            ${actions.map(
              ({ what, next }) =>
                html`<li>
                  ${what}<br />
                  Next: <code>${next}</code>
                </li> `,
            )}
          </ul>`
    }
  </section>`;
}

function renderSection(report: RunReport, { id, title, lead, tables }: Section): Markup {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${lead === '' ? '' : html`<p class="lead">${lead}</p>`} ${chartsOf(report, id)}
    ${tables.length === 0 ? '' : html`<div class="tables">${tables.map(renderTable)}</div>`}
  </section> `;
}

function chartsOf(report: RunReport, id: Section['id']): readonly Markup[] {
  switch (id) {
    case 'outcomes':
      return [outcomesChart(report)];
    case 'coverage':
      return report.coverage.fields.length === 0 ? [] : [coverageChart(report.coverage)];
    case 'credits':
      return [creditsChart(report.credits)];
    case 'calls':
      return callsCharts(report.calls);
    case 'late-results':
    case 'evaluation':
    case 'run':
      return [];
  }
}

/** A table that scrolls on narrow pages, with the keyboard too. */
function renderTable({ caption, columns, rows }: Table): Markup {
  const classOf = (column: number): Markup => (columns[column]?.numeric ? html` class="number"` : html``);
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ title }, index) => html`<th scope="col" ${classOf(index)}>${title}</th> `)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name = '', ...cells]) =>
            html`<tr>
              <th scope="row">${name}</th>
              ${cells.map((cell, index) => html`<td ${classOf(index + 1)}>${cell}</td> `)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div> `;
}
