import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { canSucceedLater } from '../db/postgres-errors.ts';
import type { AdmissionLimits } from '../ledger/admit.ts';
import { restoreAdmission, type AdmittedCall } from '../ledger/restore-admission.ts';
import type { RunRecord } from '../runs/runs.ts';
import type { Logger } from '../telemetry/log.ts';
import type { OpenPerson } from './batches/open-people.ts';
import { untilDatabaseIsBack } from './until-database-is-back.ts';

export interface SentCall {
  readonly attemptId: string;
  readonly run: RunRecord;
  readonly people: readonly OpenPerson[];
  readonly admission: AdmittedCall;
  /** Number of changed connections before the admission. */
  readonly changedConnections: number;
}

interface AnsweredCall {
  readonly bytes: number;
  readonly answeredAt: number;
  /** @returns why the answer cannot be recorded; undefined: it is recorded */
  readonly recordAgain: () => Promise<unknown>;
}

/** How long the answers of a worker stay in its memory: longer than a replica usually lags behind. */
const keptMilliseconds = 120_000;
/** Of bodies. With what is read from them, 16.7 MB of bodies of the sandbox took 72 MB. */
const keptBytes = 16 * 1024 * 1024;
/** From a failover to the check, if no call follows. */
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
  #changed = 0;
  #checked = 0;
  #checking: Promise<void> | undefined;
  #isTimed = false;

  constructor(warehouse: Warehouse, limits: AdmissionLimits, log: Logger) {
    this.#warehouse = warehouse;
    this.#limits = limits;
    this.#log = log;
    // Only a new connection can lead to another server. The end of one comes earlier, but the pool does not report the
    // end of a connection that is lost without a word.
    const change = (): void => void (this.#changed += 1);
    warehouse.pool.on('connect', change).on('remove', change);
  }

  /** Number of connections that began or ended. */
  get changedConnections(): number {
    return this.#changed;
  }

  /**
   * Restores the admission of a call if the database has lost it. Asks only after a change of connections.
   *
   * @returns whether the admission was lost, so that its end must be written again
   */
  async restoreIfLost({ attemptId, admission, changedConnections }: SentCall): Promise<boolean> {
    if (this.#changed === changedConnections) return false;
    const isLost = await restoreAdmission(this.#warehouse, this.#limits, admission);
    if (isLost) this.#log.warn({ attemptId }, 'the database has lost a call, which is recorded again');
    return isLost;
  }

  /**
   * Keeps a call whose answer is recorded.
   *
   * @param bytes size of the answer
   */
  keep(attemptId: string, bytes: number, recordAgain: AnsweredCall['recordAgain']): void {
    this.#answered.set(attemptId, { bytes, answeredAt: performance.now(), recordAgain });
    this.#bytes += bytes;
    for (const oldest of this.#answered.keys()) {
      if (this.#bytes <= keptBytes) break;
      this.#forget(oldest);
    }
    this.#checkRegularly();
  }

  /** After a change of connections, records the kept calls again that the database lacks. Callers share a check. */
  async recordLost(): Promise<void> {
    while (this.#checked !== this.#changed)
      await (this.#checking ??= this.#recordMissing().finally(() => (this.#checking = undefined)));
  }

  /**
   * Checks for the last time, and forgets all calls.
   *
   * @param patienceMilliseconds how long to wait for the database while it is away
   */
  async close(patienceMilliseconds: number): Promise<void> {
    // The pool does not report a connection that is lost without a word, and no later check follows.
    this.#changed += 1;
    await untilDatabaseIsBack(() => this.recordLost(), patienceMilliseconds).catch((error: unknown) => {
      this.#log.error(
        { err: error, calls: this.#answered.size },
        'the last calls could not be checked for loss',
      );
    });
    for (const attemptId of this.#answered.keys()) this.#forget(attemptId);
  }

  /** Checks while answers are kept, also without a next call. */
  #checkRegularly(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(() => void this.#checkNow(), checkMilliseconds).unref();
  }

  async #checkNow(): Promise<void> {
    if (this.#warehouse.pool.ending) return;
    // A worker without connections notices no failover.
    if (this.#warehouse.pool.totalCount === 0) this.#changed += 1;
    // Answers stay while the database is away: a failover can take longer than they are kept.
    await this.recordLost().then(
      () => this.#forgetOld(),
      () => {},
    );
    this.#isTimed = false;
    if (this.#answered.size > 0) this.#checkRegularly();
  }

  async #recordMissing(): Promise<void> {
    const changed = this.#changed;
    const kept = [...this.#answered];
    if (kept.length > 0) {
      const ids = kept.map(([attemptId]) => attemptId);
      // A person may have released a call before its answer.
      const found = await sql<{ attempt_id: string }>`
        select attempt_id from attempts
        where attempt_id = any(${ids}::text[]) and (answered_at is not null or status in ('refused', 'released'))
      `.execute(this.#warehouse.database);
      const recorded = new Set(found.rows.map(({ attempt_id: attemptId }) => attemptId));
      for (const [attemptId, call] of kept)
        if (!recorded.has(attemptId)) await this.#recordAgain(attemptId, call);
    }
    this.#checked = changed;
  }

  /** Forgets a call that cannot be recorded: otherwise no other call of the worker could begin. */
  async #recordAgain(attemptId: string, { recordAgain }: AnsweredCall): Promise<void> {
    try {
      if ((await recordAgain()) === undefined) return;
    } catch (error) {
      if (canSucceedLater(error)) throw error;
      this.#log.error({ err: error, attemptId }, 'a lost call cannot be recorded again');
    }
    this.#forget(attemptId);
  }

  #forgetOld(): void {
    for (const [attemptId, { answeredAt }] of this.#answered)
      if (performance.now() - answeredAt >= keptMilliseconds) this.#forget(attemptId);
  }

  #forget(attemptId: string): void {
    this.#bytes -= this.#answered.get(attemptId)?.bytes ?? 0;
    this.#answered.delete(attemptId);
  }
}
