import type { DeliveryKind } from '../late-results/late-parameters.ts';
import { EntryFile } from '../server/entry-file.ts';

/** One call as the service received it. Credits are decimals as text. */
export interface LoggedCall {
  /** Number of the call among all calls, from 1. */
  readonly sequence: number;
  /** Time of arrival in milliseconds since 1970, by this machine's clock. */
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

/** A late result at the time of its bill. */
export interface LoggedLateResult {
  readonly at: number;
  readonly requestId: string;
  readonly kind: DeliveryKind;
  readonly credits: string;
  readonly billed: readonly { readonly personId: string; readonly credits: string }[];
}

/** One try of a delivery, with the receiver's status (0: no connection). */
export interface LoggedDelivery {
  readonly at: number;
  readonly requestId: string;
  readonly kind: DeliveryKind;
  /** Number of the result, equal for all its tries. */
  readonly number: number;
  readonly status: number;
}

/** Calls and credits of the sandbox since its log began. */
interface Bill {
  /** Calls that rate windows count. */
  readonly calls: number;
  readonly refused: number;
  readonly people: number;
  /** Late results included. */
  readonly credits: string;
  readonly latePeople: number;
  /** Billed with late results. */
  readonly lateCredits: string;
  /** People billed more than once, with the number of times; for calls and for late results. */
  readonly billedAgain: Readonly<Record<string, number>>;
  readonly lateBilledAgain: Readonly<Record<string, number>>;
  /** The first call with kept details, which `billedAgain` and the log cover. 1 is everything. */
  readonly detailsFrom: number;
  /**
   * Free calls that no window counts, by status and path: health, profile, users, usage, and calls that the
   * credential does not allow.
   */
  readonly otherCalls: Readonly<Record<string, number>>;
}

/** A kept call. The billed people are one text, because objects take five times the memory. */
interface KeptCall extends Omit<LoggedCall, 'billed'> {
  readonly billed: string;
}

/** Enough for a million people in calls of ten, in about 60 MB. */
const defaultKept = 100_000;

/**
 * All calls and bills of the sandbox, with which tests compare the pipeline's figures. A call is logged
 * before its answer, so that a killed process loses no bill. Sums cover all calls; details are kept of the
 * last.
 */
export class CallLog {
  readonly #callFile: EntryFile<LoggedCall>;
  readonly #lateFile: EntryFile<LoggedLateResult>;
  readonly #calls: RecentEntries<KeptCall>;
  readonly #late: RecentEntries<LoggedLateResult>;
  readonly #deliveries: RecentEntries<LoggedDelivery>;
  readonly #others = new Map<string, number>();
  #refused = 0;
  #people = 0;
  #latePeople = 0;
  #millionths = 0;
  #lateMillionths = 0;

  /**
   * @param directory keeps the log across restarts; undefined: memory only
   * @param kept number of calls, of late results and of deliveries whose details stay in memory
   */
  constructor(directory: string | undefined, kept = defaultKept) {
    this.#calls = new RecentEntries(kept);
    this.#late = new RecentEntries(kept);
    this.#deliveries = new RecentEntries(kept);
    this.#callFile = new EntryFile(directory, 'calls.ndjson');
    this.#lateFile = new EntryFile(directory, 'late-bills.ndjson');
    for (const call of this.#callFile.read()) this.#remember(call);
    for (const late of this.#lateFile.read()) this.#rememberLate(late);
  }

  add(call: Omit<LoggedCall, 'sequence'>): void {
    const logged = { sequence: this.#calls.total + 1, ...call };
    this.#remember(logged);
    this.#callFile.append(logged);
  }

  addLate(result: LoggedLateResult): void {
    this.#rememberLate(result);
    this.#lateFile.append(result);
  }

  /** Logs a delivery, in memory only, because bills do not depend on it. */
  addDelivery(delivery: LoggedDelivery): void {
    this.#deliveries.add(delivery);
  }

  /** Counts a free call that no rate window counts. */
  countOther(status: number, path: string): void {
    const name = `${status} ${path}`;
    this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
  }

  lateResults(): readonly LoggedLateResult[] {
    return this.#late.since(0);
  }

  deliveries(): readonly LoggedDelivery[] {
    return this.#deliveries.since(0);
  }

  /** The calls after a sequence number, as far as their details are kept. */
  calls(since = 0): readonly LoggedCall[] {
    return this.#calls.since(since).map((call) => ({ ...call, billed: readBilled(call.billed) }));
  }

  /** Total billed credits, late results included. */
  credits(): number {
    return (this.#millionths + this.#lateMillionths) / 1_000_000;
  }

  bill(): Bill {
    const calls = this.#calls.since(0);
    return {
      calls: this.#calls.total,
      refused: this.#refused,
      people: this.#people,
      credits: String(this.credits()),
      latePeople: this.#latePeople,
      lateCredits: String(this.#lateMillionths / 1_000_000),
      billedAgain: repeatedly(
        calls.flatMap((call) => readBilled(call.billed).map(({ personId }) => personId)),
      ),
      lateBilledAgain: repeatedly(
        this.#late
          .since(0)
          .flatMap(({ kind, billed }) => billed.map(({ personId }) => `${kind} ${personId}`)),
      ),
      detailsFrom: this.#calls.total - calls.length + 1,
      otherCalls: Object.fromEntries(this.#others),
    };
  }

  /**
   * The maximum number of calls to an endpoint in a trailing window, refused calls included.
   *
   * @param seconds length of the window
   */
  busiest(seconds: number, path: string): number {
    const times = this.#calls
      .since(0)
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

  #remember(call: LoggedCall): void {
    this.#calls.add({ ...call, billed: writeBilled(call.billed) });
    if (call.refused) this.#refused += 1;
    this.#people += call.billed.length;
    this.#millionths += inMillionths(call.credits);
  }

  #rememberLate(result: LoggedLateResult): void {
    this.#late.add(result);
    this.#latePeople += result.billed.length;
    this.#lateMillionths += inMillionths(result.credits);
  }
}

function inMillionths(credits: string): number {
  return Math.round(Number(credits) * 1_000_000);
}

function writeBilled(billed: LoggedCall['billed']): string {
  return billed.map(({ detail, personId, credits }) => `${detail} ${personId} ${credits}`).join(',');
}

function readBilled(text: string): LoggedCall['billed'] {
  if (text === '') return [];
  return text.split(',').map((each) => {
    const [detail = '', personId = '', credits = ''] = each.split(' ');
    return { detail: Number(detail), personId, credits };
  });
}

/** Repeated names with the number of times. */
function repeatedly(names: readonly string[]): Record<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return Object.fromEntries([...times].filter(([, count]) => count > 1));
}

/** A list that drops its oldest entries beyond a number and counts all entries. */
class RecentEntries<Entry> {
  readonly #kept: number;
  #entries: Entry[] = [];
  #total = 0;

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** Number of entries ever added. */
  get total(): number {
    return this.#total;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#total += 1;
    // Drops a quarter at a time, because moving the rest for every entry is slow.
    if (this.#entries.length > this.#kept * 1.25) this.#entries = this.#entries.slice(-this.#kept);
  }

  /** The kept entries after the first `count` ever added. */
  since(count: number): readonly Entry[] {
    return this.#entries.slice(Math.max(0, count - (this.#total - this.#entries.length)));
  }
}
