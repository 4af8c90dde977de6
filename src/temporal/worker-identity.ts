import { hostname } from 'node:os';

const parts = /^[^,]*(?:, settings (?<settings>[\w.-]+))?(?:, key (?<key>[\w.-]{1,64}))?$/;

/** What the name of a worker in Temporal says about the worker. */
export interface WorkerMarks {
  /** Marks of the settings that all workers must agree on; undefined: a worker of an older release. */
  readonly settings: string | undefined;
  /** The name of the key with which the worker encrypts; commands need the same key. Undefined: none. */
  readonly key: string | undefined;
}

/** The name of a worker in Temporal: `1234@host, settings …, key …`. */
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
