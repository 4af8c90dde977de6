import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { displayForm } from './normalise.ts';

/** A phone number as the service delivers one; open enumerations are kept as they come. */
export interface DeliveredPhone {
  readonly rawNumber: string | undefined;
  readonly sanitizedNumber: string | undefined;
  readonly type: string | undefined;
  readonly status: string | undefined;
  readonly dncStatus: string | undefined;
  readonly confidence: string | undefined;
  readonly position: number | undefined;
}

/** One number of a contact, as the warehouse keeps it. */
export interface Phone {
  /** E.164 where the number can be read, otherwise as it came. */
  readonly number: string;
  /** Null where the number cannot be read as one that exists. */
  readonly e164: string | null;
  readonly rawNumber: string | null;
  readonly type: string | null;
  readonly status: string | null;
  readonly dncStatus: string | null;
  readonly confidence: string | null;
  readonly position: number;
}

/**
 * Tidies delivered numbers: E.164 by libphonenumber, one entry a number (the first counts), empty ones left out.
 *
 * @param phones in the order of the delivery
 */
export function readPhones(phones: readonly DeliveredPhone[]): Phone[] {
  const byNumber = new Map<string, Phone>();
  for (const [index, phone] of phones.slice(0, mostNumbers).entries()) {
    const raw = tidy(phone.rawNumber);
    const e164 = e164Of(phone.sanitizedNumber) ?? e164Of(phone.rawNumber);
    const number = e164 ?? tidy(phone.sanitizedNumber) ?? raw;
    if (number === null || byNumber.has(number)) continue;
    byNumber.set(number, {
      number,
      e164,
      rawNumber: raw,
      type: tidy(phone.type),
      status: tidy(phone.status),
      dncStatus: tidy(phone.dncStatus),
      confidence: tidy(phone.confidence),
      position: isPosition(phone.position) ? phone.position : index,
    });
  }
  return [...byNumber.values()];
}

const typesByUse = ['mobile', 'work_direct', 'other', 'work_hq', 'home'];

/**
 * The number to call first, for `enriched_contacts.phone`. In this order decide:
 *
 * 1. nobody on a do-not-call list before somebody who is not;
 * 2. `valid_number` before a number that was not checked, and `invalid_number` never;
 * 3. readable as E.164 before not;
 * 4. mobile, direct line, other, switchboard, home;
 * 5. the service's own order (`position`), then the number itself, so that the choice never depends on chance.
 *
 * @returns undefined where no number is worth calling
 */
export function bestPhone(phones: readonly Phone[]): Phone | undefined {
  const usable = phones.filter((phone) => phone.status !== 'invalid_number');
  return usable.toSorted((one, other) => {
    const ranks = rank(one).map((value, index) => value - rank(other)[index]!);
    return ranks.find((difference) => difference !== 0) ?? (one.number < other.number ? -1 : 1);
  })[0];
}

function rank(phone: Phone): number[] {
  const type = typesByUse.indexOf(phone.type ?? 'other');
  return [
    isDoNotCall(phone.dncStatus) ? 1 : 0,
    phone.status === 'valid_number' ? 0 : 1,
    phone.e164 === null ? 1 : 0,
    type < 0 ? typesByUse.indexOf('other') : type,
    phone.position,
  ];
}

/** An open enumeration: whatever does not say that the number may be called counts as a warning. */
function isDoNotCall(dncStatus: string | null): boolean {
  return dncStatus !== null && !/^(?:no|none|not_dnc|clear|clean|ok|false|unknown)$/i.test(dncStatus);
}

function isPosition(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value < 10_000;
}

function e164Of(text: string | undefined): string | null {
  if (text === undefined) return null;
  const parsed = parsePhoneNumberFromString(text.startsWith('00') ? `+${text.slice(2)}` : text);
  return parsed?.isPossible() ? parsed.number : null;
}

/** Without NUL, lone surrogates and control characters, which a text column refuses or a terminal obeys. */
function tidy(text: string | undefined): string | null {
  const clean = text === undefined ? '' : displayForm(text.toWellFormed()).slice(0, longestText);
  return clean === '' ? null : clean;
}

/** Nobody has more; a list that is longer is a mistake, and its beginning will do. */
const mostNumbers = 100;
/** Far beyond any number, however it is written. */
const longestText = 200;
