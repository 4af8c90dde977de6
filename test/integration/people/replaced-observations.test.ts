import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { pruneObservations } from '../../../src/people/replaced-observations.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  writeObservation,
  titleFacts,
  type WrittenObservation,
} from '../../helpers/warehouse/write-facts.ts';
import { noSignal } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

const say = (
  person: string,
  day: string,
  facts: WrittenObservation['facts'],
  kind: 'answer' | 'waterfall' = 'answer',
) => writeObservation(warehouse, { person, kind, askedAt: `2026-01-${day}`, runId: 'earlier', facts });

it('pruneObservations() removes an older answer if a newer one replaces all of its values', async () => {
  for (const day of ['01', '02']) await say('promoted', day, titleFacts(`Lead ${day}`));
  const { signal } = new AbortController();
  expect(await pruneObservations(warehouse, sql<Date>`now()`, signal)).toBe(1);
  expect(await pruneObservations(warehouse, sql<Date>`now()`, signal)).toBe(0);
  const rows = await warehouse.query`select title from people where person_key = 'promoted'`;
  expect(rows).toEqual([{ title: 'Lead 02' }]);
});

it('pruneObservations() keeps the newest answer with an e-mail, so that the waterfall e-mail stays', async () => {
  const address = (name: string, rank: number) => ({ email: `${name}@acme.example`, rank });
  const sayAddresses = (day: string, of: 'answer' | 'waterfall', ...all: ReturnType<typeof address>[]) =>
    say(
      'waterfalls',
      day,
      {
        ...(of === 'answer' ? { email: all[0] } : { waterfall_emails: all }),
        emails: all.map(({ email }) => ({ email, kind: of, position: 0 })),
      },
      of,
    );
  await sayAddresses('01', 'answer', address('first', 3));
  await sayAddresses('01', 'waterfall', address('former', 0));
  await sayAddresses('02', 'answer', address('second', 3));
  await sayAddresses('02', 'waterfall', address('present', 1), address('second', 3));
  await say('waterfalls', '03', titleFacts('Lead'));
  await pruneObservations(warehouse, sql<Date>`now()`, noSignal);
  const rows = await warehouse.query`select email from people where person_key = 'waterfalls'`;
  expect(rows).toEqual([{ email: 'present@acme.example' }]);
});
