import { z } from 'zod';

const countedFrom1 = z.int().min(1);
const milliseconds = z.int().min(0);
const day = 86_400_000;

/** How an answer or a delivery can misstate what it cost. The bill stays right. */
const misstatedCredits = z.enum(['missing', 'fractional', 'negative', 'text', 'double', 'huge']);

/** How a service can say that the account is out of credits: nobody has shown its answer. */
const outOfCredits = z.literal([200, 402, 403]);

/** For which calls or results a rule is. */
const numbers = {
  /** Counted from 1, of the path or of the kind of result. */
  from: countedFrom1.optional(),
  to: countedFrom1.optional(),
  /** Only so many of those, drawn by the seed. */
  share: z.number().min(0).max(1).optional(),
};

/** What can go wrong with a call, and for which calls it does. */
const rule = z.strictObject({
  ...numbers,
  /** Path below the base address, such as `/people/bulk_match`; left out: every path. */
  path: z.string().startsWith('/').optional(),
  /** Only calls in which somebody's JSON contains this text, such as `"first_name":"Poison"`. */
  containing: z.string().min(1).optional(),
  /** Only for so many seconds after the scenario was turned on. */
  for_seconds: z.number().positive().optional(),
  /** What becomes of the people found. */
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
  /** What becomes of the number of credits in the answer. */
  credits: misstatedCredits.optional(),
  /** Credits that each person costs who is found, instead of 1: answered, and billed. */
  price: z.number().min(0).max(1_000).optional(),
  /** About so many bytes of JSON a person. */
  person_bytes: z.int().min(0).max(1_000_000).optional(),
  /** A whole other answer. `reset` and `gone` close the connection, after and before billing. */
  answer: z.enum(['html', 'empty', 'cut', 'reset', 'gone']).optional(),
  /** Another status: 4xx are refused unbilled; 5xx are billed first, with `billed: false` not. */
  status: z.int().min(400).max(599).optional(),
  billed: z.boolean().optional(),
  code: z.string().optional(),
  /** Of a 429, as it stands in the header; `date`: so many seconds from now on as an HTTP date; null: no such header. */
  retry_after: z
    .union([z.string(), z.strictObject({ date: z.int().min(-day).max(day) })])
    .nullable()
    .optional(),
  /** The body of a refusal is a JSON text inside a JSON text. */
  encoded_twice: z.literal(true).optional(),
  /** Refused, unbilled, because the account is out of credits: with this status. */
  out_of_credits: outOfCredits.optional(),
  /** So many calls of each window are used by other programs of the team. */
  used_by_others: z.int().min(0).optional(),
  /** Milliseconds that the answer takes longer. */
  delay: milliseconds.max(600_000).optional(),
  /** What the answer says of phones that come later: `skipped` and `failed` deliver nothing; `absent` leaves the word out. */
  phone_enrichment: z.enum(['skipped', 'failed', 'absent']).optional(),
  /** The same of a waterfall. */
  waterfall: z.enum(['failed', 'partial_accepted', 'absent']).optional(),
});

/** What can go wrong with a result that comes later; the first rule that is for a result is for all of its deliveries. */
const deliveryRule = z.strictObject({
  ...numbers,
  kind: z.enum(['phones', 'waterfall']).optional(),
  /** Milliseconds from the request to the result, and up to so many more, drawn by the seed: results change places. */
  delay: milliseconds.max(day).optional(),
  jitter: milliseconds.max(day).optional(),
  /** Delivered before the HTTP answer. */
  before_answer: z.boolean().optional(),
  /** Not delivered at all: only a poll has it. */
  never: z.boolean().optional(),
  /** So many identical deliveries at once. */
  copies: z.int().min(1).max(1_000).optional(),
  /** One body for each person. */
  split: z.boolean().optional(),
  /** Of a waterfall: addresses in one body and phones in another, each with its own price. */
  fields: z.literal('apart').optional(),
  /** Each body counts everybody whom it does not name as missing. */
  missing: z.literal('rest').optional(),
  /** Another body is sent to the same address before: unbilled, and not of this request. */
  beside: z.enum(['html', 'strangers', 'nobody', 'absurd-price']).optional(),
  gzip: z.boolean().optional(),
  /** Somebody whom nobody asked for; ids that differ from those of the answer; or no ids. */
  people: z.enum(['foreign', 'other-ids', 'no-ids']).optional(),
  credits: misstatedCredits.optional(),
  body: z.enum(['nul', 'surrogate', 'huge-number', 'not-json', 'cut', 'empty']).optional(),
  /** What polls are answered with instead. */
  poll: z.enum(['pending', 'unknown', 'expired']).optional(),
});

/** A scenario file, and the body of `PUT /sandbox/scenario`. */
export const scenarioSchema = z.strictObject({
  rules: z.array(rule).default([]),
  deliveries: z.array(deliveryRule).default([]),
  /** Credits that can still be billed once the scenario is turned on; left out: any number. */
  credits_left: z.number().min(0).optional(),
  /** With which status a call is refused when they do not suffice. */
  out_of_credits: outOfCredits.default(402),
});

export type Scenario = z.infer<typeof scenarioSchema>;
export type Rule = Scenario['rules'][number];
export type DeliveryRule = Scenario['deliveries'][number];
export type MisstatedCredits = z.infer<typeof misstatedCredits>;
export type OutOfCreditsStatus = z.infer<typeof outOfCredits>;

/** A scenario, of which every part may be left out. */
export type FaultsToProduce = { readonly [Part in keyof Scenario]?: Scenario[Part] | undefined };
