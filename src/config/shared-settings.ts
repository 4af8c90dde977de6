import { createHash } from 'node:crypto';
import type { Config } from './settings.ts';
import type { Setting } from './settings-schema.ts';

/**
 * Settings that all workers of a deployment must agree on. Only settings whose values are no secrets: everybody who may
 * read Temporal can read their marks. The order is part of the marks, so a new setting is the last one.
 */
const sharedSettings: readonly (readonly [Setting, (config: Config) => unknown])[] = [
  ['ENRICHMENT_BASE_URL', ({ service }) => service.baseUrl],
  ['RATE_LIMITS', ({ rateLimits }) => rateLimits],
  ['MAX_CREDITS_PER_RUN', ({ budgets }) => budgets.perRun],
  ['MAX_CREDITS_PER_DAY', ({ budgets }) => budgets.perPeriod.day],
  ['MAX_CREDITS_PER_MONTH', ({ budgets }) => budgets.perPeriod.month],
  ['FRESHNESS', ({ freshness }) => freshness],
  ['RETENTION', ({ retention }) => Object.entries(retention).toSorted()],
  ['WEBHOOK_PUBLIC_URL', ({ webhook }) => webhook.publicUrl && withoutLogin(webhook.publicUrl)],
  ['CALL_TIMEOUT', ({ service }) => service.callTimeoutSeconds],
  ['LATE_RESULTS_POLL_AFTER', ({ lateResults }) => lateResults.pollAfterSeconds],
  ['LATE_RESULTS_DEADLINE', ({ lateResults }) => lateResults.deadlineSeconds],
  ['POLL_PATH', ({ service }) => service.pollPath],
];

/** The mark of a setting without a value. */
const unset = '-';

/** A short mark for the value of each shared setting, such as `-.q3Zk.…`: equal values have equal marks. */
export function markSettings(config: Config): string {
  return sharedSettings
    .map(([, read]) => read(config))
    .map((value) => (value === undefined ? unset : markOf(value)))
    .join('.');
}

/**
 * Names the settings in which processes differ. A setting that only one release of the product marks is not compared.
 *
 * @param isComplete false: a process may lack settings that others have
 */
export function differingSettings(marks: readonly string[], isComplete = true): Setting[] {
  const processes = marks.map((each) => each.split('.'));
  return sharedSettings.flatMap(([name], index) => {
    const values = processes.map((process) => process[index]);
    const counted = values.filter((value) => value !== undefined && (isComplete || value !== unset));
    return new Set(counted).size > 1 ? [name] : [];
  });
}

function markOf(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
  return createHash('sha256').update(text).digest('base64url').slice(0, 4);
}

function withoutLogin(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}
