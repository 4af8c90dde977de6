import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { recordAnswer, answerWith } from '../warehouse/answers.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { applyLateResult } from '../../../src/late-results/apply-late-result.ts';
import { drainInbox } from '../../../src/late-results/sync-late-results.ts';
import { recordDecision } from '../../../src/people/decisions/reviews.ts';
import { UsageProblem } from '../../../src/domain/problem.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { dropSuppressed } from '../../../src/suppression/drop-suppressed.ts';
import { addSuppressions } from '../../../src/suppression/suppression-list.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { readLateResult } from '../../../src/service/answers/late-result.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';
import fc from 'fast-check';
import { recordedVerdicts } from '../../../src/domain/identity/verdicts.ts';
import { identityCells, noSignal, testNote } from '../warehouse/rows.ts';

const anyText = fc.constantFrom('a', 'b', null);
const anyHuman = fc.nat(1);
const anyRun = fc.nat(5);
const anyContact = fc.nat(1);

/** A record of an export: the contact, the human that it really is, and the cell that identifies the human. */
const anyRow = fc.record({
  contact: anyContact,
  human: anyHuman,
  cell: fc.constantFrom('email', 'profile', 'hash', 'id'),
});

const anyAnswer = fc.record({
  kind: fc.constant('answer' as const),
  run: anyRun,
  rows: fc.array(anyRow, { minLength: 1, maxLength: 2 }),
  /** Hours between the admission of the call and the recording of its answer. */
  hoursAgo: fc.nat(2),
  hasId: fc.boolean(),
  /** True if the service has given its people other ids before this call. */
  isRenumbered: fc.constantFrom(false, false, true),
  title: anyText,
  city: anyText,
  company: anyText,
  industry: anyText,
  hasEmail: fc.boolean(),
  /** True if the answer contains both humans, also if the call requested only one of them. */
  bringsBoth: fc.boolean(),
  late: fc.constantFrom('none', 'phones', 'waterfall'),
});

/** A delivery for an earlier call of the sequence. */
const anyLate = fc.record({
  kind: fc.constant('late' as const),
  call: fc.nat(3),
  /** True if the delivery has ids that the service gave its people before or after the call. */
  hasOtherIds: fc.constantFrom(false, false, true),
  phones: fc.subarray(['1', '2', '3']),
  statuses: fc.constantFrom(['valid_number'], ['invalid_number', 'valid_number'], [undefined]),
  emails: fc.subarray(['work', 'other']),
  emailStatus: fc.constantFrom('verified', 'unverified', undefined),
  isTwice: fc.boolean(),
});

/** A record whose contact can only be filled without a call. */
const anyFill = fc.record({ kind: fc.constant('fill' as const), run: anyRun, row: anyRow });
const anyMark = fc.record({ kind: fc.constantFrom('undo' as const, 'revert' as const), run: anyRun });
const anyHide = fc.record({ kind: fc.constantFrom('erase' as const, 'suppress' as const), human: anyHuman });
/** A decision of the operator that a contact is, or is not, a certain human. */
const anyDecision = fc.record({
  kind: fc.constant('decision' as const),
  run: anyRun,
  contact: anyContact,
  human: anyHuman,
  verdict: fc.constantFrom(...recordedVerdicts),
});

const anyStep = fc.oneof(anyAnswer, anyAnswer, anyLate, anyLate, anyFill, anyMark, anyHide, anyDecision);

type Drawn<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
type Answer = Drawn<typeof anyAnswer>;
type Late = Drawn<typeof anyLate>;
type Row = Drawn<typeof anyRow>;
export type WorldStep = Drawn<typeof anyStep>;

/** Random steps in a warehouse with its own people, contacts and runs. */
export const stepSequences: fc.Arbitrary<readonly WorldStep[]> = fc.array(anyStep, {
  minLength: 1,
  maxLength: 6,
});

const sources = ['one', 'one', 'one', 'one', 'two', 'two'] as const;
const extras = {
  none: { reveal: [], waterfall: [] },
  phones: { reveal: ['phone'], waterfall: [] },
  waterfall: { reveal: [], waterfall: ['email', 'phone'] },
} as const;

/** People, contacts and runs of one sequence of steps; sequences share none of them. */
export interface World {
  readonly runs: readonly string[];
  play(step: WorldStep): Promise<void>;
  /** True if a person of the world was put on the suppression list. */
  hasSuppressed(): boolean;
  /** Returns texts of erased people, which no table may contain. */
  erasedTexts(): string[];
}

let worlds = 0;
/** Worlds with the same initial have people with common match keys, so their transactions read each other's rows. */
const initials = 'bcdfghjklm';

/** Empties the warehouse and opens worlds in it. */
export async function openWorlds(warehouse: TestWarehouse, count: number): Promise<World[]> {
  const { pool } = warehouse;
  const { rows } = await pool.query<{ tables: string }>(
    `select string_agg(quote_ident(tablename), ', ') as tables from pg_tables
     where schemaname like 'enrichment%' and tablename not like '%migration%'
       and tablename <> 'digest_lock'`,
  );
  await pool.query(`truncate ${rows[0]!.tables}`);
  const names = Array.from({ length: count }, () => {
    worlds += 1;
    return `${initials[worlds % initials.length]}${worlds}z`;
  });
  await pool.query(
    `insert into runs (run_id, run_key, workflow_id, status, source, file_path, file_name, file_sha256, options,
       rows_staged, as_of, created_at, ingested_at, finished_at)
     -- Backfills read the newest export first: the order of exports is not the order in which runs began.
     select id, id, id, 'finished', source, '', '', '', $3, 100, exported_at, began_at, began_at,
       clock_timestamp() - interval '2 days'
     from unnest($1::text[]) as name, unnest($2::text[]) with ordinality as of_run (source, n),
       lateral (select name || '-' || n - 1 as id) ids,
       lateral (
         select now() - interval '10 days' + n * interval '1 hour' as exported_at,
           now() - interval '3 days' - n * interval '1 hour' as began_at
       ) times`,
    [
      names,
      sources,
      {
        service: 'test',
        reveal: ['phone'],
        waterfall: ['email', 'phone'],
        maxCreditsPerPerson: null,
        freshness: { enrichedSeconds: 86_400, notFoundSeconds: 86_400 },
      },
    ],
  );
  return names.map((name) => openWorld(warehouse, name));
}

/** Opens one world. @param name prefix of every text of the world */
function openWorld(warehouse: TestWarehouse, name: string): World {
  const runs = sources.map((_, index) => `${name}-${index}`);
  const calls: {
    readonly attemptId: string;
    readonly isRenumbered: boolean;
    readonly humans: readonly number[];
  }[] = [];
  const erased = new Set<number>();
  let suppressions = 0;
  const records = new Map<string, number>();
  let rowNumber = 0;

  /**
   * The two humans have different first names. With one first name they could be one person with a former last name,
   * and an erasure would reach both.
   */
  const firstNameOf = (human: number): string => (human === 0 ? 'Ada' : 'Bob');
  const token = (human: number): string => `${name}h${human}x`;
  const email = (human: number): string => `${token(human)}@mail.example`;
  const md5 = (human: number): string => createHash('md5').update(email(human)).digest('hex');
  const profile = (human: number): string => `profiles.example/in/${token(human)}`;
  const keysOf = (human: number): string[] =>
    identityKeys({ personId: token(human), email: email(human), profileUrl: profile(human) });

  const idOf = (human: number, isRenumbered: boolean): string =>
    `${token(human)}${isRenumbered ? 'new' : ''}`;

  const hasId = (human: number, answer: Answer): boolean =>
    answer.hasId || answer.rows.some((row) => row.human === human && row.cell === 'id');

  function identityOf({ human, cell }: Row): Identity {
    return {
      firstName: firstNameOf(human),
      lastName: token(human),
      ...(cell === 'email' && { email: email(human) }),
      ...(cell === 'profile' && { profileUrl: profile(human) }),
      ...(cell === 'hash' && { hashedEmail: md5(human) }),
      ...(cell === 'id' && { personId: token(human) }),
    };
  }

  function personOf(human: number, answer: Answer): Person {
    const { title, city, company, industry } = answer;
    return {
      id: hasId(human, answer) ? idOf(human, answer.isRenumbered) : null,
      first_name: firstNameOf(human),
      last_name: token(human),
      proflink_url: `https://${profile(human)}`,
      email: answer.hasEmail || answer.rows.some((row) => row.cell === 'hash') ? email(human) : null,
      email_status: 'extrapolated',
      title,
      city,
      organization: company && { id: `${name}${company}`, name: `${name} ${company}`, industry },
    };
  }

  /**
   * Stages a row. @returns the number of the row; undefined if its person is suppressed, or if its run already has the
   * contact
   */
  async function stage(runId: string, row: Row): Promise<number | undefined> {
    rowNumber += 1;
    const identity = identityOf(row);
    const record = `${runId} ${row.contact}`;
    const first = records.get(record);
    if (first === undefined) records.set(record, rowNumber);
    await warehouse.database
      .insertInto('run_rows')
      .values({
        run_id: runId,
        row_number: rowNumber,
        contact_id: `${name}c${row.contact}`,
        raw: JSON.stringify(identity),
        keys: identityKeys(identity),
        ...identityCells(identity),
      })
      .execute();
    const dropped = await dropSuppressed(warehouse.database, runId, sql`select ${rowNumber}::int`);
    if (dropped > 0 || first === undefined) return dropped > 0 ? undefined : rowNumber;
    await warehouse.query`
      update run_rows set outcome = 'duplicate', record_row = ${first}
      where run_id = ${runId} and row_number = ${rowNumber}`;
    return undefined;
  }

  async function playAnswer(answer: Answer): Promise<void> {
    const runId = runs[answer.run]!;
    const attemptId = `${runId}-${calls.length}`;
    const humans = answer.bringsBoth ? [0, 1] : [...new Set(answer.rows.map((row) => row.human))];
    const asked: { readonly row: Row; readonly rowNumber: number }[] = [];
    for (const row of answer.rows) {
      const staged = await stage(runId, row);
      if (staged !== undefined) asked.push({ row, rowNumber: staged });
    }
    await reconcileContacts(warehouse, runId, noSignal);
    // A human that the call did not request can be awaited only with an id: without it, nothing shows who gets the
    // results.
    const awaited = humans.filter(
      (human) => hasId(human, answer) || asked.some(({ row }) => row.human === human),
    );
    calls.push({ attemptId, humans: awaited, isRenumbered: answer.isRenumbered });
    if (asked.length === 0) return;
    await warehouse.query`
      with attempt as (
        insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids, admitted_at)
        values (${attemptId}, ${runId}, 1, 'admitted', ${asked.length}, 100, '{}',
          clock_timestamp() - ${answer.hoursAgo} * interval '1 hour')
      )
      insert into attempt_people (attempt_id, detail_index, run_id, row_number)
      select ${attemptId}, place, ${runId}, number
      from unnest(${asked.map((each) => each.rowNumber)}::int[]) with ordinality as asked (number, place)`;
    const matches = humans.map((human) => personOf(human, answer));
    await recordAnswer(warehouse, {
      attemptId,
      people: asked.map(({ row, rowNumber: number }) => ({
        rowNumber: number,
        contactId: `${name}c${row.contact}`,
        identity: identityOf(row),
      })),
      asked: extras[answer.late],
      answer: answerWith(matches, { creditsConsumed: creditsFromWhole(1) }),
    });
  }

  async function playLate(late: Late): Promise<void> {
    const call = calls[late.call % Math.max(calls.length, 1)];
    if (!call) return;
    const people = call.humans.map((human) => ({
      id: idOf(human, call.isRenumbered !== late.hasOtherIds),
      phone_numbers: late.phones.map((digit, index) => ({
        sanitized_number: `+1415555010${digit}`,
        raw_number: `${token(human)} ${digit}`,
        status_cd: late.statuses[index % late.statuses.length],
      })),
      ...(late.emails.length > 0 && {
        emails: late.emails.map((which) => ({
          email: which === 'work' ? email(human) : `other.${email(human)}`,
          email_status_cd: late.emailStatus,
        })),
      }),
    }));
    const body = Buffer.from(JSON.stringify({ people }));
    for (const part of late.isTwice ? ['a', 'b'] : ['a']) {
      const deliveryId = `${call.attemptId}-${part}-${createHash('md5').update(body).digest('hex')}`;
      const stored = await warehouse.query`
        insert into webhook_deliveries (delivery_id, attempt_id, run_id, body, body_sha256)
        select ${deliveryId}, attempt_id, run_id, sent, sha256(sent)
        from attempts, (select ${body}::bytea as sent) s where attempt_id = ${call.attemptId}
        on conflict do nothing returning 1`;
      if (stored.length === 0) return;
      await applyLateResult(warehouse, { deliveryId, attemptId: call.attemptId }, readLateResult(body));
    }
  }

  /** The product refuses a decision about a contact or a person that the warehouse does not know. */
  async function playDecision({
    run,
    contact,
    human,
    verdict,
  }: WorldStep & { readonly kind: 'decision' }): Promise<void> {
    const decision = {
      source: sources[run]!,
      contactId: `${name}c${contact}`,
      personId: token(human),
      verdict,
    };
    try {
      await recordDecision(warehouse, decision, testNote);
    } catch (error) {
      if (!(error instanceof UsageProblem)) throw error;
    }
  }

  async function playStep(step: WorldStep): Promise<void> {
    switch (step.kind) {
      case 'decision':
        return playDecision(step);
      case 'answer':
        return playAnswer(step);
      case 'late':
        return playLate(step);
      case 'fill':
        await stage(runs[step.run]!, step.row);
        await warehouse.query`
          update run_rows set outcome = 'duplicate' where run_id = ${runs[step.run]} and outcome is null`;
        await reconcileContacts(warehouse, runs[step.run]!, noSignal);
        return;
      case 'undo':
        await undoRun(warehouse, runs[step.run]!, testNote, noSignal);
        return;
      case 'revert':
        await revertUndo(warehouse, runs[step.run]!, noSignal);
        return;
      case 'suppress':
        suppressions += 1;
        await warehouse.database
          .transaction()
          .execute((transaction) => addSuppressions(transaction, keysOf(step.human), testNote));
        return;
      case 'erase':
        await erase(warehouse, keysOf(step.human), testNote);
        erased.add(step.human);
    }
  }

  /** Plays a step, and then applies deliveries again that the step has returned to the inbox. */
  async function play(step: WorldStep): Promise<void> {
    await playStep(step);
    const rows = await warehouse.query<{ id: string }>`
      select distinct attempt_id as id
      from webhook_deliveries where run_id = any(${runs}) and status = 'received'`;
    for (const { id } of rows) await drainInbox(warehouse, { attemptId: id }, noSignal);
  }

  return {
    runs,
    play,
    hasSuppressed: () => suppressions > 0,
    erasedTexts: () => [...erased].flatMap((human) => [token(human), md5(human)]),
  };
}
