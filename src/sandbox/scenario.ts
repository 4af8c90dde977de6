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
});

export const scenarioSchema = z.strictObject({ rules: z.array(rule).default([]) });

export type Scenario = z.infer<typeof scenarioSchema>;
export type Rule = Scenario['rules'][number];

/** The faults that are turned on, and how many calls each path has had. */
export class Faults {
  #rules: readonly Rule[];
  readonly #seed: number;
  readonly #calls = new Map<string, number>();

  constructor(seed: number, scenario: Scenario) {
    this.#seed = seed;
    this.#rules = scenario.rules;
  }

  /** Turns on other faults; calls are counted from 1 again. */
  set(scenario: Scenario): void {
    this.#rules = scenario.rules;
    this.#calls.clear();
  }

  /** The first rule that is for this call; an empty one where none is. */
  next(path: string, body: string): Rule {
    const number = (this.#calls.get(path) ?? 0) + 1;
    this.#calls.set(path, number);
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
