import { isStub } from '../../domain/identity/identity-evidence.ts';
import type { Person } from '../../domain/identity/person.ts';
import type { AskedExtras } from '../../domain/late-results/delivery-kinds.ts';
import { mostCrediblePerPerson } from '../../domain/money/credit-rules.ts';
import { wholeCredits, type Credits } from '../../domain/money/decimal.ts';
import type { AnswerToRecord } from './answered-rows.ts';

export interface AnswerPrice {
  /** Undefined: not known, and the reservation is held. */
  readonly consumed: Credits | undefined;
  /** False: the stated figure is too large to be a price, and counts as not stated. */
  readonly isCredible: boolean;
  /** Number of people whom the service found: late results come, and cost, for each of them. */
  readonly found: number;
}

/**
 * Reads the cost of a call from its answer.
 *
 * @param options.people number of people whom the call asked for
 * @param options.withRows number of people of the answer who have a row
 */
export function priceOfAnswer(
  answer: AnswerToRecord,
  asked: AskedExtras,
  { people, withRows }: { readonly people: number; readonly withRows: number },
): AnswerPrice {
  const { creditsConsumed, creditsProblem } = answer;
  const isCredible =
    creditsProblem !== 'too-large' && (creditsConsumed ?? 0n) <= mostCrediblePerPerson * BigInt(people);
  const stated = isCredible ? creditsConsumed : undefined;
  const found = countFound(answer, stated, { people, withRows });
  // A waterfall that found no person: no delivery follows that could state a price.
  const isFreeMiss = asked.waterfall.length > 0 && creditsProblem === 'absent' && found === 0;
  return { consumed: stated ?? (isFreeMiss ? 0n : undefined), isCredible, found };
}

/**
 * Counts the people whom the service found. If the answer counts everybody, it is that count, or the people with a row
 * if they are more: the answer may list others in addition. Otherwise it is the highest of three figures. An answer may
 * list fewer people than it was billed for, and late results come, and cost, for all of them. A match that has only a
 * company does not count: no late result comes for it. If the answer counts everybody as missing, a match that has only
 * a company and an id does not count either. A count above the people whom the call asked for says nothing.
 */
function countFound(
  answer: AnswerToRecord,
  consumed: Credits | undefined,
  { people, withRows }: { readonly people: number; readonly withRows: number },
): number {
  const { uniqueEnrichedRecords: stated = 0, missingRecords: missing } = answer;
  const unique = stated <= people ? stated : 0;
  const countsEverybody = missing === people - unique;
  if (unique > 0 && countsEverybody) return Math.max(unique, withRows);
  const isSomebody = (match: Person | null): boolean =>
    match !== null && ((Boolean(match.id) && !countsEverybody) || !isStub(match));
  const listed = answer.matches.filter(isSomebody).length + answer.unreadableMatches.length;
  const billed = countsEverybody ? 0 : Number((consumed ?? 0n) / wholeCredits(1));
  return Math.min(people, Math.max(listed, unique, billed));
}
