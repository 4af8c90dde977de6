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

export interface Bill {
  readonly calls: number;
  readonly refused: number;
  readonly people: number;
  readonly credits: string;
  /** People who were billed for more than once, with how often. */
  readonly billedAgain: Readonly<Record<string, number>>;
}

/**
 * Everything that the sandbox was asked and has billed: what tests hold the pipeline's own books against. A call is written
 * before it is answered, so that no bill is lost with a process.
 */
export class CallLog {
  readonly #file: string | undefined;
  #calls: LoggedCall[] = [];
  #sequence = 0;

  /** @param directory keeps the log over restarts; undefined: memory only */
  constructor(directory: string | undefined) {
    if (directory === undefined) return;
    mkdirSync(directory, { recursive: true });
    this.#file = join(directory, 'calls.ndjson');
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

  calls(since = 0): readonly LoggedCall[] {
    return this.#calls.filter((call) => call.sequence > since);
  }

  bill(): Bill {
    const times = new Map<string, number>();
    let millionths = 0;
    for (const call of this.#calls) {
      millionths += Math.round(Number(call.credits) * 1_000_000);
      for (const { personId } of call.billed) times.set(personId, (times.get(personId) ?? 0) + 1);
    }
    return {
      calls: this.#calls.length,
      refused: this.#calls.filter((call) => call.refused).length,
      people: [...times.values()].reduce((sum, count) => sum + count, 0),
      credits: String(millionths / 1_000_000),
      billedAgain: Object.fromEntries([...times].filter(([, count]) => count > 1)),
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
