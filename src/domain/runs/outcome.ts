/** The final word on an input row; each row of a file ends in exactly one. Part of the public surface. */
export const outcomes = [
  'enriched',
  'not_found',
  'identity_mismatch',
  'no_identifier',
  'duplicate',
  'suppressed',
  'fresh',
  'in_flight',
  'over_budget',
  'rejected',
  'unknown',
  'cancelled',
  'malformed',
] as const;

export type Outcome = (typeof outcomes)[number];

/** What a recorded answer can say of a person who was asked for. */
export type AnsweredOutcome = Extract<Outcome, 'enriched' | 'not_found' | 'identity_mismatch' | 'rejected'>;

/** Outcomes that leave something for a person to do: a run that has any ends with exit code 3. */
export const outcomesThatNeedAPerson: readonly Outcome[] = ['over_budget', 'unknown'];
