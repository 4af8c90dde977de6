import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LateResultsStatus } from '../../src/contract/run-facts.ts';
import { syncRunResults } from '../../src/late-results/sync-late-results.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { openTestWarehouse } from '../helpers/database/database.ts';
import { backlogOfPolls } from '../helpers/warehouse/late-calls.ts';
import { Stage } from '../helpers/temporal/play-run.ts';
import { ScriptedActivities, nothingAwaited } from '../helpers/temporal/scripted-activities.ts';
import { installSimulatedClock, setSimulatedClock } from '../helpers/database/simulated-clock.ts';
import { bundleWorkflows } from '../helpers/temporal/workflow-bundle.ts';
import type { TestWarehouse } from '../helpers/database/test-warehouse.ts';

/**
 * A soak in which a run awaits late results of 1,000 calls for a day, under 60 polls an hour: `npm run soak:late-day`.
 * `LATE_DAYS` plays more than one day.
 *
 * The workflow, the Temporal server, the ledger and the polls are the product's own. Timers fire at once, and the
 * database's clock is moved ahead by the time of each timer.
 */
let warehouse: TestWarehouse;
let stage: Stage;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
  const timers = fileURLToPath(new URL('./compressed-timers.ts', import.meta.url));
  const bundle = await bundleWorkflows({ workflowInterceptorModules: [timers] });
  stage = await Stage.open(bundle);
});

afterAll(async () => {
  await stage.close();
  await warehouse.close();
});

const pollAfterSeconds = 900;
const dayMilliseconds = 86_400_000;
const days = Number(process.env['LATE_DAYS'] ?? 1);

/** Scripted activities. Only the sync of late results is the product's own, in simulated time. */
class AwaitingRun extends ScriptedActivities {
  /** Simulated milliseconds since the first sync. */
  elapsed = 0;
  readonly perDay: { syncs: number; polls: number }[] = [];
  polls = 0;
  readonly #awaitingRunId: string;

  constructor(awaitingRunId: string) {
    super();
    this.#awaitingRunId = awaitingRunId;
  }

  override syncLateResults = async (_request: unknown, passed: number = 0): Promise<LateResultsStatus> => {
    if (this.syncs > 0) this.elapsed += passed;
    await setSimulatedClock(warehouse, this.elapsed / 1_000);
    this.syncs += 1;
    const day = Math.floor(this.elapsed / dayMilliseconds);
    if (day >= days) return nothingAwaited;
    const pollsBefore = this.polls;
    const status = await syncRunResults(this.#settings(), this.#awaitingRunId, AbortSignal.timeout(120_000));
    const figures = (this.perDay[day] ??= { syncs: 0, polls: 0 });
    figures.syncs += 1;
    figures.polls += this.polls - pollsBefore;
    return status;
  };

  #settings(): Parameters<typeof syncRunResults>[0] {
    const poll = async (): Promise<object> => {
      Context.current().heartbeat();
      this.polls += 1;
      return { state: 'pending', retryAfterSeconds: undefined, rateLimits: [] };
    };
    return {
      warehouse,
      service: 'test',
      client: { poll } as unknown as ServiceClient,
      rateLimits: [{ calls: 60, seconds: 3_600 }],
      callTimeoutSeconds: 5,
      pollAfterSeconds,
    };
  }
}

/**
 * Returns the number of events of each execution of a workflow that continued as new, and how the last execution ended.
 */
async function historiesOf(handle: WorkflowHandle): Promise<{ events: number[]; ended: string }> {
  const { events: last } = await handle.fetchHistory();
  const events: number[] = [];
  let runId = last?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId;
  while (runId) {
    const execution = stage.temporal.client.workflow.getHandle(handle.workflowId, runId);
    const history: Awaited<ReturnType<typeof handle.fetchHistory>> = await execution.fetchHistory();
    events.push(history.events?.length ?? 0);
    const end = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    runId = end?.newExecutionRunId;
  }
  return { events, ended: (await handle.describe()).status.name };
}

it(
  `${days * 24} hours of polling for 1,000 calls at 60 polls an hour need less than one sync a minute`,
  { timeout: 1_200_000 },
  async () => {
    await installSimulatedClock(warehouse);
    const { runId } = await backlogOfPolls(warehouse, 1_000);
    await warehouse.query`update attempts set awaited_until = clock_timestamp() + interval '30 days'`;
    const activities = new AwaitingRun(runId);
    let histories: Awaited<ReturnType<typeof historiesOf>> | undefined;
    await stage.play(
      activities,
      async (handle) => {
        await handle.result();
        histories = await historiesOf(handle);
      },
      { lateResults: { pollAfterSeconds } },
    );
    const { events, ended } = histories!;
    console.info(
      `${JSON.stringify(activities.perDay)}, ${events.join(' + ')} events, ${events.length - 1} times ` +
        `continued as new, ${ended}`,
    );
    expect(activities.perDay).toHaveLength(days);
    for (const { syncs, polls } of activities.perDay) {
      expect(syncs).toBeLessThan(24 * 60);
      expect(polls).toBeLessThanOrEqual(60 * 25);
    }
    expect(activities.polls).toBeGreaterThan(0.9 * 60 * 24 * days);
    expect(ended).toBe('COMPLETED');
    // Temporal terminates a workflow at 51,200 events.
    for (const number of events) expect(number).toBeLessThan(10_000);
  },
);
