import { z } from 'zod';
import type { Endpoint } from '../failures/failure.ts';
import { readWindowCounts, rateHeaderWindows, type RateWindow } from '../rate-headers.ts';
import type { HttpAnswer } from '../transport.ts';
import { readAnswer } from '../failures/map-failure.ts';
import {
  lenient,
  lenientBoolean,
  lenientObject,
  memberOf,
  readCredits,
  readJson,
  lenientText,
} from './exact-json.ts';

const healthSchema = z.looseObject({ is_logged_in: lenientBoolean, healthy: lenientBoolean });

/**
 * Reads from the health endpoint whether the credential works. The interface document does not show the body, so every
 * success that is not a web page means yes, unless `is_logged_in` or `healthy` (both seen in practice) is false. Pure.
 *
 * @throws ServiceFailure
 */
export function readHealth(answer: HttpAnswer, endpoint: Endpoint): { readonly credentialWorks: boolean } {
  if (answer.status < 300 && isPlain(answer.body)) return { credentialWorks: true };
  const { data } = readAnswer(answer, endpoint, healthSchema);
  return { credentialWorks: data.is_logged_in !== false && data.healthy !== false };
}

/** True for a body that says no more than success: `true`, or text that is neither JSON nor a web page. */
function isPlain(body: Buffer): boolean {
  const value = readJson(body);
  return value === undefined ? !body.toString('utf8').trimStart().startsWith('<') : value === true;
}

const userSchema = z.looseObject({
  id: z.string(),
  name: lenientText,
  first_name: lenientText,
  last_name: lenientText,
});

/** Reads the user of the credential. The interface document shows only the identifier. */
export function readProfile(answer: HttpAnswer, endpoint: Endpoint) {
  const { id, name, first_name: first, last_name: last } = readAnswer(answer, endpoint, userSchema).data;
  return { id, name: name ?? ([first, last].filter(Boolean).join(' ') || undefined) };
}

export type OperationUsage = ReturnType<typeof readApiUsage>[number];

export type CreditUsage = ReturnType<typeof readCreditUsage>;

/** The key of an operation in the usage is a list in JSON: `["api/v1/people", "bulk_match"]`. */
const operationKey = z.tuple([z.string(), z.string()]);
const operationUsage = z.looseObject({ minute: lenientObject, hour: lenientObject, day: lenientObject });

/** Reads the use of rate windows, by names such as `api/v1/people` and `bulk_match`. Unknown formats are left out. */
export function readApiUsage(answer: HttpAnswer, endpoint: Endpoint) {
  const { data } = readAnswer(answer, endpoint, z.record(z.string(), z.unknown()));
  return Object.entries(data).flatMap(([key, value]) => {
    const [path, action] = operationKey.safeParse(readJson(Buffer.from(key))).data ?? [];
    const usage = operationUsage.safeParse(value);
    if (path === undefined || !usage.success) return [];
    const windows = rateHeaderWindows.flatMap(({ window: name, seconds }): RateWindow[] => {
      const used = usage.data[name];
      if (!used) return [];
      const { limit, consumed, left_over: left } = used;
      return [{ window: name, seconds, ...readWindowCounts({ limit, used: consumed, left }) }];
    });
    return [{ path, action, windows }];
  });
}

const creditUsage = z.looseObject({
  credit_usage_stats: z.record(z.string(), z.unknown()),
  current_credit_cycle: lenient(z.looseObject({ start_date: lenientText, end_date: lenientText })),
});

/** Reads the team's use of credits as exact decimals; undefined if unlimited or not reported. Pure. */
export function readCreditUsage(answer: HttpAnswer, endpoint: Endpoint) {
  const { data } = readAnswer(answer, endpoint, creditUsage);
  return {
    kinds: Object.entries(data.credit_usage_stats).map(([name, figures]) => {
      const figure = (member: string) => readCredits(memberOf(figures, member)).credits;
      return { name, limit: figure('limit'), consumed: figure('consumed'), left: figure('left_over') };
    }),
    cycle: {
      startDate: data.current_credit_cycle?.start_date ?? undefined,
      endDate: data.current_credit_cycle?.end_date ?? undefined,
    },
  };
}
