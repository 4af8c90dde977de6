import type { ComparedPerson, Fit } from './identity-evidence.ts';
import { identityKeys } from './identity-keys.ts';

/** What somebody decided about a contact and a known person, with `enrich review`. */
export type Verdict = Exclude<RecordedVerdict, 'withdrawn'>;

/** All verdicts of the table `contact_decisions`. After `withdrawn` there is no decision. */
export const recordedVerdicts = ['confirmed', 'rejected', 'withdrawn'] as const;
export type RecordedVerdict = (typeof recordedVerdicts)[number];

/** The decisions about a contact, by the key that the log has for the person. Only people with an id have decisions. */
export type Verdicts = ReadonlyMap<string, Verdict>;

export const noVerdicts: Verdicts = new Map();

/** The newest decision about a contact and a person. Withdrawn decisions are none. */
export interface ContactDecision {
  readonly personKey: string;
  readonly verdict: Verdict;
  /** Hash of what identified the contact when the decision was made. */
  readonly recordHash: string;
}

/** Why a contact does not get a person whom a decision has rejected. */
export const rejectedReason = 'a decision says that the contact is not this person';

/** How well a rejected person fits, whatever the cells say. */
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
