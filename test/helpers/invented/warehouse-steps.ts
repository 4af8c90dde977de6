import fc from 'fast-check';
import { recordedVerdicts } from '../../../src/domain/identity/verdicts.ts';

const text = fc.constantFrom('a', 'b', null);
const human = fc.nat(1);
const run = fc.nat(5);
const contact = fc.nat(1);

/** A record of an export: the contact, its true human, and the cell that identifies the human. */
const row = fc.record({
  contact,
  human,
  cell: fc.constantFrom('email', 'profile', 'hash', 'id'),
});

const answer = fc.record({
  kind: fc.constant('answer' as const),
  run,
  rows: fc.array(row, { minLength: 1, maxLength: 2 }),
  /** Hours between the admission of the call and the recording of its answer. */
  hoursAgo: fc.nat(2),
  hasId: fc.boolean(),
  /** The service has given its people other ids. */
  isRenumbered: fc.constantFrom(false, false, true),
  title: text,
  city: text,
  company: text,
  industry: text,
  hasEmail: fc.boolean(),
  /** The answer contains both humans, also if only one was asked for. */
  bringsBoth: fc.boolean(),
  late: fc.constantFrom('none', 'phones', 'waterfall'),
});

/** A delivery for an earlier call of the sequence. */
const late = fc.record({
  kind: fc.constant('late' as const),
  call: fc.nat(3),
  /** It names people by ids that the service gave them before or after the call. */
  hasOtherIds: fc.constantFrom(false, false, true),
  phones: fc.subarray(['1', '2', '3']),
  statuses: fc.constantFrom(['valid_number'], ['invalid_number', 'valid_number'], [undefined]),
  emails: fc.subarray(['work', 'other']),
  emailStatus: fc.constantFrom('verified', 'unverified', undefined),
  isTwice: fc.boolean(),
});

/** A record whose contact can only be filled without a call. */
const fill = fc.record({ kind: fc.constant('fill' as const), run, row });
const mark = fc.record({ kind: fc.constantFrom('undo' as const, 'revert' as const), run });
const hide = fc.record({ kind: fc.constantFrom('erase' as const, 'suppress' as const), human });
/** Somebody decides that a contact is, or is not, a human. */
const decision = fc.record({
  kind: fc.constant('decision' as const),
  run,
  contact,
  human,
  verdict: fc.constantFrom(...recordedVerdicts),
});

export type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never;
export type Late = typeof late extends fc.Arbitrary<infer Value> ? Value : never;
export type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;
export type Step =
  | Answer
  | Late
  | (typeof fill extends fc.Arbitrary<infer Value> ? Value : never)
  | (typeof mark extends fc.Arbitrary<infer Value> ? Value : never)
  | (typeof hide extends fc.Arbitrary<infer Value> ? Value : never)
  | (typeof decision extends fc.Arbitrary<infer Value> ? Value : never);

const anything = fc.oneof<fc.Arbitrary<Step>[]>(answer, answer, late, late, fill, mark, hide, decision);

/** Random steps in a warehouse with its own people, contacts and runs. */
export const sequence: fc.Arbitrary<readonly Step[]> = fc.array(anything, { minLength: 1, maxLength: 6 });
