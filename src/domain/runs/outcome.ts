interface OutcomeFacts {
  /** The service was asked for the person, and what it said is known: these rows are what a match rate is of. */
  readonly answered: boolean;
  readonly group: 'enriched' | 'without contact' | 'not asked' | 'needs a person';
  /** For the report. */
  readonly meaning: string;
}

/** What becomes of an input row; each row of a file ends in exactly one. Part of the public surface. */
export const outcomeFacts = {
  enriched: { answered: true, group: 'enriched', meaning: 'found, and written to the warehouse' },
  not_found: { answered: true, group: 'without contact', meaning: 'the service does not know the person' },
  identity_mismatch: {
    answered: true,
    group: 'without contact',
    meaning: 'somebody came back who is not shown to be this person',
  },
  no_identifier: { answered: false, group: 'not asked', meaning: 'nothing to ask with' },
  duplicate: { answered: false, group: 'not asked', meaning: 'the same person as another row' },
  suppressed: { answered: false, group: 'not asked', meaning: 'opted out, or on the suppression list' },
  fresh: { answered: false, group: 'not asked', meaning: 'asked recently' },
  in_flight: { answered: false, group: 'not asked', meaning: 'being asked for by another run' },
  over_budget: { answered: false, group: 'needs a person', meaning: 'no credits were left' },
  rejected: { answered: true, group: 'without contact', meaning: 'the service refuses this person’s data' },
  unknown: {
    answered: false,
    group: 'needs a person',
    meaning: 'may have been billed, and the answer was lost',
  },
  cancelled: { answered: false, group: 'not asked', meaning: 'the run was cancelled first' },
  malformed: { answered: false, group: 'not asked', meaning: 'the row could not be read' },
} as const satisfies Readonly<Record<string, OutcomeFacts>>;

export type Outcome = keyof typeof outcomeFacts;

/** What a recorded answer can say of a person who was asked for. */
export type AnsweredOutcome = {
  [Name in Outcome]: (typeof outcomeFacts)[Name]['answered'] extends true ? Name : never;
}[Outcome];

/** Every outcome once. */
export const outcomes = Object.keys(outcomeFacts) as readonly Outcome[];

export const answeredOutcomes: readonly Outcome[] = outcomes.filter((name) => outcomeFacts[name].answered);

/** Outcomes that leave something for a person to do: a run that has any ends with exit code 3. */
export const outcomesThatNeedAPerson: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].group === 'needs a person',
);

export function isOutcome(text: string): text is Outcome {
  return Object.hasOwn(outcomeFacts, text);
}
