import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryKind, DeliveryRule } from './faults.ts';

interface BilledPerson {
  readonly personId: string;
  readonly credits: string;
}

export interface LoggedCall {
  readonly sequence: number;
  /** Time of arrival in milliseconds since 1970, by this machine's clock. */
  readonly at: number;
  readonly path: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly people: number;
  readonly credits: string;
  readonly billed: readonly BilledPerson[];
}

export interface LateResult {
  readonly number: number;
  readonly requestId: string;
  readonly kind: DeliveryKind;
  readonly url: string;
  readonly body: string;
  readonly readyAt: number;
  readonly credits: string;
  readonly billed: readonly BilledPerson[];
  readonly rule: DeliveryRule;
  /** Null until the result is ready. */
  billedAt: number | null;
  delivered: boolean;
  tries: number;
}

export interface LoggedDelivery {
  readonly at: number;
  readonly requestId: string;
  readonly kind: DeliveryKind;
  readonly number: number;
  /** HTTP status of the receiver. 0 means no answer. */
  readonly status: number;
}

type NewResult = Omit<LateResult, 'number' | 'billedAt' | 'delivered' | 'tries'>;

/** A line of the file. `billed` and `tried` have the number of a late result. */
type Entry =
  | { readonly call: LoggedCall }
  | { readonly result: LateResult }
  | { readonly billed: number; readonly at: number }
  | { readonly tried: number; readonly delivered: boolean };

/** Stores calls and results in a file. A call is stored before its answer, so that a killed process loses no bill. */
export class Store {
  readonly #file: string | undefined;
  readonly #calls: LoggedCall[] = [];
  readonly #results: LateResult[] = [];
  readonly #resultsOfRequest = new Map<string, LateResult[]>();
  readonly #deliveries: LoggedDelivery[] = [];
  /** Billed credits in millionths, whose sums are exact: for calls, and for late results. */
  #millionths = 0;
  #lateMillionths = 0;

  constructor(directory?: string) {
    if (directory === undefined) return;
    mkdirSync(directory, { recursive: true });
    this.#file = join(directory, 'log.ndjson');
    if (!existsSync(this.#file)) return;
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    // A kill or a full disk can cut off the last line.
    if (lines.at(-1) !== '') appendFileSync(this.#file, '\n');
    for (const line of lines) {
      const entry = parseJson(line);
      if (entry !== undefined) this.#remember(entry as Entry);
    }
  }

  addCall(call: Omit<LoggedCall, 'sequence'>): void {
    this.#add({ call: { sequence: this.#calls.length + 1, ...call } });
  }

  addResult(result: NewResult): LateResult {
    const number = this.#results.length + 1;
    const stored = { ...result, number, billedAt: null, delivered: false, tries: 0 };
    this.#add({ result: stored });
    return stored;
  }

  billResult(result: LateResult): void {
    if (result.billedAt === null) this.#add({ billed: result.number, at: Date.now() });
  }

  addTry(result: LateResult, delivered: boolean): void {
    this.#add({ tried: result.number, delivered });
  }

  /** Logs a delivery only in memory, because no bill depends on it. */
  addDelivery(delivery: LoggedDelivery): void {
    this.#deliveries.push(delivery);
  }

  calls(since = 0): readonly LoggedCall[] {
    return this.#calls.slice(since);
  }

  lateResults(): readonly LateResult[] {
    return this.#results;
  }

  lateResultsOf(requestId: string): readonly LateResult[] {
    return this.#resultsOfRequest.get(requestId) ?? [];
  }

  deliveries(): readonly LoggedDelivery[] {
    return this.#deliveries;
  }

  credits(): number {
    return (this.#millionths + this.#lateMillionths) / 1_000_000;
  }

  bill() {
    const people = this.#calls.flatMap(({ billed }) => billed.map(({ personId }) => personId));
    const times = new Map<string, number>();
    for (const person of people) times.set(person, (times.get(person) ?? 0) + 1);
    return {
      calls: this.#calls.length,
      refused: this.#calls.filter(({ status }) => status === 429).length,
      people: people.length,
      credits: String(this.credits()),
      lateCredits: String(this.#lateMillionths / 1_000_000),
      billedAgain: Object.fromEntries([...times].filter(([, count]) => count > 1)),
    };
  }

  #add(entry: Entry): void {
    this.#remember(entry);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  /** Applies an entry, which is new or read from the file. */
  #remember(entry: Entry): void {
    if ('call' in entry) {
      this.#calls.push(entry.call);
      this.#millionths += inMillionths(entry.call.credits);
    } else if ('result' in entry) {
      const { requestId } = entry.result;
      this.#results.push(entry.result);
      this.#resultsOfRequest.set(requestId, [...this.lateResultsOf(requestId), entry.result]);
    } else if ('billed' in entry) {
      const result = this.#results[entry.billed - 1]!;
      result.billedAt = entry.at;
      this.#lateMillionths += inMillionths(result.credits);
    } else {
      const result = this.#results[entry.tried - 1]!;
      result.delivered = entry.delivered;
      result.tries += 1;
    }
  }
}

function inMillionths(credits: string): number {
  return Math.round(Number(credits) * 1_000_000);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
