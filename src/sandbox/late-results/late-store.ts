import type { DeliveryRule } from '../faults/scenario.ts';
import { EntryFile } from '../server/entry-file.ts';
import type { DeliveryKind } from './late-parameters.ts';

export interface StoredResult {
  /** From 1. */
  readonly number: number;
  readonly requestId: string;
  readonly kind: DeliveryKind;
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
type Change = { readonly change: number; readonly counted?: true; readonly delivered?: boolean };

/**
 * Late results for deliveries and polls; kept across restarts if there is a directory. Only the last
 * delivered results are kept in memory, so polls for older ones find nothing.
 */
export class LateStore {
  readonly #file: EntryFile<StoredResult | Change>;
  readonly #kept: number;
  readonly #results = new Map<number, StoredResult>();
  readonly #ofRequest = new Map<string, StoredResult[]>();
  /** Numbers of delivered results, oldest first. */
  readonly #delivered = new Set<number>();
  #made = 0;

  /** @param kept number of delivered results that polls can find */
  constructor(directory: string | undefined, kept = 50_000) {
    this.#kept = kept;
    this.#file = new EntryFile(directory, 'late-results.ndjson');
    for (const entry of this.#file.read()) {
      if ('change' in entry) this.#change(entry);
      else this.#remember(entry);
    }
  }

  /** All kept results, oldest first. */
  results(): readonly StoredResult[] {
    return [...this.#results.values()];
  }

  undelivered(): readonly StoredResult[] {
    return this.results().filter((result) => !result.delivered);
  }

  ofRequest(requestId: string): readonly StoredResult[] {
    return this.#ofRequest.get(requestId) ?? [];
  }

  add(result: NewResult): StoredResult {
    const stored = { ...result, number: this.#made + 1, counted: false, delivered: false, tries: 0 };
    this.#remember(stored);
    this.#file.append(stored);
    return stored;
  }

  /** Marks a result as billed. */
  count(result: StoredResult): void {
    this.#note({ change: result.number, counted: true });
  }

  tried(result: StoredResult, delivered: boolean): void {
    this.#note({ change: result.number, delivered });
  }

  #note(change: Change): void {
    this.#change(change);
    this.#file.append(change);
  }

  #remember(result: StoredResult): void {
    this.#made = result.number;
    this.#results.set(result.number, result);
    this.#ofRequest.set(result.requestId, [...this.ofRequest(result.requestId), result]);
  }

  #change({ change, counted, delivered }: Change): void {
    const result = this.#results.get(change);
    if (!result) return;
    if (counted) result.counted = true;
    if (delivered === undefined) return;
    result.delivered = delivered;
    result.tries += 1;
    if (delivered) this.#delivered.add(change);
    if (this.#delivered.size > this.#kept) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [number] = this.#delivered;
    const result = number === undefined ? undefined : this.#results.get(number);
    if (!result) return;
    this.#delivered.delete(result.number);
    this.#results.delete(result.number);
    const rest = this.ofRequest(result.requestId).filter((each) => each !== result);
    if (rest.length > 0) this.#ofRequest.set(result.requestId, rest);
    else this.#ofRequest.delete(result.requestId);
  }
}
