import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { restoreAdmission, type AdmittedCall } from '../ledger/restore-admission.ts';
import type { RunRecord } from '../runs/runs.ts';
import type { Logger } from '../telemetry/log.ts';
import type { OpenPerson } from './batches/open-people.ts';

/** A call that was admitted and sent. */
export interface SentCall {
  readonly attemptId: string;
  readonly run: RunRecord;
  readonly people: readonly OpenPerson[];
  readonly admission: AdmittedCall;
  /** Number of lost connections before the admission. */
  readonly lostConnections: number;
}

interface AnsweredCall {
  readonly bytes: number;
  readonly answeredAt: number;
  readonly recordAgain: () => Promise<unknown>;
}

/** How long the answers of a worker stay in its memory: longer than a replica usually lags behind. */
const keptMilliseconds = 120_000;
const keptBytes = 16 * 1024 * 1024;
/** From a lost connection to the check, if no call follows. */
const checkMilliseconds = 1_000;

/**
 * The last answered calls of a worker. After a failover to a replica that lagged behind, the database can lack calls
 * that it had committed: the worker records them again.
 */
export class SentCalls {
  readonly #warehouse: Warehouse;
  readonly #limits: AdmissionLimits;
  readonly #log: Logger;
  readonly #answered = new Map<string, AnsweredCall>();
  #bytes = 0;
  #lostConnections = 0;
  #checked = 0;
  #checking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(warehouse: Warehouse, limits: AdmissionLimits, log: Logger) {
    this.#warehouse = warehouse;
    this.#limits = limits;
    this.#log = log;
    // A server that ends closes all connections: no failover goes unnoticed.
    warehouse.pool.on('remove', () => {
      this.#lostConnections += 1;
      this.#checkSoon();
    });
  }

  get lostConnections(): number {
    return this.#lostConnections;
  }

  /** Restores the admission of a call if the database has lost it. Asks only after a lost connection. */
  async restoreIfLost({ attemptId, admission, lostConnections }: SentCall): Promise<void> {
    if (this.#lostConnections === lostConnections) return;
    if (await restoreAdmission(this.#warehouse, this.#limits, admission))
      this.#log.warn({ attemptId }, 'the database has lost a call, which is recorded again');
  }

  /**
   * Keeps a call whose answer is recorded.
   *
   * @param bytes size of the answer
   */
  keep({ attemptId }: SentCall, bytes: number, recordAgain: () => Promise<unknown>): void {
    this.#forget(attemptId);
    this.#answered.set(attemptId, { bytes, answeredAt: performance.now(), recordAgain });
    this.#bytes += bytes;
    for (const [oldest, { answeredAt }] of this.#answered) {
      if (this.#bytes <= keptBytes && performance.now() - answeredAt < keptMilliseconds) break;
      this.#forget(oldest);
    }
  }

  /** After a lost connection, records the kept calls again that the database lacks. All callers wait for one check. */
  async recordLost(): Promise<void> {
    while (this.#checking) await this.#checking;
    if (this.#checked === this.#lostConnections) return;
    this.#checking = this.#check().finally(() => (this.#checking = undefined));
    await this.#checking;
  }

  /** Checks without a next call, too, until the database answers. */
  #checkSoon(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#answered.size === 0 || this.#warehouse.pool.ending) return;
      this.recordLost().catch(() => this.#checkSoon());
    }, checkMilliseconds).unref();
  }

  async #check(): Promise<void> {
    const lostConnections = this.#lostConnections;
    const kept = [...this.#answered];
    if (kept.length > 0) {
      const ids = kept.map(([attemptId]) => attemptId);
      const found = await sql<{ attempt_id: string }>`
        select attempt_id from attempts where attempt_id = any(${ids}::text[]) and answered_at is not null
      `.execute(this.#warehouse.database);
      const recorded = new Set(found.rows.map(({ attempt_id: attemptId }) => attemptId));
      for (const [attemptId, { recordAgain }] of kept) if (!recorded.has(attemptId)) await recordAgain();
    }
    this.#checked = lostConnections;
  }

  #forget(attemptId: string): void {
    this.#bytes -= this.#answered.get(attemptId)?.bytes ?? 0;
    this.#answered.delete(attemptId);
  }
}
