import { expect, it } from 'vitest';
import { findInterrupted } from '../../../src/cli/run/describe/present-status.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 1 });

/** @param describe reads a workflow that has ended */
function sessionWith(describe: () => Promise<unknown>): Session {
  const pollers = [{ identity: 'worker', lastAccessTime: { seconds: Date.now() / 1_000 } }];
  const client = {
    options: { namespace: 'default' },
    workflow: { getHandle: () => ({ describe }) },
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
  };
  return {
    warehouse,
    config: { temporalAddress: 'temporal.example:7233' },
    stack: { temporal: {} },
    temporal: () => Promise.resolve(client),
  } as unknown as Session;
}

it.each([
  { what: 'says that a run has lost its workflow if the workflow has ended', endsNow: false },
  { what: 'says nothing of a run that has ended together with its workflow meanwhile', endsNow: true },
])('findInterrupted() $what', async ({ endsNow }) => {
  const { runId } = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, runId, 'running', undefined);
  const facts = await readRunFacts(warehouse, runId);
  const session = sessionWith(async () => {
    if (endsNow) await setRunStatus(warehouse, runId, 'finished', undefined);
    return { status: { name: 'COMPLETED' } };
  });
  const { reasons, lines } = await findInterrupted(session, [facts]);
  expect(reasons.get(runId)?.reason_type).toBe(endsNow ? undefined : 'workflow.ended');
  expect(lines).toHaveLength(endsNow ? 0 : 2);
});
