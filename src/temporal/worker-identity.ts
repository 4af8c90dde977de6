import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '../config/settings.ts';

/** Hashes the settings that all workers must share, without secrets: users of Temporal can read the hash. */
export function hashSharedSettings(config: Config, keyName: string | undefined): string {
  const { rateLimits, budgets, freshness, lateResults, retention, webhook } = config;
  const { baseUrl, pollPath, callTimeoutSeconds } = config.service;
  const receiver = webhook.publicUrl && new URL(webhook.publicUrl).host;
  const kept = Object.entries(retention).toSorted();
  const shared = [baseUrl, pollPath, callTimeoutSeconds, rateLimits, budgets, freshness, lateResults, kept];
  const text = JSON.stringify([...shared, receiver, keyName], (_, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  );
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Names a worker in Temporal: `1234@host, settings …`. @param mark hash of the shared settings */
export function workerIdentity(mark: string): string {
  return `${process.pid}@${hostname()}, settings ${mark}`;
}

/** Reads the hash from the name of a worker. Undefined if another program named the worker. */
export function settingsHashOfWorker(identity: string): string | undefined {
  return /, settings ([\w-]+)$/.exec(identity)?.[1];
}
