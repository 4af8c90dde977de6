import { createHash } from 'node:crypto';
import type { Config } from '../config/settings.ts';
import { hostname } from 'node:os';

const parts = /^[^,]*(?:, settings (?<settings>[\w.-]+))?(?:, key (?<key>[\w.-]{1,64}))?$/;

/** What the name of a worker in Temporal says about the worker. */
export interface WorkerMarks {
  /** A mark of the settings that all workers must agree on; undefined: an older release. */
  readonly settings: string | undefined;
  /** The name of the key with which the worker encrypts; commands need the same key. */
  readonly key: string | undefined;
}

/**
 * A mark of the settings that all workers must agree on. It leaves out secrets: everybody who may read Temporal can
 * read the mark.
 */
export function markSettings(config: Config): string {
  const { rateLimits, budgets, freshness, lateResults, retention, webhook } = config;
  const { baseUrl, pollPath, callTimeoutSeconds } = config.service;
  const receiver = webhook.publicUrl && new URL(webhook.publicUrl).host;
  const kept = Object.entries(retention).toSorted();
  const shared = [baseUrl, pollPath, callTimeoutSeconds, rateLimits, budgets, freshness, lateResults, kept];
  const text = JSON.stringify([...shared, receiver], (_, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  );
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

export function workerIdentity({ settings, key }: WorkerMarks): string {
  return [
    `${process.pid}@${hostname()}`,
    ...(settings === undefined ? [] : [`settings ${settings}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
  ].join(', ');
}

export function marksOfWorker(identity: string): WorkerMarks {
  const { settings, key } = parts.exec(identity)?.groups ?? {};
  return { settings, key };
}
