import { expect, it } from 'vitest';
import { exitCodeOfRun } from '../../../src/cli/run/run-status.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { readPausedRuns } from '../../../src/runs/claims.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { testLookupRequest, outcomesOf } from '../../helpers/warehouse/rows.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();

const people = (file: string) =>
  [1, 2].map((number) => ({ email: `${file}-${number}@orbit.example`, contactId: `${file}-${number}` }));

/** A run that claims two people, and a later run of the same people. */
async function twoRuns(file: string): Promise<readonly [string, string]> {
  const first = await runningRunOf(warehouse, people(file));
  await openPage(warehouse, first, 1, testLookupRequest);
  const second = await runningRunOf(warehouse, people(file));
  expect(await outcomesOf(warehouse, second)).toEqual(['in_flight', 'in_flight']);
  return [first, second];
}

const reason = { type: 'run.paused', reason: 'a person', next: 'enrich resume' } as const;

it('a finished run with in_flight people names the paused run that claims them, with exit code 3', async () => {
  const [paused, second] = await twoRuns('paused');
  await setRunStatus(warehouse, paused, 'paused', reason);
  expect(await readPausedRuns(warehouse.database, second)).toEqual([{ runId: paused, people: 2 }]);
  await endRun(warehouse, second, 'finished', undefined);
  const facts = await readRunFacts(warehouse, second);
  expect(facts.reason_type).toBe('people.in-paused-run');
  expect(facts.reason).toBe(`2 people wait in a paused run, and no other run asks for them: ${paused}`);
  expect(facts.next).toContain(`enrich resume ${paused}`);
  expect(facts.next).toContain(`enrich cancel ${paused}`);
  expect(exitCodeOfRun(facts)).toBe(3);
});

it('a finished run with in_flight people needs no action if the run that claims them is running', async () => {
  const [, second] = await twoRuns('running');
  await endRun(warehouse, second, 'finished', undefined);
  const facts = await readRunFacts(warehouse, second);
  expect(facts).toMatchObject({ reason_type: null, next: null, outcomes: { in_flight: 2 } });
  expect(exitCodeOfRun(facts)).toBe(0);
});

it('readPausedRuns() does not count people of an unknown call of the paused run', async () => {
  const [paused, second] = await twoRuns('undecided');
  await setRunStatus(warehouse, paused, 'paused', reason);
  await warehouse.query`
    update enrichment.run_rows set outcome = 'unknown' where run_id = ${paused} and row_number = 1`;
  expect(await readPausedRuns(warehouse.database, second)).toEqual([{ runId: paused, people: 1 }]);
});
