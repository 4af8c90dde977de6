import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { pruneObservations } from '../../../src/people/replaced-observations.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { writeObservation, titleFacts } from '../../helpers/warehouse/write-facts.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

it('pruneObservations() removes an older answer if a newer one replaces all of its values', async () => {
  for (const day of ['01', '02'])
    await writeObservation(warehouse, {
      person: 'promoted',
      askedAt: `2026-01-${day}`,
      runId: 'earlier',
      facts: titleFacts(`Lead ${day}`),
    });
  const { signal } = new AbortController();
  expect(await pruneObservations(warehouse, sql<Date>`now()`, signal)).toBe(1);
  expect(await pruneObservations(warehouse, sql<Date>`now()`, signal)).toBe(0);
  const rows = await warehouse.query`select title from people where person_key = 'promoted'`;
  expect(rows).toEqual([{ title: 'Lead 02' }]);
});

it('pruneObservations() keeps the newest answer with an e-mail, so that the waterfall e-mail stays', async () => {
  const address = (name: string, rank: number) => ({ email: `${name}@acme.example`, rank });
  const sayAddresses = (day: string, of: 'answer' | 'waterfall', ...all: ReturnType<typeof address>[]) =>
    writeObservation(warehouse, {
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
  await writeObservation(warehouse, {
    person: 'waterfalls',
    askedAt: '2026-01-03',
    runId: 'earlier',
    facts: titleFacts('Lead'),
  });
  await pruneObservations(warehouse, sql<Date>`now()`, new AbortController().signal);
  const rows = await warehouse.query`select email from people where person_key = 'waterfalls'`;
  expect(rows).toEqual([{ email: 'present@acme.example' }]);
});
