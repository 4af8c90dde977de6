import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryRule } from './scenario.ts';

export interface StoredResult {
  /** From 1. */
  readonly number: number;
  readonly requestId: string;
  readonly kind: 'phones' | 'waterfall';
  readonly url: string;
  /** JSON text. */
  readonly body: string;
  readonly readyAt: number;
  readonly billed: readonly { readonly personId: string; readonly credits: string }[];
  readonly credits: string;
  readonly rule: DeliveryRule;
  counted: boolean;
  delivered: boolean;
  tries: number;
}

type NewResult = Omit<StoredResult, 'number' | 'counted' | 'delivered' | 'tries'>;

/** Results that are still to be delivered or polled, over restarts where a directory is given. */
export class LateStore {
  readonly #file: string | undefined;
  readonly #results: StoredResult[] = [];

  constructor(directory: string | undefined) {
    if (directory === undefined) return;
    mkdirSync(directory, { recursive: true });
    this.#file = join(directory, 'late-results.ndjson');
    if (!existsSync(this.#file)) return;
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      if (!line.endsWith('}')) continue;
      const entry = JSON.parse(line) as
        StoredResult | { change: number; counted?: true; delivered?: boolean };
      if (!('change' in entry)) {
        this.#results.push(entry);
        continue;
      }
      const result = this.#results[entry.change - 1];
      if (!result) continue;
      if (entry.counted) result.counted = true;
      if (entry.delivered !== undefined) {
        result.delivered = entry.delivered;
        result.tries += 1;
      }
    }
  }

  results(): readonly StoredResult[] {
    return this.#results;
  }

  add(result: NewResult): StoredResult {
    const stored = {
      ...result,
      number: this.#results.length + 1,
      counted: false,
      delivered: false,
      tries: 0,
    };
    this.#results.push(stored);
    this.#write(stored);
    return stored;
  }

  /** Billed now. */
  count(result: StoredResult): void {
    result.counted = true;
    this.#write({ change: result.number, counted: true });
  }

  tried(result: StoredResult, delivered: boolean): void {
    result.tries += 1;
    result.delivered = delivered;
    this.#write({ change: result.number, delivered });
  }

  #write(entry: object): void {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
