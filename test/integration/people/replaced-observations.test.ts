import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { removeReplaced } from '../../../src/people/replaced-observations.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { say, titled } from '../../helpers/warehouse/log-entries.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

it('removeReplaced() removes nothing until an interrupted undo or revert is complete', async () => {
  const { signal } = new AbortController();
  const runs: string[] = [];
  for (const day of ['01', '02']) {
    const { runId } = await stagedRun(warehouse, []);
    await endRun(warehouse, runId, 'finished', undefined);
    await say(warehouse, {
      person: 'undone',
      askedAt: `2026-01-${day}`,
      runId,
      facts: titled(`Lead ${day}`),
    });
    runs.push(runId);
  }
  const newer = runs[1]!;
  const note = { by: 'test', reason: undefined };
  const title = async (): Promise<unknown> => {
    const rows = await warehouse.query`select title from people where person_key = 'undone'`;
    return rows[0]?.title;
  };
  await undoRun(warehouse, newer, note, AbortSignal.abort());
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(0);
  await undoRun(warehouse, newer, note, signal);
  expect(await title()).toBe('Lead 01');
  await revertUndo(warehouse, newer, AbortSignal.abort());
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(0);
  await revertUndo(warehouse, newer, signal);
  expect(await title()).toBe('Lead 02');
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(1);
});

it('removeReplaced() keeps the newest answer with an address, because it decides which waterfalls count', async () => {
  const address = (name: string, rank: number) => ({ email: `${name}@acme.example`, rank });
  const sayAddresses = (day: string, of: 'answer' | 'waterfall', ...all: ReturnType<typeof address>[]) =>
    say(warehouse, {
      person: 'waterfalls',
      kind: of,
      askedAt: `2026-01-${day}`,
      runId: 'earlier',
      facts: {
        ...(of === 'answer' ? { email: all[0] } : { waterfall_emails: all }),
        emails: all.map(({ email }) => ({ email, kind: of, position: 0 })),
      },
    });
  await sayAddresses('01', 'answer', address('first', 3));
  await sayAddresses('01', 'waterfall', address('former', 0));
  await sayAddresses('02', 'answer', address('second', 3));
  await sayAddresses('02', 'waterfall', address('present', 1), address('second', 3));
  await say(warehouse, {
    person: 'waterfalls',
    askedAt: '2026-01-03',
    runId: 'earlier',
    facts: titled('Lead'),
  });
  await removeReplaced(warehouse, sql<Date>`now()`, new AbortController().signal);
  const rows = await warehouse.query`select email from people where person_key = 'waterfalls'`;
  expect(rows).toEqual([{ email: 'present@acme.example' }]);
});
