import { expect, it } from 'vitest';
import { correctedFacts } from '../../../src/cli/run/run-status.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import type { RunStatus } from '../../../src/contract/run-transitions.ts';
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

/** What a command says about a run whose workflow has ended. @param then changes the run before its workflow is read */
async function saidOf(status: RunStatus, then?: RunStatus) {
  const { runId } = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, runId, status, undefined);
  const session = sessionWith(async () => {
    if (then) await setRunStatus(warehouse, runId, then, undefined);
    return { status: { name: 'TERMINATED' } };
  });
  return { runId, ...(await correctedFacts(session, await readRunFacts(warehouse, runId))) };
}

it.each([
  ['running', 'resume'],
  ['cancelling', 'cancel'],
] as const)(
  'correctedFacts() names the next step of a run that has lost its workflow: %s',
  async (stored, command) => {
    const { runId, facts, status } = await saidOf(stored);
    expect(status).toBe('interrupted');
    expect(facts).toMatchObject({ reason_type: 'workflow.ended', next: `enrich ${command} ${runId}` });
  },
);
