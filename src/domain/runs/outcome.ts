interface OutcomeFacts {
  /** What the service has answered about: the person, or refused data; null: no known answer, so no match rate. */
  readonly answer: 'person' | 'data' | null;
  /**
   * Group of the outcome in the report. `not asked`: the run makes no call for the person of the row. `cannot be
   * asked`: the row identifies no person, or calls for this person are not allowed.
   */
  readonly group: 'enriched' | 'no person found' | 'not asked' | 'cannot be asked' | 'needs a decision';
  /** Text that explains the outcome in the report. */
  readonly meaning: string;
}

/** The outcomes, of which every row gets exactly one. The names are part of the public interface. */
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

/** Outcomes of rows with a recorded answer. */
export type AnsweredOutcome = {
  [Name in Outcome]: (typeof outcomeFacts)[Name]['answer'] extends null ? never : Name;
}[Outcome];

/** First words of the reason of a `duplicate` if another row of the file represents the person. */
export const samePersonPrefix = 'the same person as row ';

/** Note in the reason of a row: the contact of the row got the data of a known person without a call. */
export const filledWithoutCallNote = 'filled without a call';

export const outcomes = Object.keys(outcomeFacts) as readonly Outcome[];

/** Sorts numbers of rows by outcome, with `open` last, because `jsonb` does not keep the order of keys. */
export function sortByOutcome(
  rows: Readonly<Record<string, number>>,
): Readonly<Partial<Record<Outcome | 'open', number>>> {
  return Object.fromEntries(
    [...outcomes, 'open' as const].flatMap((name) => (rows[name] === undefined ? [] : [[name, rows[name]]])),
  );
}

/** Outcomes of rows with a known answer. */
export const answeredOutcomes: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].answer !== null,
);

/** Outcomes of rows with an answer that contained no matching person. A later answer can replace these outcomes. */
export const outcomesWithoutPerson: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].group === 'no person found',
);

/** Outcomes of rows that identify a person but need no call. */
export const outcomesWithoutCall: readonly Outcome[] = outcomes.filter(
  (name) => outcomeFacts[name].group === 'not asked',
);

export function isOutcome(text: string): text is Outcome {
  return Object.hasOwn(outcomeFacts, text);
}
