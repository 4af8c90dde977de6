import { z } from 'zod';
import { Chance } from './chance.ts';

export type DeliveryKind = (typeof deliveryKinds)[number];
export const deliveryKinds = ['phones', 'waterfall'] as const;

const matchFaults = ['null', 'drop', 'reverse', 'rotate', 'stub', 'foreign', 'short', 'duplicate'] as const;
const misstatedCredits = ['missing', 'negative', 'text'] as const;
const outOfCredits = z.literal([200, 402, 403]);
const day = 86_400_000;
const seconds = z.int().min(-day).max(day);
const shareOfAll = z.number().min(0).max(1);
const milliseconds = z.int().min(0).max(day);
const from1 = z.int().min(1);
const yes = z.literal(true);

/** All keys of a scenario. Its JSON Schema and docs/reference/sandbox.md are generated from this table. */
export const faultTable = {
  conditions: {
    path: z.string().startsWith('/').describe('only calls of this operation, such as `/people/match`'),
    from: from1.describe('only from this call of the operation on, counted since the scenario is active'),
    to: from1.describe('only up to this call'),
    share: shareOfAll.describe('only this share of the calls, drawn by the seed'),
    containing: z.string().min(1).describe('only calls whose body or query contains this text'),
  },
  calls: {
    matches: z.enum(matchFaults).describe('other people, or in another order or number'),
    credits: z.enum(misstatedCredits).describe('a wrong price in the answer, not in the bill'),
    job_changes: shareOfAll.describe('share of the found people who have changed employer today'),
    answer: z
      .enum(['html', 'empty', 'cut', 'reset'])
      .describe('billed, and then another body or a lost connection'),
    status: z.int().min(400).max(599).describe('refused with this status; only a 5xx is billed'),
    code: z.string().describe('code of the refusal by `status`'),
    retry_after: z
      .union([z.string(), z.strictObject({ date: seconds }), z.null()])
      .describe('of a 429: text, `{date: 30}` for a date in 30 seconds, `null` for nothing'),
    used_by_others: z.int().min(0).describe('calls of each window that other programs have used'),
    delay: milliseconds.describe('milliseconds more until the answer'),
  },
  results: {
    kind: z.enum(deliveryKinds).describe('only late results of this kind'),
    from: from1.describe('only from this request of the kind on'),
    to: from1.describe('only up to this request'),
    share: shareOfAll.describe('only this share of the requests, drawn by the seed'),
  },
  deliveries: {
    delay: milliseconds.describe('milliseconds until the result exists'),
    jitter: milliseconds.describe(
      'up to this number of milliseconds more, so that results change their order',
    ),
    before_answer: yes.describe('delivered before the answer of the call'),
    never: yes.describe('not delivered; only polls return the result'),
    copies: z.int().min(1).max(1_000).describe('identical deliveries at once'),
    split: yes.describe('one body for each person'),
    body: z.enum(['nul', 'not-json', 'cut', 'empty']).describe('a body that breaks parsers and databases'),
  },
};

const rule = z
  .strictObject({ ...faultTable.conditions, ...faultTable.calls })
  .partial()
  .readonly();
const deliveryRule = z
  .strictObject({ ...faultTable.results, ...faultTable.deliveries })
  .partial()
  .readonly();

export const scenarioSchema = z.strictObject({
  rules: z.array(rule).default([]),
  deliveries: z.array(deliveryRule).default([]),
  credits_left: z.number().min(0).optional(),
  out_of_credits: outOfCredits.default(402),
});

export type Scenario = z.input<typeof scenarioSchema>;
export type FaultRule = z.infer<typeof rule>;
export type DeliveryRule = z.infer<typeof deliveryRule>;
export type MisstatedCredits = (typeof misstatedCredits)[number];
export type OutOfCreditsStatus = z.infer<typeof outOfCredits>;

export type Faults = ReturnType<typeof createFaults>;

/** The active faults of a scenario, with the number of calls of each path since they became active. */
export function createFaults(seed: number, billedCredits: () => number, initial: Scenario) {
  const calls = new Map<string, number>();
  let scenario = initial;
  let billedBefore = billedCredits();

  function rulesOf(path: string, number: number): FaultRule[] {
    return (scenario.rules ?? []).filter(
      (each) => (each.path === undefined || each.path === path) && holds(each, path, number),
    );
  }

  /** True if a rule applies to call NUMBER (from 1), by `from`, `to` and `share`. */
  function holds({ from = 1, to = Infinity, share }: FaultRule, name: string, number: number): boolean {
    if (number < from || number > to) return false;
    return share === undefined || new Chance(seed, `${name} ${number}`).share(share);
  }

  function count(name: string): number {
    const number = (calls.get(name) ?? 0) + 1;
    calls.set(name, number);
    return number;
  }

  return {
    set: (next: Scenario): void => {
      scenario = next;
      calls.clear();
      billedBefore = billedCredits();
    },
    /** Counts a call, and returns the first rule for it; no faults if none applies. */
    next: (path: string, body: string): FaultRule => {
      const rules = rulesOf(path, count(path));
      return rules.find((each) => body.includes(each.containing ?? '')) ?? {};
    },
    /** Counts a request for late results of a kind, and returns the first rule for it. */
    nextDelivery: (kind: DeliveryKind): DeliveryRule => {
      const name = `late ${kind}`;
      const number = count(name);
      const rules = scenario.deliveries ?? [];
      return rules.find((each) => (each.kind ?? kind) === kind && holds(each, name, number)) ?? {};
    },
    /** Returns how many calls of a rate window other programs have used before the next call of this path. */
    usedByOthers: (path: string): number => {
      const rules = rulesOf(path, (calls.get(path) ?? 0) + 1);
      return rules.find((each) => each.used_by_others !== undefined)?.used_by_others ?? 0;
    },
    /** Credits that the scenario leaves. Undefined: not limited. */
    creditsLeft: (): number | undefined => {
      const { credits_left: left } = scenario;
      return left === undefined ? undefined : Math.max(0, left - (billedCredits() - billedBefore));
    },
    outOfCreditsStatus: (): OutOfCreditsStatus => scenario.out_of_credits ?? 402,
  };
}

/** Damages a list of found people (JSON texts) as the fault `matches` describes. The bill stays unchanged. */
export function applyMatchFault(
  people: readonly string[],
  fault: FaultRule,
  stranger: () => string,
): readonly string[] {
  const filled = (text: string): boolean => text !== 'null';
  const distortions: Readonly<Record<(typeof matchFaults)[number], () => readonly string[]>> = {
    null: () => people.map(() => 'null'),
    drop: () => people.filter(filled),
    reverse: () => people.toReversed(),
    rotate: () => [...people.slice(1), ...people.slice(0, 1)],
    stub: () => people.map((person) => (filled(person) ? person : stub)),
    foreign: () => people.map((person) => (filled(person) ? stranger() : person)),
    short: () => people.slice(0, Math.floor(people.length / 2)),
    duplicate: () => people.flatMap((person) => [person, person]),
  };
  return fault.matches === undefined ? people : distortions[fault.matches]();
}

/** A person of whom the service knows only a company. */
const stub =
  '{"id":"stub","first_name":null,"last_name":null,"name":null,"email":null,"organization":{"name":"Somewhere"}}';

/** Writes the answer's cost as the fault `credits` describes. @returns one JSON member, or none */
export function creditsMember(credits: number, fault: MisstatedCredits | undefined): string[] {
  if (fault === 'missing') return [];
  const values = { negative: `-${credits + 1}`, text: `"${credits} credits"` };
  return [`"credits_consumed":${fault === undefined ? credits : values[fault]}`];
}
