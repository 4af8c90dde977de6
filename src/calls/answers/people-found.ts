import { isStub } from '../../domain/identity/identity-evidence.ts';
import type { Person } from '../../domain/identity/person.ts';
import { wholeCredits, type Credits } from '../../domain/money/decimal.ts';
import type { AnswerToRecord } from './answered-rows.ts';

/**
 * Returns how many people the service found. If the answer counts everybody, it is that count, or the people with a row
 * if they are more: the answer may list others in addition. Otherwise it is the highest of three figures. An answer may
 * list fewer people than it was billed for, and late results come, and cost, for all of them. A match that has only a
 * company does not count: no late result comes for it. A count above the people whom the call asked for says nothing.
 */
export function peopleFound(
  answer: AnswerToRecord,
  consumed: Credits | undefined,
  { asked, withRows }: { readonly asked: number; readonly withRows: number },
): number {
  const isSomebody = (match: Person | null): boolean =>
    match !== null && (Boolean(match.id) || !isStub(match));
  const listed = answer.matches.filter(isSomebody).length + answer.unreadableMatches.length;
  const { uniqueEnrichedRecords: stated = 0, missingRecords: missing } = answer;
  const unique = stated <= asked ? stated : 0;
  if (unique > 0 && missing === asked - unique) return Math.max(unique, withRows);
  const billed = missing === asked - unique ? 0 : Number((consumed ?? 0n) / wholeCredits(1));
  return Math.min(asked, Math.max(listed, unique, billed));
}
