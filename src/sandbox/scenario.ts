import { z } from 'zod';
import { Chance } from './chance.ts';

/** What can go wrong with a call, and for which calls it does. */
const rule = z.strictObject({
  /** Path below the base address, such as `/people/bulk_match`; left out: every path. */
  path: z.string().startsWith('/').optional(),
  /** Numbers of the calls to that path, counted from 1, that it is for. */
  from: z.int().min(1).optional(),
  to: z.int().min(1).optional(),
  /** Only so many of those calls, drawn by the seed. */
  share: z.number().min(0).max(1).optional(),
  /** Only calls in which somebody's JSON contains this text, such as `"first_name":"Poison"`. */
  containing: z.string().min(1).optional(),
  /** What becomes of the people found. */
  matches: z
    .enum(['null', 'drop', 'reverse', 'rotate', 'stub', 'foreign', 'short', 'duplicate', 'not-a-list'])
    .optional(),
  /** What becomes of the number of credits in the answer; the bill stays right. */
  credits: z.enum(['missing', 'fractional', 'negative', 'text', 'double']).optional(),
  /** A whole other answer. `reset` and `gone` close the connection, after and before billing. */
  answer: z.enum(['html', 'empty', 'cut', 'reset', 'gone']).optional(),
  /** Another status: 4xx are refused unbilled; 5xx are billed first, with `billed: false` not. */
  status: z.int().min(400).max(599).optional(),
  billed: z.boolean().optional(),
  code: z.string().optional(),
  /** Of a 429, as it stands in the header; null: no such header. */
  retry_after: z.string().nullable().optional(),
  /** Milliseconds that the answer takes longer. */
  delay: z.int().min(0).max(600_000).optional(),
  /** What the answer says of phones that come later: `skipped` and `failed` deliver nothing; `absent` leaves the word out. */
  phone_enrichment: z.enum(['skipped', 'failed', 'absent']).optional(),
  /** The same of a waterfall. */
  waterfall: z.enum(['failed', 'partial_accepted', 'absent']).optional(),
});

/** What can go wrong with a result that comes later; the first rule that is for a result is for all of its deliveries. */
const deliveryRule = z.strictObject({
  kind: z.enum(['phones', 'waterfall']).optional(),
  /** Numbers of the requests of that kind, counted from 1, that it is for. */
  from: z.int().min(1).optional(),
  to: z.int().min(1).optional(),
  /** Only so many of those, drawn by the seed. */
  share: z.number().min(0).max(1).optional(),
  /** Milliseconds from the request to the result, and up to so many more, drawn by the seed: results change places. */
  delay: z.int().min(0).max(86_400_000).optional(),
  jitter: z.int().min(0).max(86_400_000).optional(),
  /** Delivered before the HTTP answer. */
  before_answer: z.boolean().optional(),
  /** Not delivered at all: only a poll has it. */
  never: z.boolean().optional(),
  /** So many identical deliveries at once. */
  copies: z.int().min(1).max(1_000).optional(),
  /** One body for each person. */
  split: z.boolean().optional(),
  gzip: z.boolean().optional(),
  /** Somebody whom nobody asked for; or ids that differ from those of the answer. */
  people: z.enum(['foreign', 'other-ids']).optional(),
  credits: z.enum(['missing', 'fractional', 'negative', 'text', 'double']).optional(),
  body: z.enum(['nul', 'surrogate', 'huge-number', 'not-json', 'cut', 'empty']).optional(),
  /** What polls are answered with instead. */
  poll: z.enum(['pending', 'unknown', 'expired']).optional(),
});

export const scenarioSchema = z.strictObject({
  rules: z.array(rule).default([]),
  deliveries: z.array(deliveryRule).default([]),
});

export type DeliveryRule = z.infer<typeof deliveryRule>;

export type Scenario = z.infer<typeof scenarioSchema>;
export type Rule = Scenario['rules'][number];

/** A scenario, of which either part may be left out. */
export type FaultsToProduce = Partial<Scenario>;

/** The faults that are turned on, and how many calls each path has had. */
export class Faults {
  #rules: readonly Rule[] = [];
  #deliveries: readonly DeliveryRule[] = [];
  readonly #seed: number;
  readonly #calls = new Map<string, number>();

  constructor(seed: number, scenario: FaultsToProduce) {
    this.#seed = seed;
    this.set(scenario);
  }

  /** Turns on other faults; calls are counted from 1 again. */
  set(scenario: FaultsToProduce): void {
    this.#rules = scenario.rules ?? [];
    this.#deliveries = scenario.deliveries ?? [];
    this.#calls.clear();
  }

  /** The first rule that is for the next result of a kind; an empty one where none is. */
  nextDelivery(kind: 'phones' | 'waterfall'): DeliveryRule {
    const number = this.#count(`late ${kind}`);
    return (
      this.#deliveries.find(
        (each) =>
          (each.kind === undefined || each.kind === kind) &&
          number >= (each.from ?? 1) &&
          number <= (each.to ?? Number.POSITIVE_INFINITY) &&
          (each.share === undefined || new Chance(this.#seed, `late ${kind} ${number}`).share(each.share)),
      ) ?? {}
    );
  }

  #count(name: string): number {
    const number = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, number);
    return number;
  }

  /** The first rule that is for this call; an empty one where none is. */
  next(path: string, body: string): Rule {
    const number = this.#count(path);
    return (
      this.#rules.find(
        (each) =>
          (each.path === undefined || each.path === path) &&
          number >= (each.from ?? 1) &&
          number <= (each.to ?? Number.POSITIVE_INFINITY) &&
          (each.containing === undefined || body.includes(each.containing)) &&
          (each.share === undefined || new Chance(this.#seed, `${path} ${number}`).share(each.share)),
      ) ?? {}
    );
  }
}
