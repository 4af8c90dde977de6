import { withoutFieldGroups } from '../../domain/late-results/delivery-kinds.ts';
import { markUnknown } from '../../ledger/close-attempt.ts';
import { registerBatches, refreshOpenPeople, rowsOfBatches, type OpenPerson } from './open-people.ts';
import { askedBy } from '../../runs/pages.ts';
import type { Asked } from '../../runs/planning/drop-rows.ts';
import { reopenUnknown } from '../../ledger/reopen-unknown-attempts.ts';
import { adoptService } from '../../runs/claims.ts';
import { getRun, type RunRecord } from '../../runs/runs.ts';
import type { AttemptDependencies } from '../attempt-call.ts';

/** A batch that an activity begins with, or continues with. */
export interface OpenBatch {
  /** Its options leave out what this batch does not need, such as fresh phones. Plans group people by these options. */
  readonly run: RunRecord;
  /** From 1 within the run. */
  readonly batch: number;
  /** Whether the run uses the service of this worker. */
  readonly isOurs: boolean;
  /** What the whole run asks for, by which people are fresh. */
  readonly asked: Asked;
  /** People without an outcome. Excludes people whom another call or run has answered in the meantime. */
  readonly people: OpenPerson[];
}

/**
 * Reads the open people of batches together and closes what an earlier execution left. Attempts without an end may have
 * been sent, so they become unknown, and their people are not sent again. These attempts keep their slots until their
 * deadlines, because a worker that only lost Temporal may still be sending them.
 *
 * @param batches numbers from 1 within the run
 * @returns the batches in the same order
 */
export async function openBatches(
  dependencies: AttemptDependencies,
  runId: string,
  batches: readonly number[],
): Promise<OpenBatch[]> {
  const { warehouse, log } = dependencies;
  const { database } = warehouse;
  const { service } = dependencies.limits;
  let run = await getRun(warehouse, runId);
  const isOurs = run.options.service === service || (await adoptService(warehouse, runId, service));
  if (run.options.service !== service) run = await getRun(warehouse, runId);
  // Registered first, so that calls of lower priority leave a slot free during the following steps.
  const { leftAttempts, hasSuppressions } = await registerBatches(database, { runId, batches });
  for (const attemptId of leftAttempts) {
    await markUnknown(warehouse, attemptId, 'the worker that made this call did not record its end');
    log.warn({ attemptId }, 'an earlier execution left a call without an end: the attempt is unknown');
  }
  await reopenUnknown(warehouse, run, rowsOfBatches({ runId, batches }));
  const asked = askedBy(run.options);
  const open = await refreshOpenPeople(database, { runId, batches }, asked, hasSuppressions);
  return batches.map((batch) => {
    const people = open.filter((person) => person.batch === batch);
    const options = withoutFieldGroups(run.options, people[0]?.leftOut ?? []);
    return { run: { ...run, options }, batch, isOurs, asked, people };
  });
}
