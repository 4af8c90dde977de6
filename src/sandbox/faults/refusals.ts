import type { z } from 'zod';
import { jsonType, type Answer, type Refusal } from './failures.ts';
import type { OutOfCreditsStatus } from './scenario.ts';

/** 422: names every invalid parameter, without its value. */
export function invalid(error: Pick<z.ZodError, 'issues'>): Refusal {
  const names = [...new Set(error.issues.map(({ path }) => path.join('.')))].filter((name) => name !== '');
  return {
    status: 422,
    code: 'REQUEST.VALIDATION.INVALID',
    message:
      names.length === 0 ? 'The body is not as described.' : `Missing or invalid: ${names.join(', ')}.`,
    suggestions: names.map((parameter) => ({ label: `Correct ${parameter}`, parameter })),
  };
}

/** 422: a required parameter is missing. */
export function missingParameter(parameter: string, reason: string): Refusal {
  return {
    status: 422,
    code: 'REQUEST.VALIDATION.PARAMETER_MISSING',
    message: `${parameter} is required ${reason}.`,
    suggestions: [{ label: `Send ${parameter}`, parameter }],
  };
}

/** The 400 of bulk enrichment, in the observed format. */
export function badDetails(code: 'INVALID_REQUEST' | 'RECORD_LIMIT_EXCEEDED', message: string): Refusal {
  return {
    status: 400,
    code: `PEOPLE.VALIDATION.${code}`,
    message,
    suggestions: [{ label: 'Send 1 to 10 people', parameter: 'details' }],
    older: { status: 'failed', error_code: code, error_message: message },
  };
}

/** The refusal of an account without credits, which is not documented; the status is one of three guesses. */
export function outOfCredits(status: OutOfCreditsStatus): Refusal {
  return {
    status,
    code: 'BILLING.CREDITS.EXHAUSTED',
    oldCode: status === 403 ? 'CREDITS_EXHAUSTED' : 'INSUFFICIENT_CREDITS',
    message: 'The account has no credits left.',
    suggestions: [{ label: 'Add credits to the account' }],
  };
}

/** Encodes a body as a JSON string, as observed with some 429s. */
export function encodedTwice(answer: Answer): Answer {
  return { ...answer, contentType: jsonType, body: JSON.stringify(answer.body) };
}
