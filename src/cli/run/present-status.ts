import type { RunFacts, RunStatus } from '../../contract.ts';
import { othersPresent } from '../../dev/presence.ts';
import { embeddedDirectories } from '../../dev/stack.ts';
import { counted } from '../../domain/text/counted.ts';
import { Problem } from '../../domain/problem.ts';
import { hasCreditsAgain } from '../../runs/resolve-budget-exhaustion.ts';
import { reservedSlots } from '../../ledger/waiting-batches.ts';
import { getRun } from '../../runs/runs.ts';
import type { Session } from '../session/session.ts';

/** In these a run continues by itself, as long as a person works at it. */
const statusesOfWork: readonly string[] = [
  'ingesting',
  'planning',
  'running',
  'cancelling',
] satisfies RunStatus[];

/**
 * Says what to do about runs that should continue and have no worker: a command that was killed leaves its run as it
 * was, and so does a server whose workers are gone.
 *
 * @returns lines for a person; none where all is well
 */
export async function describeIdle(session: Session, runs: readonly RunFacts[]): Promise<string[]> {
  const waiting = runs.filter(({ status }) => statusesOfWork.includes(status));
  if (waiting.length === 0) return [];
  const { config } = session;
  if (config.temporalAddress === undefined) {
    const { workers } = embeddedDirectories(config.embedded.dataDirectory);
    if (othersPresent(workers).length > 0) return [];
    return waiting.flatMap(({ run_id: runId }) => [
      `  no worker for ${runId}: no command of this machine carries it out any more`,
      `  next: enrich resume ${runId}, or the same command again; both go on where it was left`,
    ]);
  }
  try {
    const { isWorkerThere } = await import('../../temporal/connection.ts');
    if (await isWorkerThere(await session.temporal())) return [];
    return [
      `  no worker for ${waiting.map(({ run_id: runId }) => runId).join(', ')}: no worker takes runs from ` +
        config.temporalAddress,
      '  next: start one with: enrich worker',
    ];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [`  whether somebody works at it is not known: ${error.message}`, `  next: ${error.next}`];
  }
}

/**
 * Says of a run that continues and makes no call that it lets others go first.
 *
 * @returns lines for a person; none where that is not so
 */
export async function describePreempted({ warehouse }: Session, facts: RunFacts): Promise<string[]> {
  if (facts.status !== 'running') return [];
  const { priority } = (await getRun(warehouse, facts.run_id)).options;
  const batches = await reservedSlots(warehouse.database, priority);
  if (batches === 0) return [];
  return [
    `  runs that go first have ${counted(batches, 'batch', 'batches')} waiting for a call: while the ` +
      'rate windows are full, this one makes none',
    `  next: nothing; or, to have it go before them: enrich priority ${facts.run_id} ad-hoc`,
  ];
}

/**
 * What `--json` says of a run, and of a pause for a budget what is true now: no person looks at it again before a
 * person resumes the run, where no worker is there.
 */
export async function withPresentReason(session: Session, facts: RunFacts): Promise<RunFacts> {
  if (facts.status !== 'paused') return facts;
  const { warehouse, config } = session;
  const run = await getRun(warehouse, facts.run_id);
  if (!(await hasCreditsAgain({ warehouse, budgets: config.budgets.perPeriod }, run))) return facts;
  return {
    ...facts,
    reason: 'a budget was empty, and has credits again: the run has not gone on yet',
    next: `enrich resume ${facts.run_id}`,
  };
}
