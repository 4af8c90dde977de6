import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { pauseReasons, type PauseReasonType } from '../../../src/contract/pause-reasons.ts';
import { failureKinds } from '../../../src/service/failures/failure.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { metricNames, openMetricsFixture } from '../../helpers/outputs/metrics-fixture.ts';
import { metricsOf, read, readPanels, readRules } from '../../helpers/outputs/promql.ts';

const fixture = await openMetricsFixture(await createTestDatabase());
const served = metricNames(await fixture.scrape());
await fixture.close();

const runbook = read('docs/guides/runbook.md');

/** Prometheus makes `up` itself; what Temporal's SDK serves is held against a real worker, end to end. */
const isServed = (name: string) => served.has(name) || name === 'up' || name.startsWith('temporal_');

const rules = readRules();
/** The expected states of alerts in test/alerts; without `exp_alerts` the alert must not fire. */
const expectations = readdirSync(new URL('../../alerts', import.meta.url)).flatMap((name) => {
  type Expectation = { readonly alertname: string; readonly exp_alerts?: readonly unknown[] };
  const { tests } = parse(read(`test/alerts/${name}`)) as { tests: { alert_rule_test: Expectation[] }[] };
  return tests.flatMap((test) => test.alert_rule_test);
});
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

it.each(rules)('the alert $alert uses served metrics, and has a runbook section and tests', (rule) => {
  const { alert, expr, labels, annotations } = rule;
  const names = metricsOf(expr);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !isServed(name))).toEqual([]);
  expect(annotations['runbook_url']).toBe(`docs/guides/runbook.md#${alert.toLowerCase()}`);
  expect(runbook.split('\n'), 'docs/guides/runbook.md').toContain(`### ${alert}`);
  expect(annotations['summary']).toMatch(/\S/);
  expect(['page', 'ticket']).toContain(labels['severity']);
  const fires = expectations
    .filter(({ alertname }) => alertname === alert)
    .map(({ exp_alerts: firing = [] }) => firing.length > 0);
  expect(new Set(fires), `test/alerts needs a case in which it fires, and another`).toEqual(
    new Set([true, false]),
  );
});

it.skipIf(!hasPromtool)('the alerts pass their tests (test/alerts) if promtool is on the PATH', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('../../../scripts/check-alerts.mjs', import.meta.url))],
    { encoding: 'utf8' },
  );
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
});

it('the runbook has a section for each alert, and for no other', () => {
  const chapters = [...runbook.matchAll(/^### (Enrich\w+)$/gm)].map((match) => match[1]);
  expect(chapters.sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

it.each<[string, (typeof pauseReasons)[PauseReasonType]['needs']]>([
  ['EnrichRunPaused', 'fix'],
  ['EnrichRunAwaitsDecision', 'decision'],
])('the alert %s counts paused runs that need a %s', (alert, needs) => {
  expect(rules.find((rule) => rule.alert === alert)?.expr).toContain(`enrich_runs_paused{needs="${needs}"}`);
});

/** The pause reasons of one failure that needs the operator, or of several temporary failures in a row. */
const pauses = Object.entries(failureKinds)
  .filter(([, { disposition }]) => ['pause', 'retry', 'unknown'].includes(disposition))
  .map(([type]) => `service.${type.replace(/^not-sent\..*/, 'not-sent.…')}`);
it.each(pauses)('the runbook says what to do about a run that is paused with the reason %s', (type) =>
  expect(runbook).toContain(`\`${type}\``),
);

it.each(Object.entries(pauseReasons))(
  'the runbook explains the pause reason %s with the text of pauseReasons',
  (type, { meaning }) => {
    const [, types, explained] =
      runbook
        .split('\n')
        .map((line) => line.split('|').map((cell) => cell.trim()))
        .find(([, cell]) => cell?.includes(`\`${type}\``)) ?? [];
    expect({ types, explained }, `needs a row of its own in docs/guides/runbook.md`).toEqual({
      types: `\`${type}\``,
      explained: meaning,
    });
  },
);

it('docs/reference/metrics.md explains every metric of the product', () => {
  const page = read('docs/reference/metrics.md');
  const ours = [...served].filter(
    (name) => name.startsWith('enrich_') && !/_(?:sum|count|bucket)$/.test(name),
  );
  expect(ours.filter((name) => !new RegExp(`\`${name}[\`{]`).test(page))).toEqual([]);
});

const panels = readPanels().filter(({ targets }) => targets !== undefined);

it.each(panels)('the dashboard panel $title uses metrics that are served', ({ targets }) => {
  const names = targets!.flatMap(({ expr }) => metricsOf(expr));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !isServed(name))).toEqual([]);
});

it('the dashboard shows every metric of the product', () => {
  const shown = new Set(panels.flatMap(({ targets }) => targets!.flatMap(({ expr }) => metricsOf(expr))));
  const ours = [...served].filter((name) => name.startsWith('enrich_') && !/_(?:sum|count)$/.test(name));
  const hidden = ours.filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`));
  expect(hidden, 'a panel of deploy/grafana/enrich.json shows each').toEqual([]);
});
