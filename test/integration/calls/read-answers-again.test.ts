import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readAnswersAgain } from '../../../src/calls/answers/read-answers-again.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answeredCall, deliverTo } from '../../helpers/warehouse/late-calls.ts';
import { deliveredCall } from '../../helpers/warehouse/delivered-calls.ts';

const warehouse = await warehouseOfFile();
const { signal } = new AbortController();

it('readAnswersAgain() fills observations from stored bodies, once, and leaves those without a body', async () => {
  const call = await deliveredCall(warehouse);
  const [first] = call.people;
  // An earlier release read no titles and no phones.
  const { email, firstName, lastName } = first!.identity;
  const person = {
    id: call.ids[0],
    first_name: firstName,
    last_name: lastName,
    email,
    title: 'Head of Gears',
  };
  const body = JSON.stringify({ credits_consumed: 3, matches: [person] });
  await warehouse.query`
    update raw_answers set body_gzip = ${gzipSync(body)} where attempt_id = ${call.attemptId}`;
  await warehouse.query`update observations set facts = '{}' where kind = 'phones'`;
  await rebuild(warehouse, { check: false, signal });

  expect(await readAnswersAgain(warehouse, signal)).toEqual({ bodies: 2, changed: 4, complete: true });
  const rows = await warehouse.query`
    select title, phone from enriched_contacts where run_id = ${call.runId} order by row_number`;
  expect(rows).toEqual([
    { title: 'Head of Gears', phone: '+14155550100' },
    { title: null, phone: '+14155550101' },
    { title: null, phone: '+14155550102' },
  ]);
  expect(await readAnswersAgain(warehouse, signal)).toMatchObject({ changed: 0 });
});

it('readAnswersAgain() keeps what a body says of a person whom it names twice', async () => {
  const call = await answeredCall(warehouse);
  const named = (number: string) => ({ id: call.ids[0], phone_numbers: [{ sanitized_number: number }] });
  const people = [named('+14155550181'), named('+14155550182')];
  await deliverTo(warehouse, call, Buffer.from(JSON.stringify({ people })));
  const phonesOf = () =>
    warehouse.pool
      .query('select number from person_phones where person_id = $1 order by number', [call.ids[0]])
      .then(({ rows }) => rows as object[]);
  const before = await phonesOf();
  expect(before).toHaveLength(2);
  expect(await readAnswersAgain(warehouse, signal)).toMatchObject({ changed: 0 });
  expect(await phonesOf()).toEqual(before);
});
