import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { personFieldGroups } from '../../src/domain/warehouse/person-columns.ts';
import { fold, type Observation } from '../../src/people/fold.ts';
import { warehouseOfFile } from '../helpers/database/database.ts';
import { observedPerson } from '../helpers/invented/observed-people.ts';

/**
 * The same few people in the suite; `npm run property:fold` draws others each time. `SEED=7 PEOPLE=400` compares 400
 * people from seed 7 on.
 */
const chosen = process.env['PEOPLE'];
const people = Number(chosen ?? 300);
const firstSeed = Number(process.env['SEED'] ?? (chosen === undefined ? 7 : randomInt(2 ** 31)));
/** People whom one statement computes. */
const perBatch = 200;

const warehouse = await warehouseOfFile();

/** A person, and a contact that is matched to the person at a moment. */
const matchedPerson = fc.record({ observations: observedPerson, isMatchedAt: fc.nat({ max: 7 }) });
interface MatchedPerson {
  readonly key: string;
  readonly observations: readonly Observation[];
  readonly matchedAt: number;
}

it(
  `fold() has the values, sources and history that PostgreSQL computes for ${people} people`,
  { timeout: 4 * 3_600_000 },
  async () => {
    const seen = { people: 0, observations: 0, states: 0, intervals: 0 };
    const batch = fc.array(matchedPerson, { minLength: 1, maxLength: perBatch, size: 'max' });
    const agrees = fc.asyncProperty(batch, async (drawn) => {
      const all = drawn.map(({ observations, isMatchedAt }, index): MatchedPerson => ({
        key: `person-${index}`,
        // Ids are unique in the log.
        observations: observations.map((each) => ({
          ...each,
          observationId: index * 100 + each.observationId,
        })),
        // Before all observations, or when one of them was recorded.
        matchedAt: observations[isMatchedAt]?.recordedAt ?? 0,
      }));
      await write(all);
      const states = await expectSameValues(all);
      const intervals = await expectSameHistory(all);
      seen.people += all.length;
      seen.observations += all.reduce((sum, each) => sum + each.observations.length, 0);
      seen.states += states;
      seen.intervals += intervals;
    });
    for (let seed = firstSeed; seen.people < people; seed += 1)
      await fc.assert(agrees, { numRuns: 1, seed, endOnFailure: false });
    if (chosen !== undefined) console.info(`from SEED=${firstSeed} on:`, seen);
  },
);

async function write(all: readonly MatchedPerson[]): Promise<void> {
  const observations = all.flatMap(({ key, observations: own }) => own.map((each) => ({ ...each, key })));
  await warehouse.query`truncate observation_log, contact_matches`;
  await warehouse.query`
    insert into observation_log (observation_id, service, person_key, kind, asked_at, recorded_at, run_id, attempt_id,
      organization_key, facts)
    overriding system value
    select "observationId", 'sandbox', key, 'answer', 'epoch'::timestamptz + "askedAt" * interval '1 microsecond',
      'epoch'::timestamptz + "recordedAt" * interval '1 microsecond', "runId", "attemptId", "organizationKey", facts
    from jsonb_to_recordset(${JSON.stringify(observations)}::jsonb) as o ("observationId" bigint, key text,
      "askedAt" bigint, "recordedAt" bigint, "runId" text, "attemptId" text, "organizationKey" text, facts jsonb)`;
  await warehouse.query`
    insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
      decided_at, recorded_at)
    select 'hubspot', key, 'sandbox', key, 'email', true, 'run-0', 1, at, at
    from jsonb_to_recordset(${JSON.stringify(all)}::jsonb) as m (key text, "matchedAt" bigint)
    cross join lateral (select 'epoch'::timestamptz + "matchedAt" * interval '1 microsecond' as at) t`;
}

/** The current values and those at two earlier moments. */
async function expectSameValues(all: readonly MatchedPerson[]): Promise<number> {
  const earlier = all.flatMap(({ key, observations }) =>
    observations.slice(0, 2).map(({ recordedAt }) => ({ key, moment: recordedAt })),
  );
  const stored = [
    ...(await valuesAt(all.map(({ key }) => ({ key, moment: null })))),
    ...(await valuesAt(earlier)),
  ];
  const states = new Map(stored.map((row) => [`${row.key} ${row.moment}`, row.values]));
  for (const { key, observations } of all)
    for (const moment of [null, ...observations.slice(0, 2).map(({ recordedAt }) => recordedAt)]) {
      const until = observations.filter(({ recordedAt }) => moment === null || recordedAt <= moment);
      const expected = states.get(`${key} ${moment}`);
      expect({ until, values: foldedValues(until) }).toEqual({ until, values: expected });
    }
  return states.size;
}

interface StoredValues {
  readonly key: string;
  readonly moment: string | null;
  readonly values: object;
}

const groupNames = [...Object.keys(personFieldGroups), 'employment'];

/**
 * What `people_at` computes. It compares positions of e-mails as text, in the sort order of the database, so that
 * position 10 comes before 2. The fold is right: it compares numbers, and is the same in every database. So this
 * orders e-mails again. `said_by` also has members of no group, which nobody reads as values.
 */
function valuesAt(wanted: readonly { key: string; moment: number | null }[]): Promise<StoredValues[]> {
  return warehouse.query<StoredValues>`
    select p.person_key as key,
      case when p.moment < 'infinity' then (extract(epoch from p.moment) * 1000000)::bigint end as moment,
      jsonb_build_object(
        'facts', (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p.facts)
          where key = any(${groupNames})),
        'saidBy', (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p.said_by)
          where key = any(${groupNames})),
        'organizationKey', p.organization_key,
        'emails', (
          select coalesce(jsonb_agg(e order by e ->> 'kind' collate "C", (e -> 'position')::integer,
            e ->> 'email' collate "C"), '[]')
          from jsonb_array_elements(p.emails) as e),
        'phones', p.phones,
        'askedAt', (extract(epoch from p.asked_at) * 1000000)::bigint,
        'runId', p.run_id,
        'attemptId', p.attempt_id) as values
    from people_at('sandbox', ${wanted.map(({ key }) => key)}::text[], (
      select array_agg(coalesce('epoch'::timestamptz + moment * interval '1 microsecond', 'infinity') order by place)
      from unnest(${wanted.map(({ moment }) => moment)}::bigint[]) with ordinality as w (moment, place))) p`;
}

/** The same of the fold; undefined without observations. */
function foldedValues(observations: readonly Observation[]): object | undefined {
  if (observations.length === 0) return undefined;
  const { groups, employment, organizationKey, emails, phones, newest } = fold(observations);
  const { askedAt, runId, attemptId } = newest;
  const said = [...groups, ...(employment ? [['employment', employment] as const] : [])];
  return {
    facts: Object.fromEntries(said.map(([group, { value }]) => [group, value])),
    saidBy: Object.fromEntries(said.map(([group, { observationId }]) => [group, observationId])),
    organizationKey,
    emails,
    phones,
    askedAt,
    runId,
    attemptId,
  };
}

/** An interval of `contact_history`; null: it is open. */
interface Interval {
  readonly group: string;
  readonly value: object;
  readonly from: number;
  readonly to: number | null;
  readonly attemptId: string;
}

async function expectSameHistory(all: readonly MatchedPerson[]): Promise<number> {
  const stored = await warehouse.query<{ key: string; intervals: Interval[] }>`
    select key, jsonb_agg(jsonb_build_object('group', h.field_group, 'value', jsonb_strip_nulls(h.value),
      'from', (extract(epoch from h.valid_from) * 1000000)::bigint,
      'to', (extract(epoch from h.valid_to) * 1000000)::bigint, 'attemptId', h.attempt_id)
      order by h.field_group collate "C", h.valid_from) as intervals
    from unnest(${all.map(({ key }) => key)}::text[]) as k (key)
    cross join lateral history_of('hubspot', key) h
    group by key`;
  const histories = new Map(stored.map(({ key, intervals }) => [key, intervals]));
  for (const { key, observations, matchedAt } of all) {
    const intervals = foldedIntervals(observations, matchedAt);
    const expected = histories.get(key) ?? [];
    expect({ observations, matchedAt, intervals }).toEqual({ observations, matchedAt, intervals: expected });
  }
  return stored.reduce((sum, { intervals }) => sum + intervals.length, 0);
}

/** The intervals of a person, as far as a contact was the person. */
function foldedIntervals(observations: readonly Observation[], matchedAt: number): Interval[] {
  const { groups, validFrom, history } = fold(observations);
  const open = [...validFrom].map(([group, from]) => ({
    group,
    ...groups.get(group)!,
    validFrom: from,
    validTo: null,
  }));
  const attempts = new Map(observations.map(({ observationId, attemptId }) => [observationId, attemptId]));
  return [...history, ...open]
    .filter(({ validTo }) => validTo === null || validTo > matchedAt)
    .map(({ group, value, observationId, validFrom: from, validTo: to }) => ({
      group,
      value,
      from: Math.max(from, matchedAt),
      to,
      attemptId: attempts.get(observationId)!,
    }))
    .toSorted((one, other) =>
      one.group === other.group ? one.from - other.from : one.group < other.group ? -1 : 1,
    );
}
