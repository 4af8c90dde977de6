import { headerKey } from '../../../domain/text/header-name.ts';
import { headerWords } from '../recognition/header-words.ts';
import {
  isAboutCalls,
  isAboutEmail,
  isAboutLetters,
  isConsent,
  isDetail,
  isFaxOrLetters,
  isRefusal,
} from './opt-out-headers.ts';

/**
 * How a column states an opt-out.
 *
 * - `refusal`: the column states a refusal ("Email Opt Out", "Do not allow Emails", "Unsubscribed Time", "IsDeleted"):
 *   every value except a plain no means opted out.
 * - `consent`: the column states a consent ("Allow Emails?", "Marketing status"): every value means opted out, except a
 *   plain yes, a word of consent and the date of a consent.
 * - `basis`: the column describes a consent ("Consent date", "Legal basis …"): only a plain no or a word of refusal
 *   means opted out.
 *
 * An empty cell means neither.
 */
export type OptOutPolarity = 'refusal' | 'consent' | 'basis';

/** What an opt-out forbids: any lookup of the contact (`processing`), or asking for phone numbers (`calls`). */
export type OptOutScope = 'processing' | 'calls';

export interface OptOutMeaning {
  readonly polarity: OptOutPolarity;
  readonly scope: OptOutScope;
}

/**
 * What a column states about opting out, by its name. If the name does not say what was refused, the opt-out forbids
 * processing.
 *
 * @returns undefined if the column is about something else, or about fax or letters, which the product never sends
 */
export function optOutOf(header: string): OptOutMeaning | undefined {
  const words = headerWords(header);
  const key = headerKey(words);
  const polarity = polarityOf(key, words);
  if (polarity === undefined || isAboutLetters(key, words)) return undefined;
  if (isAboutEmail(key, words)) return { polarity, scope: 'processing' };
  if (isAboutCalls(key, words)) return { polarity, scope: 'calls' };
  return isFaxOrLetters(key, words) ? undefined : { polarity, scope: 'processing' };
}

function polarityOf(key: string, words: string): OptOutPolarity | undefined {
  if (isRefusal(key, words)) return 'refusal';
  if (!isConsent(key, words)) return undefined;
  return isDetail(key, words) ? 'basis' : 'consent';
}

/** Whether a column has the time, reason or source of opt-outs or consents, by its name. */
export function describesOptOut(header: string): boolean {
  const words = headerWords(header);
  return isDetail(headerKey(words), words);
}
