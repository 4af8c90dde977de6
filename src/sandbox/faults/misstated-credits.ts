import type { MisstatedCredits } from './scenario.ts';

/**
 * The member of an answer with its cost, as the fault misstates it.
 *
 * @returns no or one JSON member
 */
export function creditsMember(credits: number, fault: MisstatedCredits | undefined): string[] {
  switch (fault) {
    case 'missing':
      return [];
    case 'fractional':
      return [`"credits_consumed":${credits}.50`];
    case 'negative':
      return [`"credits_consumed":-${credits + 1}`];
    case 'text':
      return [`"credits_consumed":"${credits} credits"`];
    case 'excess':
      return [`"credits_consumed":${credits + 100}`];
    case 'huge':
      return ['"credits_consumed":99999999999999'];
    case undefined:
      return [`"credits_consumed":${credits}`];
  }
}
