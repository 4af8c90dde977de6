import type { BatchRequest } from '../contract.ts';
import { withoutFieldGroups } from '../domain/late-results/awaited-results.ts';
import { registerWaitingBatch, type ReadyBatch } from '../ledger/waiting-batches.ts';
import { markUnknown } from '../ledger/close-attempt.ts';
import { readLeftAttempts, readOpenPeople, type OpenPerson } from './open-people.ts';
import { askedBy, dropOvertakenRows } from '../runs/pages.ts';
import { reopenBatch } from '../ledger/reopen-unknown-attempts.ts';
import { adoptService, getRun, type RunRecord } from '../runs/runs.ts';
import type { AttemptDependencies } from './attempt-call.ts';

/** A batch that an activity begins with, or continues with. */
export interface OpenBatch {
  /** Its options leave out what is not asked for about the people of this batch, such as phones that are fresh. */
  readonly run: RunRecord;
  /** Whether the run is for the service that this worker asks. */
  readonly isOurs: boolean;
  /** What other workers know it by while it waits. */
  readonly ready: ReadyBatch;
  /** People without an outcome. Excludes people whom another call or run has answered in the meantime. */
  readonly people: OpenPerson[];
}

/**
 * Reads what of a batch is still to be asked for, and settles what an execution before this one left: its calls that have no end
 * may have been sent, so they become unknown, and their people are not asked for again. They keep their slots in the rate windows
 * until their deadline: a worker that only lost Temporal may still be sending them.
 */
export async function takeUpBatch(
  dependencies: AttemptDependencies,
  { runId, batch }: BatchRequest,
): Promise<OpenBatch> {
  const { warehouse, log } = dependencies;
  const { database } = warehouse;
  const { service } = dependencies.limits;
  let run = await getRun(warehouse, runId);
  const isOurs = run.options.service === service || (await adoptService(warehouse, runId, service));
  if (run.options.service !== service) run = await getRun(warehouse, runId);
  const ready = { runId, batch, priority: run.options.priority };
  // First: the rest takes its time, in which calls that go after this batch would use up what is free.
  await registerWaitingBatch(database, ready);
  for (const attemptId of await readLeftAttempts(database, runId, batch)) {
    await markUnknown(warehouse, attemptId, 'the worker that made this call did not record its end');
    log.warn({ attemptId }, 'a call was left without an end: it is unknown');
  }
  if (run.options.onUnknown === 'retry') await reopenBatch(warehouse, runId, batch);
  await dropOvertakenRows(warehouse, runId, batch, askedBy(run.options));
  const people = await readOpenPeople(database, runId, batch);
  const options = withoutFieldGroups(run.options, people[0]?.leftOut ?? []);
  return { run: { ...run, options }, isOurs, ready, people };
}
