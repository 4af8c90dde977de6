import { z } from 'zod';
import { counted } from '../../domain/text/format.ts';
import { parseEmail } from '../../domain/identity/values/email-address.ts';
import { nameCredits, nameMiss, namePersonMiss, type ErrorCodes } from './failure.ts';
import { memberOf, readJson } from '../answers/exact-json.ts';
import type { HttpAnswer } from '../transport.ts';

/**
 * What the error of an answer with a success status means.
 * - `none`: there is no error, or it says only that no person was found.
 * - `refusal`: the answer has no person's data and bills nothing. Services may answer like this when credits run out.
 * - `partial`: the answer has people or bills something, and the service did not process the other people.
 */
type ErrorOfSuccess = 'none' | 'refusal' | 'partial';

const statement = z.looseObject({
  status: z.unknown().optional(),
  error: z.unknown().optional(),
  error_code: z.unknown().optional(),
  error_details: z.unknown().optional(),
  matches: z.unknown().optional(),
  person: z.unknown().optional(),
  credits_consumed: z.unknown().optional(),
});

/**
 * Decides by the status, the error members, the people and the bill; never by messages. A status other than a failure
 * is no error, because its values are not documented.
 */
export function errorOfSuccess(value: unknown): ErrorOfSuccess {
  const parsed = statement.safeParse(value);
  if (!parsed.success) return 'none';
  const { status, error, error_code: older, error_details: details } = parsed.data;
  const codes = codesOf(parsed.data);
  const isFailed = typeof status === 'string' && /^(?:failed|failure|error)$/i.test(status.trim());
  if (areOnlyMisses(codes)) return 'none';
  if (!isFailed && ![error, older, details].some((each) => saysSomething(each))) return 'none';
  const { matches, person, credits_consumed: credits } = parsed.data;
  if (!hasPeople(matches) && !hasPeople(person)) return mayBeBilled(credits) ? 'partial' : 'refusal';
  // Beside people, another code, such as PARTIAL, can mean the people who were not found.
  return isFailed || nameCredits(codes) ? 'partial' : 'none';
}

/** Says that the body of a refusal has people or credits: then the service has processed the call. */
export function describeBilledRefusal(value: unknown): string | undefined {
  const parsed = statement.safeParse(value);
  if (!parsed.success) return undefined;
  const { matches, person, credits_consumed: credits } = parsed.data;
  const figure = typeof credits === 'number' || typeof credits === 'string' ? String(credits) : '';
  const stated = /^\d+(?:\.\d+)?$/.test(figure) ? counted(figure, 'credit') : 'credits';
  const parts = [
    ...(hasPeople(matches) || hasPeople(person) ? ['people'] : []),
    ...(mayBeBilled(credits) ? [stated] : []),
  ];
  return parts.length === 0 ? undefined : `the body has ${parts.join(' and ')}`;
}

/** Whether an answer says with a code that no person was found, and bills nothing. */
export function isMissOfAll(value: unknown): boolean {
  const parsed = statement.safeParse(value);
  return parsed.success && areOnlyMisses(codesOf(parsed.data)) && !mayBeBilled(parsed.data.credits_consumed);
}

/**
 * Whether a 404 says with a code that no person was found. Without such a code, or with one that only says that
 * something was not found, the address can be wrong.
 */
export function isRefusedMiss({ status, body }: HttpAnswer): boolean {
  if (status !== 404) return false;
  const value = readJson(body);
  const parsed = statement.safeParse(value);
  return parsed.success && namePersonMiss(codesOf(parsed.data)) && isMissOfAll(value);
}

function codesOf({ error_code: older, error_details: details }: z.infer<typeof statement>): string[] {
  return [older, memberOf(details, 'code')].filter((code) => typeof code === 'string');
}

/** Whether codes say that no person was found, and none is about credits. */
function areOnlyMisses(codes: ErrorCodes): boolean {
  return nameMiss(codes) && !nameCredits(codes);
}

/** Deeper values count as an error: each level takes some of the stack. */
const deepestError = 12;

/** Services fill the members of an error also where there is none: `{}`, `""`, `false`, `"none"`. */
function saysSomething(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return !/^(?:|0|false|none|null|ok|success|no_?error)$/i.test(value.trim());
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return depth > deepestError || Object.values(value).some((each) => saysSomething(each, depth + 1));
}

/** Whether `matches` or `person` has the data of a person. Null, an empty object and a stub have none. */
function hasPeople(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isPerson) : isPerson(value);
}

/** Names, profile or address identify a person; a company, or an id alone, does not. */
function isPerson(value: unknown): boolean {
  const email = memberOf(value, 'email');
  return (
    ['first_name', 'last_name', 'name', 'proflink_url'].some((name) => isFilled(memberOf(value, name))) ||
    (typeof email === 'string' ? parseEmail(email) !== undefined : isFilled(email))
  );
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' ? value.trim() !== '' : value !== null && value !== undefined;
}

/** An unreadable number of credits may have been billed. */
function mayBeBilled(credits: unknown): boolean {
  if (typeof credits === 'number' || typeof credits === 'string') return Number(credits) !== 0;
  return credits !== undefined && credits !== null;
}
