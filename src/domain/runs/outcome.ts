interface OutcomeFacts {
  /**
   * Subject of the answer: the person, or the data that the service refused. Null: no known answer. Rows with an answer
   * are the denominator of the match rate.
   */
  readonly answer: 'person' | 'data' | null;
  /**
   * What became of the row. `not asked`: the row names a person for whom the run makes no call. `cannot be asked`: the
   * row names no person, or one for whom no run may ask.
   */
  readonly group: 'enriched' | 'no person found' | 'not asked' | 'cannot be asked' | 'needs a decision';
  /** Text for the report. */
  readonly meaning: string;
}

/** The outcomes of an input row. Every row ends in exactly one. Part of the public surface. */
export const outcomeFacts = {
  enriched: { answer: 'person', group: 'enriched', meaning: 'found, and written to the warehouse' },
  not_found: { answer: 'person', group: 'no person found', meaning: 'the service does not know the person' },
  identity_mismatch: {
    answer: 'person',
    group: 'no person found',
    meaning: 'the returned person does not match by the identity rule',
  },
  no_identifier: { answer: null, group: 'cannot be asked', meaning: 'the row has no identifier to ask with' },
  duplicate: { answer: null, group: 'not asked', meaning: 'the same person or record id as another row' },
  suppressed: { answer: null, group: 'cannot be asked', meaning: 'opted out, or on the suppression list' },
  fresh: { answer: null, group: 'not asked', meaning: 'asked recently' },
  in_flight: { answer: null, group: 'not asked', meaning: 'another run is asking for the person' },
  over_budget: { answer: null, group: 'needs a decision', meaning: 'the budget had no credits left' },
  rejected: { answer: 'data', group: 'no person found', meaning: 'the service refused the data of the row' },
  unknown: {
    answer: null,
    group: 'needs a decision',
    meaning: 'the call may have been billed and its answer was lost',
  },
  cancelled: {
    answer: null,
    group: 'not asked',
    meaning: 'the run was cancelled before the call, or --only left the row out',
  },
  malformed: { answer: null, group: 'cannot be asked', meaning: 'the row could not be read' },
} as const satisfies Readonly<Record<string, OutcomeFacts>>;

export type Outcome = keyof typeof outcomeFacts;

/** The outcomes of a recorded answer. */
export type AnsweredOutcome = {
  [Name in Outcome]: (typeof outcomeFacts)[Name]['answer'] extends null ? never : Name;
}[Outcome];

/** Beginning of the reason of a `duplicate` whose person another row of the file represents. */
export const samePersonReason = 'the same person as row ';

/** Note in the reason of a row that gave its contact the data of a known person. */
export const filledNote = 'filled without a call';

export const outcomes = Object.keys(outcomeFacts) as readonly Outcome[];

/**
 * Numbers of rows in the order of the outcomes, `open` last: PostgreSQL's `jsonb` does not keep the order of keys.
 *
 * @param rows number of rows by outcome, in any order
 */
export function inOrderOfOutcomes(
  rows: Readonly<Record<string, number>>,
): Readonly<Partial<Record<Outcome | 'open', number>>> {
  return Object.fromEntries(
    [...outcomes, 'open' as const].flatMap((name) => (rows[name] === undefined ? [] : [[name, rows[name]]])),
  );
}

/** Outcomes whose answer is known. */
export const answeredOutcomes: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].answer !== null,
);

/** Outcomes whose answer gave the row no person: a later answer can replace them. */
export const outcomesWithoutPerson: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].group === 'no person found',
);

/** Outcomes of rows with a person for whom the run makes no call. */
export const outcomesNotAsked: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].group === 'not asked',
);

export function isOutcome(text: string): text is Outcome {
  return Object.hasOwn(outcomeFacts, text);
}
