import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { displayForm } from './normalise.ts';

/** A phone number as the service delivers it. Unknown values of enumerations are kept. */
export interface DeliveredPhone {
  readonly rawNumber: string | undefined;
  readonly sanitizedNumber: string | undefined;
  readonly type: string | undefined;
  readonly status: string | undefined;
  readonly dncStatus: string | undefined;
  readonly confidence: string | undefined;
  readonly position: number | undefined;
}

/** A phone number of a person, as the warehouse stores it. */
export interface Phone {
  /** The number in E.164, or in the service's spelling if it cannot be parsed. */
  readonly number: string;
  /** The number in E.164; null if it is not a possible phone number. */
  readonly e164: string | null;
  readonly rawNumber: string | null;
  readonly type: string | null;
  readonly status: string | null;
  readonly dncStatus: string | null;
  readonly confidence: string | null;
  readonly position: number;
}

/** Tidies delivered numbers to E.164, without duplicates: the first entry counts, but do-not-call in any applies. */
export function readPhones(phones: readonly DeliveredPhone[]): Phone[] {
  const byNumber = new Map<string, Phone>();
  for (const [index, phone] of phones.slice(0, maxNumbers).entries()) {
    const { position: stated = -1 } = phone;
    const raw = tidy(phone.rawNumber);
    const e164 = e164Of(phone.sanitizedNumber) ?? e164Of(phone.rawNumber);
    const number = e164 ?? tidy(phone.sanitizedNumber) ?? raw;
    if (number === null) continue;
    const dncStatus = tidy(phone.dncStatus);
    const first = byNumber.get(number);
    if (first) {
      if (dncStatus !== null && isDoNotCall(dncStatus) && !isDoNotCall(first.dncStatus ?? 'no'))
        byNumber.set(number, { ...first, dncStatus });
      continue;
    }
    byNumber.set(number, {
      number,
      e164,
      rawNumber: raw,
      type: tidy(phone.type),
      status: tidy(phone.status),
      dncStatus,
      confidence: tidy(phone.confidence),
      // A position that is not plausible is replaced by the position in the list.
      position: stated >= 0 && stated < 10_000 ? stated : index,
    });
  }
  return [...byNumber.values()];
}

/** The type of a phone number at the employer's headquarters. */
export const headquartersPhoneType = 'work_hq';

/** Types in the order of preference for `enriched_contacts.phone`. A number without a type ranks like `other`. */
const typesByUse = ['mobile', 'work_direct', 'other', headquartersPhoneType, 'home'];

/**
 * Returns the ranks that choose `enriched_contacts.phone`, the most important first; the lowest wins. If all are equal,
 * the service's order decides, then the number, so that the choice is deterministic.
 */
export function rankPhone(phone: Phone) {
  const type = phone.type === null ? -1 : typesByUse.indexOf(phone.type.toLowerCase());
  return {
    ...(phone.dncStatus !== null && { dnc_rank: isDoNotCall(phone.dncStatus) ? 1 : 0 }),
    // A number with rank null is never chosen.
    status_rank: isInvalidNumberStatus(phone.status) ? null : isValidNumberStatus(phone.status) ? 0 : 1,
    e164_rank: phone.e164 === null ? 1 : 0,
    ...(phone.type !== null && { type_rank: type < 0 ? typesByUse.indexOf('other') : type }),
  };
}

type Stated = string | null | undefined;
export const isMobileType = (type: Stated): boolean => type?.toLowerCase() === 'mobile';
export const isValidNumberStatus = (status: Stated): boolean => status?.toLowerCase() === 'valid_number';
export const isInvalidNumberStatus = (status: Stated): boolean => status?.toLowerCase() === 'invalid_number';

/** True if a phone number must not be called. Unknown values of the status count as do-not-call. */
export function isDoNotCall(dncStatus: string): boolean {
  return !/^(?:no|none|not_dnc|clear|clean|ok|false|unknown)$/i.test(dncStatus);
}

/** The number as `+447700900123`; null without a country code (`+44`, `0044`) or of an impossible length. */
function e164Of(text: string | undefined): string | null {
  if (text === undefined) return null;
  const parsed = parsePhoneNumberFromString(text.startsWith('00') ? `+${text.slice(2)}` : text);
  return parsed?.isPossible() ? parsed.number : null;
}

/** Removes NUL and lone surrogates, which PostgreSQL refuses, and controls of a terminal; null: nothing is left. */
function tidy(text: string | undefined): string | null {
  const clean = text === undefined ? '' : displayForm(text).slice(0, longestText).toWellFormed();
  return clean === '' ? null : clean;
}

/** Maximum number of phone numbers in a list. A longer list is an error of the service, and the rest is not read. */
const maxNumbers = 100;
/** Maximum length of a phone number as text. No spelling of a number is longer. */
const longestText = 200;
