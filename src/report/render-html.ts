import type { ReportDocument, ReportSection, ReportTable } from './write-document.ts';

/** Renders one HTML page that may load nothing, as a second protection against HTML in file names. */
export function renderHtml(document: ReportDocument): string {
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
          ${renderActions(actions)} ${sections.map((section) => renderSection(section))}
        </main>
        <footer><p>${footer}</p></footer>
      </body>
    </html> `;
  return page.text.replace(/\n\s+/g, '\n');
}

function renderActions(actions: ReportDocument['actions']): Markup {
  const none = actions.length === 0;
  return html`<section class="actions${none ? ' none' : ''}" aria-labelledby="for-you">
    <h2 id="for-you">${none ? 'Nothing for you to do' : 'For you to do'}</h2>
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

function renderSection({ id, title, lead, tables }: ReportSection): Markup {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${lead === '' ? '' : html`<p class="lead">${lead}</p>`}
    ${tables.length === 0 ? '' : html`<div class="tables">${tables.map(renderTable)}</div>`}
  </section> `;
}

/** Renders a table that scrolls on narrow pages, also by keyboard. A share has a bar behind its number. */
function renderTable({ caption, columns, rows }: ReportTable): Markup {
  const classOf = (column: number): Markup => (columns[column]?.numeric ? html` class="number"` : html``);
  const attributesOf = (cell: string, column: number): Markup => {
    const [, share] = /^([\d.]+) %$/.exec(cell) ?? [];
    return share === undefined ? classOf(column) : html` class="number share" style="--share:${share}%"`;
  };
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
              <th scope="row" ${classOf(0)}>${name}</th>
              ${cells.map((cell, index) => html`<td ${attributesOf(cell, index + 1)}>${cell}</td> `)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div> `;
}

/** HTML that is not escaped again. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What the `html` template accepts. Text is escaped, markup is inserted, and lists are joined. */
type Insertion = string | Markup | readonly Insertion[];

/** Template tag that escapes inserted texts. */
function html(strings: TemplateStringsArray, ...insertions: readonly Insertion[]): Markup {
  return new Markup(
    strings
      .map((text, index) => text + (index < insertions.length ? textOf(insertions[index]!) : ''))
      .join(''),
  );
}

function textOf(insertion: Insertion): string {
  if (insertion instanceof Markup) return insertion.text;
  if (typeof insertion !== 'string') return insertion.map(textOf).join('');
  return insertion.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Styles. Text has a contrast of 4.5 on all backgrounds and bars. Print uses the light colours. */
const styleSheet = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b2330; --soft: #56606f; --rule: #d9dee6; --panel: #f5f7fa;
  --good: #1f7a5a; --bar: #d3e2fa; --warning: #b45309; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #12161d; --text: #e7ebf1; --soft: #a5afbd; --rule: #303846; --panel: #1a2029;
    --good: #45b98e; --bar: #2b4270; --warning: #eba24a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
header, main, footer { max-width: 1080px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 32px; }
footer { padding-top: 16px; padding-bottom: 32px; color: var(--soft); font-size: 13px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0; }
h2 { font-size: 18px; margin: 0 0 4px; }
p { margin: 0 0 12px; max-width: 80ch; }
.subtitle, .lead, .note { color: var(--soft); }
.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin: 20px 0; }
.headline div { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; padding: 12px 16px; }
.headline dt { font-size: 13px; color: var(--soft); }
.headline dd { margin: 0; }
.headline .figure { font-size: 26px; font-weight: 650; line-height: 1.3; }
.headline .note { font-size: 13px; }
.actions { border: 1px solid var(--rule); border-left: 4px solid var(--warning); border-radius: 8px;
  padding: 12px 16px; }
.actions.none { border-left-color: var(--good); }
.actions ul { margin: 8px 0 0; padding-left: 20px; }
.actions li + li { margin-top: 8px; }
code { font: 13px/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; background: var(--panel);
  border: 1px solid var(--rule); border-radius: 4px; padding: 1px 5px; }
section { margin-top: 36px; }
caption { font-weight: 600; text-align: left; padding: 0 0 6px; }
.tables { display: flex; flex-wrap: wrap; gap: 20px 56px; align-items: flex-start; margin: 20px 0; }
.scroll { overflow-x: auto; min-width: min(100%, 440px); max-width: 100%; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 4px 20px 4px 0; border-bottom: 1px solid var(--rule); vertical-align: top;
  font-weight: 400; overflow-wrap: normal; }
tr > :last-child { padding-right: 0; }
td:last-child { overflow-wrap: anywhere; }
thead th { color: var(--soft); font-size: 13px; }
.number { text-align: right; white-space: nowrap; }
.share { min-width: 120px; background: linear-gradient(90deg, var(--bar) var(--share), transparent 0); }
@media (max-width: 640px) { header, main, footer { padding-left: 16px; padding-right: 16px; } }
@media print { body { font-size: 11pt; } header, main, footer { max-width: none; padding: 0; }
  tr, .actions, .headline div { break-inside: avoid; } h2, caption { break-after: avoid; }
  .scroll { overflow: visible; }
  .share, .headline div { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;
