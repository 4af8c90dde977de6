import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lateKindsRequestedBy } from '../../src/domain/late-results/delivery-kinds.ts';
import {
  resultsInDelivery,
  totalLateBill,
  type PricedResults,
} from '../../src/domain/late-results/expected-results.ts';
import { creditsFromWhole } from '../../src/domain/money/decimal.ts';
import { storePolledBody } from '../../src/late-results/deliveries.ts';
import { markExpiredCallsUnknown } from '../../src/late-results/end-of-wait.ts';
import { warehouseOfFile } from '../helpers/database/database.ts';
import {
  callWithPhones,
  drainCall,
  phonesBody,
  recordPhonesAnswer,
  storeDeliveryFor,
  type PhonesCall,
  type LateExtras,
} from '../helpers/warehouse/late-calls.ts';

/** The results of one kind for one person. */
interface Result {
  readonly kind: 'phone' | 'emails' | 'phone_numbers';
  /** Index among the three requested people. */
  readonly person: number;
  /** True if a vendor or the service has a value for the person. */
  readonly isKnown: boolean;
  readonly credits: number;
}

/** A webhook or poll body with results that the service bills, or that it repeats. */
interface HonestBody {
  readonly results: readonly Result[];
  readonly targetFields: readonly string[] | undefined;
  readonly missing: number | undefined;
}

/** A body that the test delivers for a call: an honest body, or noise that must change nothing. */
type Sent = {
  readonly by: 'webhook' | 'poll';
  readonly spaces: number;
} & ({ readonly body: HonestBody; readonly isPriced: boolean } | { readonly noise: Noise });

const noises = ['html', 'cut', 'nothing', 'nobody', 'nobody-priced', 'stranger', 'incredible'] as const;
type Noise = (typeof noises)[number];

/** The late results of one call: all delivered bodies, and their total price. */
interface LateCase {
  readonly extras: LateExtras;
  /** Which of the three people were found. */
  readonly found: readonly (0 | 1)[];
  /** Which of the found people the answer lists. */
  readonly listed: readonly (0 | 1)[];
  /** Credits that the answer states; null: none. */
  readonly answered: number | null;
  readonly sent: readonly Sent[];
  /** Number of bodies that come before the answer. */
  readonly early: number;
  /** Index of the first body after the deadline. */
  readonly deadlineAt: number;
  /** Total credits that the service bills. */
  readonly bill: number;
}

const allExtras: readonly LateExtras[] = [
  { reveal: ['phone'], waterfall: [] },
  { reveal: [], waterfall: ['email', 'phone'] },
  { reveal: [], waterfall: ['phone'] },
  { reveal: ['phone'], waterfall: ['email'] },
];

const bit = fc.constantFrom<0 | 1>(0, 1, 1);
const few = fc.nat({ max: 3 });

/** Draws results in random parts, repeated parts and combined bodies, in any order, with noise between them. */
const lateCase: fc.Arbitrary<LateCase> = fc
  .record({
    extras: fc.constantFrom(...allExtras),
    found: fc.tuple(bit, bit, bit).filter((people) => people.includes(1)),
    hidden: fc.option(fc.nat({ max: 2 }), { freq: 5 }),
    saysPrice: fc.boolean(),
    // For each kind and person: whether a value exists, its price, and the part that has the value.
    facts: fc.array(fc.record({ isKnown: fc.boolean(), price: few, part: few }), {
      minLength: 9,
      maxLength: 9,
    }),
    says: fc.array(fc.record({ target: few, missing: few }), { minLength: 4, maxLength: 4 }),
    whole: fc.boolean(),
    joined: fc.boolean(),
  })
  .map(({ extras, found, hidden, saysPrice, facts, says, whole, joined }) => {
    const kinds = [
      ...(extras.reveal.length > 0 ? (['phone'] as const) : []),
      ...(extras.waterfall.includes('email') ? (['emails'] as const) : []),
      ...(extras.waterfall.includes('phone') ? (['phone_numbers'] as const) : []),
    ];
    const people = [0, 1, 2].filter((person) => found[person]);
    const answered = extras.waterfall.length > 0 && !saysPrice ? null : people.length;
    const results = kinds.flatMap((kind, row) =>
      people.map((person) => {
        const { isKnown, price, part } = facts[row * 3 + person]!;
        const credits = !isKnown ? 0 : kind === 'phone' ? 8 * (price % 2) : price;
        return { result: { kind, person, isKnown, credits }, part };
      }),
    );
    const bodies: HonestBody[] = [];
    for (const isNative of [true, false]) {
      const own = results.filter(({ result }) => (result.kind === 'phone') === isNative);
      const parts = [0, 1, 2, 3]
        .map((part) => own.filter((each) => each.part === part).map(({ result }) => result))
        .filter((each) => each.length > 0);
      const wholes = [
        ...(joined && parts.length > 2 ? [[...parts[0]!, ...parts[1]!]] : []),
        ...(whole && parts.length > 1 ? [parts.flat()] : []),
      ];
      for (const [index, part] of [...parts, ...wholes].entries()) {
        const { target, missing } = says[index % 4]!;
        const fields = isNative ? [] : [...new Set(part.map(({ kind }) => kind))];
        bodies.push({
          results: part,
          targetFields: [undefined, fields, kinds.filter((kind) => kind !== 'phone'), fields][target],
          missing: [undefined, 0, 3 - new Set(part.map(({ person }) => person)).size, 30][missing],
        });
      }
    }
    const lateCredits = results.reduce((sum, { result }) => sum + result.credits, 0);
    // An answer without a price must list all people, because only a price shows that people are unlisted.
    const listed = found.map((is, person) => (is && (person !== hidden || answered === null) ? 1 : 0));
    return { extras, found, listed, answered, bodies, bill: (answered ?? 0) + lateCredits };
  })
  .chain(({ bodies, ...call }) => {
    const hasWholeList = call.listed.every((is, person) => is === call.found[person]);
    const honest = fc.record({
      by: fc.constantFrom('webhook' as const, 'webhook' as const, 'poll' as const),
      spaces: few,
    });
    const again = fc.record({
      by: fc.constantFrom('webhook' as const, 'poll' as const),
      spaces: few,
      body: fc.constantFrom(...bodies),
      isPriced: fc.boolean(),
    });
    const noise = fc.record({
      by: fc.constantFrom('webhook' as const, 'poll' as const),
      spaces: few,
      // A stranger cannot be distinguished from a person that the answer does not list.
      noise: fc.constantFrom(...noises.filter((each) => hasWholeList || each !== 'stranger')),
    });
    return fc
      .tuple(
        fc.tuple(...bodies.map(() => honest)),
        fc.array(again, { maxLength: 3 }),
        fc.array(noise, { maxLength: 3 }),
        fc.nat({ max: 2 }),
        fc.nat({ max: 12 }),
      )
      .chain(([ways, copies, others, early, deadlineAt]) => {
        const first: Sent[] = bodies.map((body, index) => ({ ...ways[index]!, body, isPriced: true }));
        const all: Sent[] = [...first, ...copies, ...others];
        return fc
          .shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
          .map((sent): LateCase => ({ ...call, sent, early, deadlineAt }));
      });
  });

/** `npm run property:late-money` plays 100,000 cases with the rules alone, and 2,000 through the warehouse. */
const ruleCases = Number(process.env['LATE_MONEY_RULE_CASES'] ?? 300);
const cases = Number(process.env['LATE_MONEY_CASES'] ?? 8);

/** Number of calls that are played at the same time. */
const atOnce = 4;

const warehouse = await warehouseOfFile();

it(`totalLateBill() settles ${ruleCases} random calls at the billed price, and never settles less before`, () => {
  fc.assert(fc.property(lateCase, playByRules), { numRuns: ruleCases });
});

/** Plays a case without a warehouse: after each body, computes which results are covered and what they cost. */
function playByRules(late: LateCase): void {
  const { extras, found, listed, answered, sent, bill } = late;
  const expected = lateKindsRequestedBy(extras).flatMap((kind) =>
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
      ...resultsInDelivery(people, { kind, targetFields }),
      credits: each.isPriced ? creditsFromWhole(price) : undefined,
    });
    const covered = new Set(deliveries.flatMap(({ covers }) => covers));
    const { credits, certain } = totalLateBill(deliveries);
    if (expected.every((entry) => covered.has(entry)) && certain)
      settled = Number(credits / creditsFromWhole(1)) + (answered ?? 0);
    if (settled !== undefined) expect(settled).toBeGreaterThanOrEqual(bill);
  }
  expect(settled).toBe(isWholeListed(late) ? bill : undefined);
}

/**
 * False if the answer bills people that it does not list. The results cannot be assigned, so the credits stay reserved.
 */
function isWholeListed({ found, listed }: LateCase): boolean {
  return found.every((is, person) => is === listed[person]);
}

it(
  `late results in ${cases} random orders settle the billed price, and reserve at least this price before`,
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
  // Sets the budget to exactly the reserved credits, so that every additional credit would exceed the budget.
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

/**
 * Expects that the settled or reserved credits of a call are never below the final bill, and that no budget is
 * exceeded.
 */
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
  await markExpiredCallsUnknown(warehouse, { runId: call.runId });
}

async function send(call: PhonesCall, sent: Sent): Promise<void> {
  const text = 'noise' in sent ? noiseOf(call, sent.noise) : textOf(call, sent.body, sent.isPriced);
  const bytes = Buffer.from(' '.repeat(sent.spaces) + text);
  if (sent.by === 'webhook') await storeDeliveryFor(warehouse, call, bytes);
  else await storePolledBody(warehouse, call.attemptId, bytes);
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
