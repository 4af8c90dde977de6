/**
 * The page's style sheet. Colours have a contrast of 4.5 in text and 3 in charts on light and dark
 * backgrounds. Print always uses the light colours.
 */
export const styleSheet = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b2330; --soft: #56606f; --rule: #d9dee6; --panel: #f5f7fa;
  --good: #1f7a5a; --plain: #2f62c4; --quiet: #8490a1; --warning: #b45309; --late: #7a4fc0;
  --other: #0f7c8f; --track: #edf0f4; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #12161d; --text: #e7ebf1; --soft: #a5afbd; --rule: #303846; --panel: #1a2029;
    --good: #45b98e; --plain: #6f9df2; --quiet: #76839a; --warning: #eba24a;
    --late: #b493f0; --other: #4bb8c9; --track: #222a35; } }
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
figure { margin: 16px 0; }
figcaption, caption { font-weight: 600; text-align: left; padding: 0 0 6px; }
svg { display: block; width: 100%; height: auto; max-width: 900px; overflow: visible; }
svg text { fill: var(--text); font-size: 13px; }
svg .end { text-anchor: end; }
svg .small { font-size: 11.5px; fill: var(--soft); }
svg .good { fill: var(--good); } svg .plain { fill: var(--plain); } svg .quiet { fill: var(--quiet); }
svg .warning { fill: var(--warning); } svg .late { fill: var(--late); } svg .other { fill: var(--other); }
svg .track { fill: var(--track); }
svg .part { stroke: var(--ground); stroke-width: 2; }
svg .axis { stroke: var(--soft); } svg .faint { stroke-opacity: .4; stroke-dasharray: 2 4; }
svg .limit { stroke: var(--warning); stroke-width: 2; stroke-dasharray: 7 4; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 10px; padding: 0;
  font-size: 13px; color: var(--soft); }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px;
  vertical-align: -1px; }
.swatch.good { background: var(--good); } .swatch.plain { background: var(--plain); }
.swatch.quiet { background: var(--quiet); } .swatch.warning { background: var(--warning); }
.swatch.late { background: var(--late); } .swatch.other { background: var(--other); }
.tables { display: flex; flex-wrap: wrap; gap: 20px 56px; align-items: flex-start; margin: 20px 0; }
.scroll { overflow-x: auto; min-width: min(100%, 440px); max-width: 100%; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 4px 20px 4px 0; border-bottom: 1px solid var(--rule); vertical-align: top;
  font-weight: 400; overflow-wrap: normal; }
tr > :last-child { padding-right: 0; }
td:last-child { overflow-wrap: anywhere; }
thead th { color: var(--soft); font-size: 13px; }
.number { text-align: right; white-space: nowrap; }
@media (max-width: 640px) { header, main, footer { padding-left: 16px; padding-right: 16px; } svg { min-width: 560px; }
  figure { overflow-x: auto; } }
@media print { body { font-size: 11pt; } header, main, footer { max-width: none; padding: 0; }
  figure, tr, .actions, .headline div { break-inside: avoid; } h2, caption, figcaption { break-after: avoid; }
  .scroll { overflow: visible; }
  svg *, .swatch, .headline div { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;
