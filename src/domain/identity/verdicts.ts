import type { ComparedPerson, Fit } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';

/** The operator's decision about a contact and a known person, made with `enrich review`. */
export type Verdict = Exclude<RecordedVerdict, 'withdrawn'>;

/** All verdicts in table `contact_decisions`. `withdrawn` ends an earlier decision. */
export const recordedVerdicts = ['confirmed', 'rejected', 'withdrawn'] as const;
export type RecordedVerdict = (typeof recordedVerdicts)[number];

/** The operator's decisions about a contact, by the key of the person, who has an id. */
export type Verdicts = ReadonlyMap<string, Verdict>;

export const noVerdicts: Verdicts = new Map();

/** The operator's newest decision about a contact and a person, unless it was withdrawn. */
export interface ContactDecision {
  readonly personKey: string;
  readonly verdict: Verdict;
  /** Hash of the contact's identity when the decision was made. */
  readonly recordHash: string;
}

/** Reason why a contact does not get a rejected person. */
export const rejectedReason = 'a decision says that the contact is not this person';

/** The fit of a rejected person. It does not depend on the cells of the contact. */
export const rejectedFit: Fit = {
  strength: 'none',
  reason: rejectedReason,
  sameName: false,
  sharesIdentifier: true,
  namesake: false,
};

/** The operator's decision about a contact and a person; undefined if there is none. */
export function verdictOnPerson(verdicts: Verdicts, { personId }: ComparedPerson): Verdict | undefined {
  return verdicts.size === 0 || personId === undefined
    ? undefined
    : verdicts.get(identityKeys({ personId })[0]!);
}
