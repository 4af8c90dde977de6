import { inaccessible, invalidKey, invalidToken } from '../account/credentials.ts';
import { tooManyCalls, type Refusal } from './failures.ts';
import { outOfCredits } from './refusals.ts';
import type { Rule } from './scenario.ts';

export interface RequestedCall {
  readonly path: string;
  /** Headers of the rate windows. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the caller sent an access token. */
  readonly isToken: boolean;
  readonly now: number;
}

/** The refusal that a rule requests by its status; undefined for none. */
export function requestedRefusal(rule: Rule, call: RequestedCall): Refusal | undefined {
  if (rule.status === undefined) return undefined;
  const usual = usualRefusal(rule, rule.status, call);
  return { ...usual, ...(rule.code !== undefined && { code: rule.code, oldCode: rule.code }) };
}

function usualRefusal(rule: Rule, status: number, call: RequestedCall): Refusal {
  switch (status) {
    case 401:
      return call.isToken ? invalidToken : invalidKey;
    case 402:
      return outOfCredits(402);
    case 403:
      return inaccessible;
    case 429: {
      const limit = { calls: 600, seconds: 3_600 };
      return tooManyCalls(call.path, { limit }, retryAfter(rule, call.now), call.headers);
    }
    default:
      return {
        status,
        code: status === 422 ? 'REQUEST.VALIDATION.INVALID' : 'SCENARIO.FAULT.REQUESTED',
        message: `a scenario of the sandbox asked for status ${status}`,
        headers: call.headers,
      };
  }
}

/** The body has the header's value if it is a number. */
function retryAfter(
  { retry_after: asked = '1' }: Rule,
  now: number,
): { readonly header: string | undefined; readonly seconds: number | undefined } {
  if (asked === null) return { header: undefined, seconds: undefined };
  if (typeof asked === 'string')
    return { header: asked, seconds: /^-?\d+$/.test(asked) ? Number(asked) : undefined };
  return { header: new Date(now + asked.date * 1_000).toUTCString(), seconds: undefined };
}
