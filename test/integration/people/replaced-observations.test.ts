import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { removeReplaced } from '../../../src/people/log/replaced-observations.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { openTestWarehouse, warehouseOfFile } from '../../helpers/database/database.ts';
import { say, titled } from '../../helpers/warehouse/log-entries.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';
import { rowsScanned } from '../../helpers/database/rows-read.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

it('removeReplaced() reads no person when each of 6,000 people has one observation', async () => {
  const oneSession = await openTestWarehouse({ connections: 1 });
  const { pool } = oneSession;
  await pool.query(
    `insert into observations (service, person_key, person_id, kind, asked_at, recorded_at, run_id, attempt_id, facts)
     select 'test', 'person:p' || n, 'p' || n, 'answer', now(), now() - interval '60 days', 'earlier', 'a1',
       '{"first_name": {"first_name": "Ada"}}'
     from generate_series(1, 6000) n`,
  );
  await pool.query(
    `select project('test', array_agg(person_key), '{}', '{}') from observations group by observation_id / 500`,
  );
  await pool.query('analyze');
  const before = await rowsScanned(oneSession, 'people');
  const olderThan = sql<Date>`(now() - interval '30 days')`;
  expect(await removeReplaced(oneSession, olderThan, new AbortController().signal)).toBe(0);
  expect((await rowsScanned(oneSession, 'people')) - before).toBe(0);
  await oneSession.close();
});

it('removeReplaced() removes the replaced observations of a person without an employer', async () => {
  const { signal } = new AbortController();
  for (const day of ['01', '02', '03'])
    await say(warehouse, {
      person: 'without-employer',
      askedAt: `2026-01-${day}`,
      runId: 'earlier',
      facts: titled('Lead'),
    });
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(2);
  expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differences: 0 });
  const rows = await warehouse.query`
    select asked_at::date::text as asked_at from observations where person_key = 'without-employer'`;
  expect(rows).toEqual([{ asked_at: '2026-01-03' }]);
});

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

it('removeReplaced() compares an observation that stays once, until its person changes again', async () => {
  const { signal } = new AbortController();
  const candidates = async (): Promise<unknown> => {
    const rows = await warehouse.query`select count(*)::int as count from prune_candidates`;
    return rows[0]?.count;
  };
  const sayTitled = (group: string, day: string): Promise<void> =>
    say(warehouse, {
      person: 'twice',
      askedAt: `2026-01-${day}`,
      runId: 'earlier',
      facts: { [group]: { [group]: 'Lead' } },
    });
  await sayTitled('title', '01');
  await sayTitled('headline', '02');
  expect(await candidates()).toBe(2);
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(0);
  expect(await candidates()).toBe(0);
  await sayTitled('title', '03');
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(1);
});

it('removeReplaced() removes an observation when its company has a newer one of another person', async () => {
  const { signal } = new AbortController();
  const employed = async (person: string, day: string, organizationKey: string): Promise<void> => {
    const facts = { organization_name: { organization_name: organizationKey } };
    await say(warehouse, { person, askedAt: `2026-01-${day}`, runId: 'earlier', facts, organizationKey });
  };
  await employed('mover', '01', 'domain:first.example');
  await employed('mover', '02', 'domain:second.example');
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(0);
  await employed('successor', '03', 'domain:first.example');
  expect(await removeReplaced(warehouse, sql<Date>`now()`, signal)).toBe(1);
  expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differences: 0 });
});

it.each([
  [
    'the type and the do-not-call status of a number',
    'phones',
    'phones',
    { type: 'mobile', dnc_status: 'dnc' },
  ],
  ['the status of an address', 'answer', 'emails', { email_status: 'verified' }],
] as const)('removeReplaced() keeps %s that a newer entry leaves out', async (name, kind, list, members) => {
  const person = `left-out-${list}`;
  const entry = list === 'phones' ? { number: '+14155550101', position: 0 } : { email: 'ada@acme.example' };
  for (const [day, more] of [members, members, {}].entries())
    await say(warehouse, {
      person,
      kind,
      askedAt: `2026-01-0${day + 1}`,
      runId: 'earlier',
      facts: { title: { title: name }, [list]: [{ ...entry, ...more }] },
    });
  expect(await removeReplaced(warehouse, sql<Date>`now()`, new AbortController().signal)).toBe(1);
  const { rows } = await warehouse.pool.query(`select ${list} as entries from people where person_key = $1`, [
    person,
  ]);
  expect(rows).toEqual([{ entries: [expect.objectContaining(members)] }]);
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

it('a person whom two contacts of one decision name is projected and queued for retention once', async () => {
  for (const day of ['01', '02'])
    await say(warehouse, {
      person: 'named-twice',
      askedAt: `2026-01-${day}`,
      runId: 'earlier',
      facts: titled(`Lead ${day}`),
    });
  await warehouse.query`select project('sandbox', '{named-twice,named-twice}', '{}', '{}')`;
  const rows = await warehouse.query`
    select o.asked_at::date::text as asked_at from observations o
    join prune_candidates using (observation_id) where o.person_key = 'named-twice' order by o.asked_at`;
  expect(rows).toEqual([{ asked_at: '2026-01-01' }, { asked_at: '2026-01-02' }]);
});
