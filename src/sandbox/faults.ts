import { z } from 'zod';
import { Chance } from './chance.ts';

/** The kinds of late results: revealed phones, and results of a waterfall. */
export type DeliveryKind = (typeof deliveryKinds)[number];
export const deliveryKinds = ['phones', 'waterfall'] as const;

/** One key of a rule: its values, for a program and for a reader, and what it does. */
interface Key<Value = unknown> {
  readonly schema: z.ZodType<Value, Value>;
  readonly values: string;
  readonly meaning: string;
}

const matchFaults = ['null', 'drop', 'reverse', 'rotate', 'stub', 'foreign', 'short', 'duplicate'] as const;
const misstatedCredits = ['missing', 'fractional', 'negative', 'text', 'excess'] as const;
const outOfCredits = z.literal([200, 402, 403]);
const day = 86_400_000;
const seconds = z.int().min(-day).max(day);
const retryAfter = z.union([z.string(), z.strictObject({ date: seconds })]).nullable();

/**
 * Every key of a scenario: source of its schema, of `enrich sandbox --help` and of the tables in docs/sandbox.md.
 *
 * - `conditions`: which calls a rule applies to; `results`: which late results
 * - `calls`: what happens to the call and its answer; `deliveries`: to the result, its deliveries and polls
 */
export const faultTable = {
  conditions: {
    path: key(z.string().startsWith('/'), 'path', 'only calls of this operation, such as `/people/match`'),
    from: whole(1, Infinity, 'only from this call of the operation on, counted since the scenario is active'),
    to: whole(1, Infinity, 'only up to this call'),
    share: numeric(0, 1, 'only this share of the calls, drawn by the seed'),
    containing: key(z.string().min(1), 'text', 'only calls whose body or query contains this text'),
  },
  calls: {
    matches: oneOf(matchFaults, 'other people, or in another order or number'),
    credits: oneOf(misstatedCredits, 'a wrong price in the answer, not in the bill'),
    price: numeric(0, 1_000, 'credits for each person, in the answer and in the bill'),
    job_changes: numeric(0, 1, 'share of the found people who have changed employer today'),
    answer: oneOf(['html', 'empty', 'cut', 'reset'], 'billed, and then another body or a lost connection'),
    status: whole(400, 599, 'refused with this status; only a 5xx is billed'),
    code: key(z.string(), 'text', 'code of the refusal by `status`'),
    retry_after: key(retryAfter, 'text, `{date: 30}`, `null`', 'of a 429: text, date in 30 seconds, nothing'),
    encoded_twice: yes('the body of a refusal is a JSON string that holds JSON'),
    used_by_others: whole(0, Infinity, 'calls of each window that other programs have used'),
    delay: whole(0, 600_000, 'milliseconds more until the answer'),
    phone_enrichment: oneOf(['skipped', 'failed', 'absent'], 'status of phones; only `absent` delivers them'),
    waterfall: oneOf(['failed', 'partial_accepted', 'absent'], 'its status; all but `failed` deliver'),
  },
  results: {
    kind: oneOf(deliveryKinds, 'only late results of this kind'),
    from: whole(1, Infinity, 'only from this request of the kind on'),
    to: whole(1, Infinity, 'only up to this request'),
    share: numeric(0, 1, 'only this share of the requests, drawn by the seed'),
  },
  deliveries: {
    delay: whole(0, day, 'milliseconds until the result exists'),
    jitter: whole(0, day, 'up to this number of milliseconds more, so that results change their order'),
    before_answer: yes('delivered before the answer of the call'),
    never: yes('not delivered; only polls return the result'),
    copies: whole(1, 1_000, 'identical deliveries at once'),
    split: yes('one body for each person'),
    beside: oneOf(['html', 'strangers'], 'first another body to the same URL, not billed'),
    gzip: yes('compressed'),
    people: oneOf(
      ['foreign', 'other-ids', 'no-ids'],
      'people or ids that the answer of the call does not have',
    ),
    credits: oneOf(misstatedCredits, 'a wrong price in the body, not in the bill'),
    body: oneOf(
      ['nul', 'surrogate', 'huge-number', 'not-json', 'cut', 'empty'],
      'a body that breaks parsers and databases',
    ),
    poll: oneOf(['pending', 'unknown', 'expired'], 'replaces the answer of polls'),
  },
};

const rule = z.strictObject({ ...schemasOf(faultTable.conditions), ...schemasOf(faultTable.calls) });
const deliveryRule = z.strictObject({
  ...schemasOf(faultTable.results),
  ...schemasOf(faultTable.deliveries),
});

/** A scenario file, and the body of `PUT /sandbox/scenario`. */
export const scenarioSchema = z.strictObject({
  rules: z.array(rule).default([]),
  deliveries: z.array(deliveryRule).default([]),
  /** Remaining credits when the scenario becomes active; absent: unlimited. */
  credits_left: z.number().min(0).optional(),
  /** Status of a refusal when the remaining credits do not suffice. */
  out_of_credits: outOfCredits.default(402),
});

export type Scenario = z.input<typeof scenarioSchema>;
export type Rule = z.infer<typeof rule>;
export type DeliveryRule = z.infer<typeof deliveryRule>;
export type MisstatedCredits = (typeof misstatedCredits)[number];
export type OutOfCreditsStatus = z.infer<typeof outOfCredits>;

/** A part of the table for a terminal, two lines a key. */
export function describeFaults(part: keyof typeof faultTable): string {
  return Object.entries<Key>(faultTable[part])
    .map(([name, { values, meaning }]) => `  ${name}: ${values}\n      ${meaning}`.replaceAll('`', ''))
    .join('\n');
}

function key<Value>(schema: z.ZodType<Value, Value>, values: string, meaning: string): Key<Value> {
  return { schema, values, meaning };
}

function numeric(least: number, most: number, meaning: string): Key<number> {
  return key(z.number().min(least).max(most), `${least} to ${most}`, meaning);
}

function whole(least: number, most: number, meaning: string): Key<number> {
  const values = most === Infinity ? `from ${least}` : `${least} to ${most}`;
  return key(z.int().min(least).max(most), values, meaning);
}

function yes(meaning: string): Key<true> {
  return key(z.literal(true), '`true`', meaning);
}

function oneOf<const Value extends string>(values: readonly Value[], meaning: string): Key<Value> {
  return key(z.enum(values), values.map((value) => `\`${value}\``).join(', '), meaning);
}

function schemasOf<Keys extends Record<string, Key>>(keys: Keys) {
  return Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema.optional()])) as {
    readonly [Name in keyof Keys]: z.ZodOptional<Keys[Name]['schema']>;
  };
}

/** The active faults, and the number of calls of each path since they became active. */
export class Faults {
  readonly #seed: number;
  readonly #billedCredits: () => number;
  readonly #calls = new Map<string, number>();
  #scenario: Scenario = {};
  #billedBefore = 0;

  constructor(seed: number, billedCredits: () => number, scenario: Scenario) {
    this.#seed = seed;
    this.#billedCredits = billedCredits;
    this.set(scenario);
  }

  /** Activates other faults; calls and credits are counted from now. */
  set(scenario: Scenario): void {
    this.#scenario = scenario;
    this.#calls.clear();
    this.#billedBefore = this.#billedCredits();
  }

  /** The first rule that applies to this call, or an empty rule. */
  next(path: string, body: string): Rule {
    const rules = this.#rules(path, this.#count(path));
    return rules.find((each) => body.includes(each.containing ?? '')) ?? {};
  }

  /** The first rule that applies to the next late result of a kind, or an empty rule. */
  nextDelivery(kind: DeliveryKind): DeliveryRule {
    const name = `late ${kind}`;
    const number = this.#count(name);
    const rules = this.#scenario.deliveries ?? [];
    return rules.find((each) => (each.kind ?? kind) === kind && this.#holds(each, name, number)) ?? {};
  }

  /** Calls of each window that other programs have used before the next call to a path. */
  usedByOthers(path: string): number {
    const rules = this.#rules(path, (this.#calls.get(path) ?? 0) + 1);
    return rules.find((each) => each.used_by_others !== undefined)?.used_by_others ?? 0;
  }

  /** Remaining credits; undefined: unlimited. */
  creditsLeft(): number | undefined {
    const { credits_left: left } = this.#scenario;
    return left === undefined ? undefined : Math.max(0, left - (this.#billedCredits() - this.#billedBefore));
  }

  /** The status of a refusal for lack of credits. */
  get outOfCreditsStatus(): OutOfCreditsStatus {
    return this.#scenario.out_of_credits ?? 402;
  }

  #rules(path: string, number: number): Rule[] {
    return (this.#scenario.rules ?? []).filter(
      (each) => (each.path === undefined || each.path === path) && this.#holds(each, path, number),
    );
  }

  #holds({ from = 1, to = Number.POSITIVE_INFINITY, share }: Rule, name: string, number: number): boolean {
    if (number < from || number > to) return false;
    return share === undefined || new Chance(this.#seed, `${name} ${number}`).share(share);
  }

  #count(name: string): number {
    const number = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, number);
    return number;
  }
}

/**
 * Applies the fault `matches` to the found people. The bill stays, because the service has done its work.
 *
 * @param people JSON texts in the order of `details`, `null` for a miss
 * @param stranger makes a person that the call did not ask for
 */
export function distort(people: readonly string[], fault: Rule, stranger: () => string): readonly string[] {
  const filled = (text: string): boolean => text !== 'null';
  switch (fault.matches) {
    case 'null':
      return people.map(() => 'null');
    case 'drop':
      return people.filter(filled);
    case 'reverse':
      return people.toReversed();
    case 'rotate':
      return [...people.slice(1), ...people.slice(0, 1)];
    case 'stub':
      return people.map((person) => (filled(person) ? person : stub));
    case 'foreign':
      return people.map((person) => (filled(person) ? stranger() : person));
    case 'short':
      return people.slice(0, Math.floor(people.length / 2));
    case 'duplicate':
      return people.flatMap((person) => [person, person]);
    case undefined:
      return people;
  }
}

/** A miss, as services of this kind have answered it. */
const stub =
  '{"id":"stub","first_name":null,"last_name":null,"name":null,"email":null,"organization":{"name":"Somewhere"}}';

/** The member with the cost as the fault `credits` misstates it. @returns no or one JSON member */
export function creditsMember(credits: number, fault: MisstatedCredits | undefined): string[] {
  if (fault === 'missing') return [];
  const values = {
    fractional: `${credits}.50`,
    negative: `-${credits + 1}`,
    text: `"${credits} credits"`,
    excess: credits + 100,
  };
  return [`"credits_consumed":${fault === undefined ? credits : values[fault]}`];
}
