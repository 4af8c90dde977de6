import { createHash } from 'node:crypto';
import { wholeCredits } from '../../src/domain/money/decimal.ts';
import { drainInbox } from '../../src/late-results/drain-deliveries.ts';
import { admit } from '../../src/ledger/admit.ts';
import type { Warehouse } from '../../src/db/database.ts';
import { storeDelivery } from '../../src/late-results/deliveries.ts';
import { readOpenPeople, type OpenPerson } from '../../src/calls/open-people.ts';
import { planRows } from '../../src/runs/plan.ts';
import { recordAnswer } from '../../src/calls/record-answer.ts';
import { setRunStatus } from '../../src/runs/runs.ts';
import { asked, stagedRun } from './rows.ts';

let names = 0;
const extras = { reveal: ['phone'] as const, waterfall: [] };

/** A call whose phones come later. */
export interface PhonesCall {
  readonly runId: string;
  readonly attemptId: string;
  readonly token: string;
  readonly people: readonly OpenPerson[];
  readonly ids: readonly string[];
}

/** Three people are being asked for, with their phones, by a run of their own. */
export async function callWithPhones(warehouse: Warehouse): Promise<PhonesCall> {
  names += 1;
  const call = names;
  const people = ['a', 'b', 'c'].map((letter) => ({
    keys: [`email:${letter}${call}@orbit.example`],
    email: `${letter}${call}@orbit.example`,
    firstName: 'Ada',
    lastName: `Novak${letter}${call}`,
    contactId: `${letter}-${call}`,
  }));
  const run = await stagedRun(warehouse, people);
  await warehouse.pool.query(
    `update runs set options = options || '{"reveal": ["phone"]}'::jsonb where run_id = $1`,
    [run.runId],
  );
  await planRows(warehouse, run.runId, asked);
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  const open = await readOpenPeople(warehouse.database, run.runId, 1);
  const admission = await admit(
    warehouse.database,
    {
      runId: run.runId,
      batch: 1,
      priority: 'ad-hoc',
      rowNumbers: open.map((person) => person.rowNumber),
      creditsPerPerson: wholeCredits(9),
      deadlineSeconds: 30,
      lateResults: true,
    },
    { service: 'test', rateLimits: [], budgets: { perDay: undefined, perMonth: undefined } },
  );
  if (admission.kind !== 'admitted') throw new Error(admission.kind);
  const ids = ['a', 'b', 'c'].map((letter) => `person-${letter}${call}`);
  return {
    runId: run.runId,
    attemptId: admission.attemptId,
    token: admission.token!,
    people: open,
    ids,
  };
}

/** @param matches who is found, in the order of the people */
export async function recordPhonesAnswer(
  warehouse: Warehouse,
  call: PhonesCall,
  matches: readonly (0 | 1)[] = [1, 1, 1],
  credits = 3,
): Promise<void> {
  await recordAnswer(warehouse, {
    attemptId: call.attemptId,
    source: 'generic',
    people: call.people,
    asked: { ...extras, service: 'test' },
    lateResults: { pollAfterSeconds: 60, deadlineSeconds: 3_600 },
    answer: {
      httpStatus: 200,
      requestId: `-90071992547409${call.ids[0]!.slice('person-a'.length)}`,
      matches: matches.map((found, index) => {
        const { identity } = call.people[index]!;
        return found
          ? {
              id: call.ids[index]!,
              first_name: identity.firstName,
              last_name: identity.lastName,
              email: identity.email,
            }
          : null;
      }),
      unreadableMatches: [],
      creditsConsumed: wholeCredits(credits),
      creditsProblem: undefined,
      raw: Buffer.from('{}'),
      contentType: 'application/json',
    },
  });
}

/** The body of a delivery with a phone for each person. */
export function phonesBody(ids: readonly string[], credits: number | string, more: object = {}): Buffer {
  const people = ids.map((id, index) => ({
    id,
    phone_numbers: [
      { sanitized_number: `+1415555010${index}`, type_cd: 'mobile', status_cd: 'valid_number' },
    ],
  }));
  const text = JSON.stringify({ ...more, credits_consumed: 'PRICE', people });
  return Buffer.from(text.replace('"PRICE"', String(credits)));
}

/** Puts a delivery into the inbox as the receiver does. */
export async function storeFor(warehouse: Warehouse, call: PhonesCall, content: Buffer): Promise<void> {
  await storeDelivery(warehouse, {
    tokenHash: createHash('sha256').update(call.token).digest(),
    body: content,
    contentEncoding: undefined,
  });
}

/** Applies what lies in the inbox for a call. */
export async function drainCall(warehouse: Warehouse, call: PhonesCall): Promise<void> {
  await drainInbox(warehouse, { attemptId: call.attemptId }, new AbortController().signal);
}

export async function deliverTo(warehouse: Warehouse, call: PhonesCall, content: Buffer): Promise<void> {
  await storeFor(warehouse, call, content);
  await drainCall(warehouse, call);
}
