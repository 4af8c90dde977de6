import { z } from 'zod';
import { deliveryKinds } from '../late-results/late-parameters.ts';

const countedFrom1 = z.int().min(1);
const milliseconds = z.int().min(0);
const day = 86_400_000;

/** How an answer or a delivery misstates its cost. The bill stays correct. */
const misstatedCredits = z.enum(['missing', 'fractional', 'negative', 'text', 'excess', 'huge']);

/** Possible statuses of a refusal for lack of credits; the interface document shows none. */
const outOfCredits = z.literal([200, 402, 403]);

/** Which calls or late results a rule applies to. */
const numbers = {
  /** Number of the call of the path, or of the late result of the kind, from 1. */
  from: countedFrom1.optional(),
  to: countedFrom1.optional(),
  /** Share of them, drawn by the seed. */
  share: z.number().min(0).max(1).optional(),
};

/** A fault of calls, and the calls that it applies to. */
const rule = z.strictObject({
  ...numbers,
  /** Path relative to the base address, such as `/people/bulk_match`; absent: every path. */
  path: z.string().startsWith('/').optional(),
  /** Only calls whose JSON contains this text, such as `"first_name":"Poison"`. */
  containing: z.string().min(1).optional(),
  /** Only for this number of seconds after the scenario became active. */
  for_seconds: z.number().positive().optional(),
  /** How the list of found people is distorted. */
  matches: z
    .enum([
      'null',
      'drop',
      'reverse',
      'rotate',
      'stub',
      'foreign',
      'short',
      'duplicate',
      'long-ids',
      'not-a-list',
    ])
    .optional(),
  /** How the answer's number of credits is misstated. */
  credits: misstatedCredits.optional(),
  /** Billed credits per found person, instead of 1. */
  price: z.number().min(0).max(1_000).optional(),
  /** Approximate bytes of JSON per person. */
  person_bytes: z.int().min(0).max(1_000_000).optional(),
  /** Share of the found people who have changed employer, drawn by the seed: since the day of the call. */
  job_changes: z.number().min(0).max(1).optional(),
  /** Replaces the answer. `reset` and `gone` close the connection, after and before billing. */
  answer: z.enum(['html', 'empty', 'cut', 'reset', 'gone']).optional(),
  /** Another status. 4xx are not billed. 5xx are billed, unless `billed` is false. */
  status: z.int().min(400).max(599).optional(),
  billed: z.boolean().optional(),
  code: z.string().optional(),
  /** The header of a 429; `date`: an HTTP date in this number of seconds; null: no header. */
  retry_after: z
    .union([z.string(), z.strictObject({ date: z.int().min(-day).max(day) })])
    .nullable()
    .optional(),
  /** The body of a refusal is encoded as a JSON string. */
  encoded_twice: z.literal(true).optional(),
  /** Refuses the call for lack of credits, unbilled, with this status. */
  out_of_credits: outOfCredits.optional(),
  /** Calls of each window that other programs of the team have used. */
  used_by_others: z.int().min(0).optional(),
  /** Additional milliseconds before the answer. */
  delay: milliseconds.max(600_000).optional(),
  /**
   * The answer's status of phone enrichment: after `skipped` and `failed` nothing is delivered, except with
   * `delivers_anyway`; `absent` omits the member.
   */
  phone_enrichment: z.enum(['skipped', 'failed', 'absent']).optional(),
  /** The answer's status of the waterfall. */
  waterfall: z.enum(['failed', 'partial_accepted', 'absent']).optional(),
  /** Delivers and bills late results that the answer said would not come. */
  delivers_anyway: z.literal(true).optional(),
});

/** A fault of late results. The first rule that applies to a result applies to all its deliveries. */
const deliveryRule = z.strictObject({
  ...numbers,
  kind: z.enum(deliveryKinds).optional(),
  /**
   * Milliseconds from the request to the result, plus up to `jitter`, drawn by the seed, so that results
   * change their order.
   */
  delay: milliseconds.max(day).optional(),
  jitter: milliseconds.max(day).optional(),
  /** Delivers before the HTTP answer. */
  before_answer: z.boolean().optional(),
  /** Never delivers; only polls return the result. */
  never: z.boolean().optional(),
  /** Number of identical simultaneous deliveries. */
  copies: z.int().min(1).max(1_000).optional(),
  /** One body for each person. */
  split: z.boolean().optional(),
  /** A waterfall sends addresses and phones in separate bodies, each with its own price. */
  fields: z.literal('apart').optional(),
  /** Each body counts all people that it does not name as missing. */
  missing: z.literal('rest').optional(),
  /** Sends another body to the same address first, unbilled and not of this request. */
  beside: z.enum(['html', 'strangers', 'nobody', 'absurd-price']).optional(),
  gzip: z.boolean().optional(),
  /** People that the call did not ask for, ids that differ from those of the answer, or no ids. */
  people: z.enum(['foreign', 'other-ids', 'no-ids']).optional(),
  credits: misstatedCredits.optional(),
  body: z.enum(['nul', 'surrogate', 'huge-number', 'not-json', 'cut', 'empty']).optional(),
  /** Replaces the answer of polls. */
  poll: z.enum(['pending', 'unknown', 'expired']).optional(),
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

export type Scenario = z.infer<typeof scenarioSchema>;
export type Rule = Scenario['rules'][number];
export type DeliveryRule = Scenario['deliveries'][number];
export type MisstatedCredits = z.infer<typeof misstatedCredits>;
export type OutOfCreditsStatus = z.infer<typeof outOfCredits>;

/** A scenario with optional parts. */
export type FaultsToProduce = { readonly [Part in keyof Scenario]?: Scenario[Part] | undefined };
