interface OutcomeFacts {
  /** The service was asked and its answer is known. These rows are the denominator of the match rate. */
  readonly answered: boolean;
  readonly group: 'enriched' | 'without contact' | 'not asked' | 'needs a person';
  /** Text for the report. */
  readonly meaning: string;
}

/** The outcomes of an input row. Every row ends in exactly one. Part of the public surface. */
export const outcomeFacts = {
  enriched: { answered: true, group: 'enriched', meaning: 'found, and written to the warehouse' },
  not_found: { answered: true, group: 'without contact', meaning: 'the service does not know the person' },
  identity_mismatch: {
    answered: true,
    group: 'without contact',
    meaning: 'the returned person does not match by the identity rule',
  },
  no_identifier: { answered: false, group: 'not asked', meaning: 'the row has no identifier to ask with' },
  duplicate: { answered: false, group: 'not asked', meaning: 'the same person as another row' },
  suppressed: { answered: false, group: 'not asked', meaning: 'opted out, or on the suppression list' },
  fresh: { answered: false, group: 'not asked', meaning: 'asked recently' },
  in_flight: { answered: false, group: 'not asked', meaning: 'another run is asking for the person' },
  over_budget: { answered: false, group: 'needs a person', meaning: 'the budget had no credits left' },
  rejected: { answered: true, group: 'without contact', meaning: 'the service refused the data of the row' },
  unknown: {
    answered: false,
    group: 'needs a person',
    meaning: 'the call may have been billed and its answer was lost',
  },
  cancelled: {
    answered: false,
    group: 'not asked',
    meaning: 'the run was cancelled first, or --only left the row out',
  },
  malformed: { answered: false, group: 'not asked', meaning: 'the row could not be read' },
} as const satisfies Readonly<Record<string, OutcomeFacts>>;

export type Outcome = keyof typeof outcomeFacts;

/** The outcomes of a recorded answer. */
export type AnsweredOutcome = {
  [Name in Outcome]: (typeof outcomeFacts)[Name]['answered'] extends true ? Name : never;
}[Outcome];

/** Begins the reason of a `duplicate` whose record id an earlier row of the file has. */
export const repeatedRecordReason = 'the same record id as row ';

/** All outcomes. */
export const outcomes = Object.keys(outcomeFacts) as readonly Outcome[];

/** Outcomes whose answer is known. */
export const answeredOutcomes: readonly Outcome[] = outcomes.filter((name) => outcomeFacts[name].answered);

/** Outcomes that need a person's decision: a run that has any ends with exit code 3. */
export const outcomesThatNeedAPerson: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].group === 'needs a person',
);

export function isOutcome(text: string): text is Outcome {
  return Object.hasOwn(outcomeFacts, text);
}
