import type { AnswerToRecord } from '../../../src/calls/answers/store-answer.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { drainInbox, type syncRunResults } from '../../../src/late-results/sync-late-results.ts';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import type { ServiceClient } from '../../../src/service/client.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { readOpenPeople, type OpenPerson } from '../../../src/calls/batches/open-people.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { recordAnswer, answerWith } from './answers.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { testLookupRequest, stagedRun, type StagedRow, noSignal, neverFresh } from './rows.ts';
import { admit } from './admit.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';
import { hashToken } from '../../../src/ledger/admit.ts';

let names = 0;

/** Reveals and waterfalls that a call requests. */
export interface LateExtras {
  readonly reveal: readonly 'phone'[];
  readonly waterfall: readonly ('email' | 'phone')[];
}

export const onlyPhones: LateExtras = { reveal: ['phone'], waterfall: [] };
/** Maximum credits of one person of a waterfall in these tests. */
const waterfallCeiling = 20;

/** A call with phones that arrive as late results. */
export interface PhonesCall {
  readonly runId: string;
  readonly attemptId: string;
  readonly token: string;
  readonly people: readonly OpenPerson[];
  readonly ids: readonly string[];
  readonly requestId: string;
  readonly extras: LateExtras;
  /** Fields of the answered person by index, which are added to the fields of the row or replace them. */
  readonly stated?: Readonly<Record<number, Partial<Person>>>;
  /** People that the answer lists after the requested people. */
  readonly surplus?: readonly Person[];
}

/** Admits a call for three people with phones or other late results, in a new run. */
export async function callWithPhones(
  warehouse: TestWarehouse,
  extras: LateExtras = onlyPhones,
): Promise<PhonesCall> {
  names += 1;
  const call = names;
  const people = ['a', 'b', 'c'].map((letter) => ({
    email: `${letter}${call}@orbit.example`,
    firstName: 'Ada',
    lastName: `Novak${letter}${call}`,
    contactId: `${letter}-${call}`,
  }));
  const ids = ['a', 'b', 'c'].map((letter) => `person-${letter}${call}`);
  return openCall(warehouse, { people, ids, requestId: `-90071992547409${call}`, extras });
}

/** Admits a call for the people of an earlier call, in a new run in which all of them are not fresh. */
export async function callAgain(
  warehouse: TestWarehouse,
  call: PhonesCall,
  extras: LateExtras = call.extras,
): Promise<PhonesCall> {
  names += 1;
  const requestId = `-90071992547409${names}`;
  return openCall(warehouse, { people: rowsOfCall(call), ids: call.ids, requestId, extras });
}

/** Returns the rows of an export with the people of a call. */
export function rowsOfCall(call: PhonesCall): StagedRow[] {
  return call.people.map(({ identity, contactId }) => ({ ...identity, contactId }));
}

async function openCall(
  warehouse: TestWarehouse,
  {
    people,
    ids,
    requestId,
    extras,
  }: Pick<PhonesCall, 'ids' | 'requestId' | 'extras'> & { readonly people: readonly StagedRow[] },
): Promise<PhonesCall> {
  const hasWaterfall = extras.waterfall.length > 0;
  const run = await stagedRun(warehouse, people);
  const options = { ...extras, maxCreditsPerPerson: hasWaterfall ? String(waterfallCeiling) : null };
  await warehouse.query`update runs set options = options || ${options}::jsonb where run_id = ${run.runId}`;
  await planRows(warehouse, run.runId, { ...testLookupRequest, freshness: neverFresh });
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  const open = await readOpenPeople(warehouse.database, run.runId, 1);
  const admission = await admit(warehouse.database, {
    runId: run.runId,
    rowNumbers: open.map((person) => person.rowNumber),
    creditsPerPerson: creditsFromWhole(hasWaterfall ? waterfallCeiling : 9),
    lateResults: extras.reveal.length + extras.waterfall.length > 0,
  });
  if (admission.kind !== 'admitted') throw new Error(admission.kind);
  const { attemptId, token } = admission;
  return { runId: run.runId, attemptId, token: token ?? '', people: open, ids, requestId, extras };
}

/**
 * Records the answer of a call with phones.
 *
 * @param matches found people, in the order of the requested people
 * @param credits price that the answer states; null: none
 * @param phones the answer's status of late phones
 * @param counts the answer's own counts of people
 */
export async function recordPhonesAnswer(
  warehouse: TestWarehouse,
  call: PhonesCall,
  matches: readonly (0 | 1)[] = [1, 1, 1],
  credits: number | null = 3,
  phones?: 'pending' | 'skipped',
  counts: Pick<AnswerToRecord, 'uniqueEnrichedRecords' | 'missingRecords'> = {},
  lateResults?: Parameters<typeof recordAnswer>[1]['lateResults'],
): Promise<void> {
  await recordAnswer(warehouse, {
    attemptId: call.attemptId,
    people: call.people,
    asked: call.extras,
    ...(lateResults && { lateResults }),
    answer: answerWith(
      [
        ...matches.map((found, index) => {
          const { identity } = call.people[index]!;
          return found
            ? {
                id: call.ids[index]!,
                first_name: identity.firstName,
                last_name: identity.lastName,
                email: identity.email,
                ...call.stated?.[index],
              }
            : null;
        }),
        ...(call.surplus ?? []),
      ],
      {
        ...counts,
        requestId: call.requestId,
        creditsConsumed: credits === null ? undefined : creditsFromWhole(credits),
        creditsProblem: credits === null ? 'absent' : undefined,
        ...(phones && { phoneEnrichment: { status: phones } }),
      },
    ),
  });
}

/** Admits a call for three people, and records an answer that found all three. */
export async function answeredCall(
  warehouse: TestWarehouse,
  extras?: LateExtras,
  credits: number | null = 3,
): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse, extras);
  await recordPhonesAnswer(warehouse, call, [1, 1, 1], credits);
  return call;
}

/** Returns the body of a delivery with one phone for each person. */
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

/** Stores a delivery in the inbox as the receiver does. */
export async function storeDeliveryFor(
  warehouse: TestWarehouse,
  call: PhonesCall,
  content: Buffer,
): Promise<void> {
  await storeDeliveries(warehouse, [{ tokenHash: hashToken(call.token), body: content }]);
}

/** Applies the deliveries in the inbox of a call. */
export async function drainCall(warehouse: TestWarehouse, call: PhonesCall): Promise<void> {
  await drainInbox(warehouse, { attemptId: call.attemptId }, noSignal);
}

/** Delivers a late result to a call, and applies it. */
export async function deliverTo(
  warehouse: TestWarehouse,
  call: PhonesCall,
  content: object | Buffer,
): Promise<void> {
  await storeDeliveryFor(
    warehouse,
    call,
    Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content)),
  );
  await drainCall(warehouse, call);
}

/** Creates a run with calls that await late results and are all due for a poll. */
export async function backlogOfPolls(warehouse: TestWarehouse, calls: number): Promise<PhonesCall> {
  const call = await answeredCall(warehouse);
  const rows = await warehouse.query<{ columns: string }>`
    select string_agg(column_name, ', ') as columns from information_schema.columns
    where table_schema = 'enrichment' and table_name = 'attempts'
      and column_name not in ('attempt_id', 'request_id', 'token_hash')`;
  const { columns } = rows[0]!;
  await warehouse.pool.query(
    `insert into attempts (attempt_id, request_id, ${columns})
     select 'copy-' || n, (1000 + n)::text, ${columns}
     from attempts, generate_series(1, $2 - 1) n
     where attempt_id = $1`,
    [call.attemptId, calls],
  );
  await warehouse.query`update attempts set next_poll_at = clock_timestamp() where run_id = ${call.runId}`;
  return call;
}

/** Settled and reserved credits of a call. */
export interface CallCredits {
  readonly status: string;
  readonly settled: number | null;
  readonly reserved: number;
}

/** Reads the status and credits of a call. */
export async function readCallCredits(warehouse: TestWarehouse, call: PhonesCall): Promise<CallCredits> {
  const rows = await warehouse.query<CallCredits>`
    select status, credits_settled::float8 as settled, credits_reserved::float8 as reserved
    from attempts where attempt_id = ${call.attemptId}`;
  return rows[0]!;
}

/** Returns the statuses of a call's deliveries, in the order of arrival. */
export async function deliveryStatuses(warehouse: TestWarehouse, call: PhonesCall): Promise<string[]> {
  const rows = await warehouse.query<{ status: string }>`
    select status from webhook_deliveries where attempt_id = ${call.attemptId} order by received_at`;
  return rows.map(({ status }) => status);
}

export const emailsAndPhones: LateExtras = { reveal: [], waterfall: ['email', 'phone'] };

/** Returns the body of a waterfall delivery with e-mails or phones for some people. */
export function waterfallBody(
  call: PhonesCall,
  field: 'emails' | 'phone_numbers',
  credits: number,
  more: object = {},
  ids = call.ids,
): object {
  const phone = (index: number) => ({ sanitized_number: `+1415555020${index}`, type_cd: 'mobile' });
  return {
    status: 'success',
    request_id: call.requestId,
    credits_consumed: credits,
    people: ids.map((id, index) => ({
      id,
      ...(field === 'emails'
        ? { emails: [{ email: `${id}@orbit.example`, email_status_cd: 'verified' }] }
        : { phone_numbers: [phone(index)] }),
    })),
    ...more,
  };
}

/** Returns the phone of each contact of a call; null if the contact has none. */
export async function phonesOf(warehouse: TestWarehouse, call: PhonesCall): Promise<(string | null)[]> {
  const rows = await warehouse.query<{ phone: string | null }>`
    select phone
    from unnest(${call.people.map(({ contactId }) => contactId)}::text[]) with ordinality as n (contact_id, place)
    left join enriched_contacts c using (contact_id) order by place`;
  return rows.map(({ phone }) => phone);
}

/** Makes a call for three people with its answer and all phones, in a run that is still in progress. */
export async function deliveredCall(warehouse: TestWarehouse): Promise<PhonesCall> {
  const call = await answeredCall(warehouse);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  return call;
}

/** Makes a call of a run that has ended after all its phones have arrived. */
export async function endedWithPhones(warehouse: TestWarehouse): Promise<PhonesCall> {
  const call = await deliveredCall(warehouse);
  await endRun(warehouse, call.runId, 'finished', undefined);
  return call;
}

/** Returns what a worker needs to poll late results. */
export function pollsBy(
  warehouse: TestWarehouse,
  client: ServiceClient,
  rateLimits: readonly RateLimit[] = [],
): Parameters<typeof syncRunResults>[0] {
  return { warehouse, service: 'test', client, rateLimits, callTimeoutSeconds: 5, pollAfterSeconds: 60 };
}
