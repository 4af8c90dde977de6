import type { ComparedPerson, Fit } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';

/** A decision about a contact and a known person, made with `enrich review`. */
export type Verdict = Exclude<RecordedVerdict, 'withdrawn'>;

/** All verdicts in the table `contact_decisions`. `withdrawn` ends a decision. */
export const recordedVerdicts = ['confirmed', 'rejected', 'withdrawn'] as const;
export type RecordedVerdict = (typeof recordedVerdicts)[number];

/** The decisions about a contact, by the log key of the person. Only people with an id have decisions. */
export type Verdicts = ReadonlyMap<string, Verdict>;

export const noVerdicts: Verdicts = new Map();

/** The newest decision about a contact and a person, unless it was withdrawn. */
export interface ContactDecision {
  readonly personKey: string;
  readonly verdict: Verdict;
  /** Hash of the identity of the contact when the decision was made. */
  readonly recordHash: string;
}

/** Reason why a contact does not get a rejected person. */
export const rejectedReason = 'a decision says that the contact is not this person';

/** The fit of a rejected person, independent of the cells. */
export const rejectedFit: Fit = {
  strength: 'none',
  reason: rejectedReason,
  sameName: false,
  sharesIdentifier: true,
  namesake: false,
};

/** The decision about a contact and a person, by the person's id. */
export function verdictOn(verdicts: Verdicts, { personId }: ComparedPerson): Verdict | undefined {
  return verdicts.size === 0 || personId === undefined
    ? undefined
    : verdicts.get(identityKeys({ personId })[0]!);
}
