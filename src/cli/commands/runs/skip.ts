import { Command, wholeNumber, jsonOption, type JsonFlag, reasonOption } from '../../terminal/command.ts';
import { counted, countedPeople } from '../../../domain/text/counted.ts';
import { Problem, UsageProblem } from '../../../domain/problem.ts';
import { skipPageAfterCalls } from '../../../runs/pages/skip-page.ts';
import type { RunRecord } from '../../../runs/runs.ts';
import { runToSteer, steeredRun } from '../../run/steer/run-to-steer.ts';
import { printFacts, tell } from '../../terminal/output.ts';
import { withSession, type Session } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';
import { isCommandPresent } from '../../run/describe/present-status.ts';
import { sendUpdate } from '../../run/steer/send-update.ts';
import { requireUnfinished } from '../../run/steer/stop-run.ts';

/** Time after CALL_TIMEOUT in which a worker records a call. A worker that takes longer has died. */
const slackSeconds = 30;

interface SkipOptions {
  readonly page: number;
  readonly reason: string;
}

export function skipCommand(): Command {
  return withSettings(new Command('skip'))
    .description('Skip a page of a run: its open people become "cancelled".')
    .argument('<run>', steeredRun.unfinished)
    .requiredOption(
      '--page <n>',
      'number of the page: about 1,000 people, in the order in which the run asks for them',
      wholeNumber(1),
    )
    .addOption(reasonOption('reason, kept with the outcome of its people', 'enrich skip'))
    .option(...jsonOption)
    .explain(`
Calls in flight are recorded first. The next run of the file asks for the skipped people.

Example:
  enrich skip latest --page 7 --reason "wrong region"`)
    .action(async (runId: string, options: SkipOptions & JsonFlag) => {
      const config = settingsOfExisting(options);
      const needs = { temporal: config.temporalAddress !== undefined, service: false };
      await withSession(config, needs, async (session) => {
        const run = await runToSteer(session.warehouse, runId, 'unfinished');
        requireUnfinished(run);
        requirePage(run, options.page);
        const { page, reason } = options;
        const steered = needs.temporal && (await sendUpdate(session, run.runId, 'skipPage', [page, reason]));
        const { people } = await skipHere(session, { runId: run.runId, page, reason });
        printFacts(
          options.json,
          { run_id: run.runId, page, people },
          `page ${page} of ${run.runId}: ${countedPeople(people)} will not be asked for`,
        );
        if (!steered && run.status === 'running') tell('the run continues with its other people');
      });
    });
}

/**
 * Skips the page in the tables. A run without a workflow needs this; after a workflow's own skip it changes nothing.
 * Waits for calls in flight only if there can be a worker that records them.
 */
async function skipHere(
  { warehouse, config }: Session,
  request: { runId: string; page: number; reason: string },
): Promise<{ people: number }> {
  const hasWorker = config.temporalAddress !== undefined || isCommandPresent(config);
  const seconds = hasWorker ? config.service.callTimeoutSeconds + slackSeconds : 0;
  const timeout = AbortSignal.timeout(seconds * 1_000);
  try {
    return await skipPageAfterCalls(warehouse, request, timeout);
  } catch (error) {
    if (!timeout.aborted) throw error;
    throw new Problem('page.in-flight', `page ${request.page} has calls in flight or calls left open`, {
      where: request.runId,
      next: `enrich resume ${request.runId} records them or marks them unknown; then skip the page again`,
      cause: error,
    });
  }
}

function requirePage({ runId, plan }: RunRecord, page: number): void {
  if (plan && page <= plan.pages) return;
  throw new UsageProblem(
    'page.unknown',
    plan ? `the run has ${counted(plan.pages, 'page')}` : 'the run has no plan yet, and no pages',
    { where: `${runId} --page ${page}`, next: 'enrich status shows the run' },
  );
}
