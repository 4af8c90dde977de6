import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lateKindsOf } from '../../src/domain/late-results/delivery-kinds.ts';
import { deliveredResults } from '../../src/domain/late-results/expected-results.ts';
import { lateBill, type PricedResults } from '../../src/domain/late-results/late-bill.ts';
import { wholeCredits } from '../../src/domain/money/decimal.ts';
import { storePolled } from '../../src/late-results/deliveries.ts';
import { markExpiredUnknown } from '../../src/late-results/end-of-wait.ts';
import { warehouseOfFile } from '../helpers/database/database.ts';
import {
  callWithPhones,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  storeFor,
  type PhonesCall,
} from '../helpers/warehouse/late-calls.ts';
import {
  lateCase,
  type HonestBody,
  type LateCase,
  type Noise,
  type Sent,
} from '../helpers/invented/late-cases.ts';

/** `npm run property:late-money` plays 100,000 by the rules alone, and 2,000 of the kind through the warehouse. */
const ruleCases = Number(process.env['LATE_MONEY_RULE_CASES'] ?? 300);
const cases = Number(process.env['LATE_MONEY_CASES'] ?? 16);

/** Calls of one day's budget, side by side. */
const atOnce = 4;

const warehouse = await warehouseOfFile();

it(`the rules settle ${ruleCases} calls for what was billed, and none for less while results are to come`, () => {
  fc.assert(fc.property(lateCase, playByRules), { numRuns: ruleCases });
});

/** Without a warehouse: which results are filled and what they cost together, after each delivery. */
function playByRules(late: LateCase): void {
  const { extras, found, listed, answered, sent, bill } = late;
  const expected = lateKindsOf(extras).flatMap((kind) =>
    [0, 1, 2].flatMap((person) => (found[person] ? [`${kind}/${listed[person] ? person : 'unlisted'}`] : [])),
  );
  const deliveries: PricedResults[] = [];
  let settled: number | undefined;
  for (const each of sent) {
    if ('noise' in each) continue;
    const { results, targetFields = [] } = each.body;
    const people = [0, 1, 2].flatMap((person) => {
      const own = results.filter((result) => result.person === person);
      const emails = own.filter(({ kind }) => kind === 'emails');
      const phones = own.filter(({ kind }) => kind !== 'emails');
      const delivered = {
        key: String(person),
        emails: emails.filter(({ isKnown }) => isKnown),
        phones: phones.filter(({ isKnown }) => isKnown),
        fields: [...(emails.length > 0 ? ['emails'] : []), ...(phones.length > 0 ? ['phone_numbers'] : [])],
        isPending: false,
      };
      return own.length > 0 && listed[person] ? [delivered] : [];
    });
    if (people.length === 0) continue;
    const kind = results.some((result) => result.kind === 'phone') ? 'phones' : 'waterfall';
    const price = results.reduce((sum, { credits }) => sum + credits, 0);
    deliveries.push({
      ...deliveredResults(people, { kind, targetFields }),
      credits: each.isPriced ? wholeCredits(price) : undefined,
    });
    const covered = new Set(deliveries.flatMap(({ covers }) => covers));
    const { credits, certain } = lateBill(deliveries);
    if (expected.every((entry) => covered.has(entry)) && certain)
      settled = Number(credits / wholeCredits(1)) + (answered ?? 0);
    if (settled !== undefined) expect(settled).toBeGreaterThanOrEqual(bill);
  }
  expect(settled).toBe(isWholeListed(late) ? bill : undefined);
}

/** Nothing shows whose results the people are whom an answer bills and does not list: the credits stay held. */
function isWholeListed({ found, listed }: LateCase): boolean {
  return found.every((is, person) => is === listed[person]);
}

it(
  `late results in ${cases} random orders are settled for what was billed, and never for less while some are to come`,
  { timeout: 4 * 3_600_000 },
  async () => {
    const seen = { cases: 0, deliveries: 0, settled: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(lateCase, { minLength: atOnce, maxLength: atOnce }), async (lates) => {
        await Promise.all(lates.map(play));
        seen.cases += lates.length;
        if (seen.cases % 500 === 0) console.info(`${seen.cases} cases, ${seen.deliveries} deliveries`);
        seen.deliveries += lates.reduce((sum, { sent }) => sum + sent.length, 0);
        seen.settled += lates.reduce((sum, { bill }) => sum + bill, 0);
      }),
      { numRuns: cases / atOnce },
    );
    console.info(`${cases} cases, ${seen.deliveries} deliveries, ${seen.settled} credits settled`);
  },
);

async function play(late: LateCase): Promise<void> {
  const call = await callWithPhones(warehouse, late.extras);
  // Exactly what is reserved: whatever is settled or held beyond it exceeds the budget.
  await warehouse.query`
    update budgets set credits_limit = reserved where budget_id = 'run:' || ${call.runId}::text`;
  const answer = (): Promise<void> => recordPhonesAnswer(warehouse, call, late.listed, late.answered);
  for (const [index, sent] of late.sent.entries()) {
    if (index === late.early) await answer();
    if (index === late.deadlineAt && index > late.early) await passDeadline(call);
    await send(call, sent);
    if (index >= late.early) await drainCall(warehouse, call);
    await expectHeld(call, late.bill);
  }
  if (late.sent.length <= late.early) await answer();
  await drainCall(warehouse, call);
  const { status, settled } = await expectHeld(call, late.bill);
  if (isWholeListed(late)) expect({ status, settled }).toEqual({ status: 'settled', settled: late.bill });
  else expect(settled).toBeNull();
}

/** What is settled, or else held, is never below what the service bills in the end; and no budget is exceeded. */
async function expectHeld(
  call: PhonesCall,
  bill: number,
): Promise<{ readonly status: string; readonly settled: number | null }> {
  const rows = await warehouse.query<{
    status: string;
    settled: number | null;
    reserved: number;
    isOver: boolean;
    isWrong: boolean;
  }>`
    select a.status, a.credits_settled::float8 as settled, a.credits_reserved::float8 as reserved,
      b.settled + b.reserved > b.credits_limit as "isOver",
      b.settled <> coalesce(a.credits_settled, 0)
        or b.reserved <> case when a.credits_settled is null then a.credits_reserved else 0 end as "isWrong"
    from attempts a join budgets b on b.budget_id = 'run:' || a.run_id where a.attempt_id = ${call.attemptId}`;
  const { status, settled, reserved, isOver, isWrong } = rows[0]!;
  expect({ isOver, isWrong }).toEqual({ isOver: false, isWrong: false });
  expect(settled ?? reserved).toBeGreaterThanOrEqual(bill);
  return { status, settled };
}

async function passDeadline(call: PhonesCall): Promise<void> {
  await warehouse.query`
    update attempts set awaited_until = now() - interval '1 second', next_poll_at = null
    where attempt_id = ${call.attemptId}`;
  await markExpiredUnknown(warehouse, { runId: call.runId });
}

async function send(call: PhonesCall, sent: Sent): Promise<void> {
  const text = 'noise' in sent ? noiseOf(call, sent.noise) : textOf(call, sent.body, sent.isPriced);
  const bytes = Buffer.from(' '.repeat(sent.spaces) + text);
  if (sent.by === 'webhook') await storeFor(warehouse, call, bytes);
  else await storePolled(warehouse, call.attemptId, bytes);
}

function textOf(call: PhonesCall, body: HonestBody, isPriced: boolean): string {
  const isNative = body.results.some(({ kind }) => kind === 'phone');
  const people = [...new Set(body.results.map(({ person }) => person))].map((person) => {
    const own = body.results.filter((result) => result.person === person);
    const email = { email: `late${person}@orbit.example`, email_status_cd: 'verified' };
    const phone = { sanitized_number: `+1415555030${person}`, type_cd: 'mobile' };
    return {
      id: call.ids[person],
      ...Object.fromEntries(
        own.map(({ kind, isKnown }) => [
          kind === 'emails' ? 'emails' : 'phone_numbers',
          isKnown ? [kind === 'emails' ? email : phone] : [],
        ]),
      ),
    };
  });
  const price = body.results.reduce((sum, { credits }) => sum + credits, 0);
  return JSON.stringify({
    status: 'success',
    ...(!isNative && { request_id: call.requestId, records_enriched: people.length }),
    ...(body.targetFields && !isNative && { target_fields: body.targetFields }),
    ...(body.missing !== undefined && { missing_records: body.missing }),
    ...(isPriced && { credits_consumed: price }),
    people,
  });
}

function noiseOf(call: PhonesCall, noise: Noise): string {
  switch (noise) {
    case 'html':
      return '<html>502</html>';
    case 'cut':
      return phonesBody(call.ids, 24).toString().slice(0, 70);
    case 'nothing':
      return '';
    case 'nobody':
      return '{"people":[]}';
    case 'nobody-priced':
      return '{"people":[],"credits_consumed":5}';
    case 'stranger':
      return phonesBody(['stranger'], 8, { request_id: call.requestId }).toString();
    case 'incredible':
      return phonesBody(call.ids, 1_000_000).toString();
  }
}
