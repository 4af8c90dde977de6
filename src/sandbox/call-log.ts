import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One call as the service saw it. Credits are decimals as text. */
export interface LoggedCall {
  readonly sequence: number;
  /** Milliseconds since 1970, when the call arrived. */
  readonly at: number;
  readonly path: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly people: number;
  readonly credits: string;
  /** Refused for its rate (429). */
  readonly refused: boolean;
  readonly billed: readonly {
    readonly detail: number;
    readonly personId: string;
    readonly credits: string;
  }[];
}

/** A result that came after its answer, when it was billed. */
export interface LoggedLateResult {
  readonly at: number;
  readonly requestId: string;
  readonly kind: 'phones' | 'waterfall';
  readonly credits: string;
  readonly billed: readonly { readonly personId: string; readonly credits: string }[];
}

/** One try to deliver a result, and what the receiver answered (0: nobody there). */
export interface LoggedDelivery {
  readonly at: number;
  readonly requestId: string;
  readonly kind: 'phones' | 'waterfall';
  /** Of the result: two tries of one result have the same. */
  readonly number: number;
  readonly status: number;
}

export interface Bill {
  readonly calls: number;
  readonly refused: number;
  readonly people: number;
  /** Late results included. */
  readonly credits: string;
  /** Billed with results that came later. */
  readonly lateCredits: string;
  /** People who were billed for more than once, with how often; and the same for their late results. */
  readonly billedAgain: Readonly<Record<string, number>>;
  readonly lateBilledAgain: Readonly<Record<string, number>>;
}

/**
 * Everything that the sandbox was asked and has billed: what tests hold the pipeline's own books against. A call is written
 * before it is answered, so that no bill is lost with a process.
 */
export class CallLog {
  readonly #file: string | undefined;
  readonly #lateFile: string | undefined;
  #calls: LoggedCall[] = [];
  readonly #late: LoggedLateResult[] = [];
  readonly #deliveries: LoggedDelivery[] = [];
  #sequence = 0;

  /** @param directory keeps the log over restarts; undefined: memory only */
  constructor(directory: string | undefined) {
    if (directory === undefined) return;
    mkdirSync(directory, { recursive: true });
    this.#file = join(directory, 'calls.ndjson');
    this.#lateFile = join(directory, 'late-bills.ndjson');
    if (existsSync(this.#lateFile)) {
      for (const line of readFileSync(this.#lateFile, 'utf8').split('\n'))
        if (line.endsWith('}')) this.#late.push(JSON.parse(line) as LoggedLateResult);
    }
    if (!existsSync(this.#file)) return;
    for (const line of readFileSync(this.#file, 'utf8').split('\n')) {
      // A line that a kill cut off is a call that was never answered and never counted.
      if (line.endsWith('}')) this.#calls.push(JSON.parse(line) as LoggedCall);
    }
    this.#sequence = this.#calls.at(-1)?.sequence ?? 0;
  }

  add(call: Omit<LoggedCall, 'sequence'>): void {
    this.#sequence += 1;
    const logged = { sequence: this.#sequence, ...call };
    this.#calls.push(logged);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(logged)}\n`);
  }

  addLate(result: LoggedLateResult): void {
    this.#late.push(result);
    if (this.#lateFile !== undefined) appendFileSync(this.#lateFile, `${JSON.stringify(result)}\n`);
  }

  /** Kept in memory only: no bill depends on it. */
  addDelivery(delivery: LoggedDelivery): void {
    this.#deliveries.push(delivery);
  }

  lateResults(): readonly LoggedLateResult[] {
    return this.#late;
  }

  deliveries(): readonly LoggedDelivery[] {
    return this.#deliveries;
  }

  calls(since = 0): readonly LoggedCall[] {
    return this.#calls.filter((call) => call.sequence > since);
  }

  bill(): Bill {
    const calls = billOf(this.#calls);
    const late = billOf(this.#late);
    return {
      calls: this.#calls.length,
      refused: this.#calls.filter((call) => call.refused).length,
      people: calls.people,
      credits: String((calls.millionths + late.millionths) / 1_000_000),
      lateCredits: String(late.millionths / 1_000_000),
      billedAgain: calls.again,
      lateBilledAgain: late.again,
    };
  }

  /** The most calls to an endpoint that arrived within any trailing window of so many seconds, refused ones included. */
  busiest(seconds: number, path: string): number {
    const times = this.#calls
      .filter((call) => call.path === path)
      .map((call) => call.at)
      .sort((one, other) => one - other);
    let most = 0;
    let first = 0;
    for (const [last, at] of times.entries()) {
      while (times[first]! <= at - seconds * 1_000) first += 1;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }
}

function billOf(
  entries: readonly {
    readonly credits: string;
    readonly kind?: string;
    readonly billed: readonly { readonly personId: string }[];
  }[],
): { millionths: number; people: number; again: Record<string, number> } {
  const times = new Map<string, number>();
  let millionths = 0;
  for (const { credits, billed, kind } of entries) {
    millionths += Math.round(Number(credits) * 1_000_000);
    for (const { personId } of billed) {
      const key = kind === undefined ? personId : `${kind} ${personId}`;
      times.set(key, (times.get(key) ?? 0) + 1);
    }
  }
  return {
    millionths,
    people: [...times.values()].reduce((sum, count) => sum + count, 0),
    again: Object.fromEntries([...times].filter(([, count]) => count > 1)),
  };
}
