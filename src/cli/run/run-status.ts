import { serviceName } from '../../config/settings.ts';
import { peoplePerCall } from '../../domain/runs/batching.ts';
import type { PauseReason } from '../../contract/pause-reasons.ts';
import { figureRows } from '../../contract/figure-rows.ts';
import type { RunFacts, RunUndo } from '../../contract/run-facts.ts';
import { isInProgress, statusText } from '../../contract/run-transitions.ts';
import { importerNames, importers } from '../../domain/crm/crm.ts';
import { exitCodes } from '../../domain/problem.ts';
import { estimateSeconds, parseRateLimits } from '../../domain/rates/rate-limit.ts';
import { describeServiceOfRun } from '../../domain/runs/run-options.ts';
import { formatCount, formatMinute } from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { selectedContactCondition } from '../../export/contact-choice.ts';
import { readLateResultsStatus } from '../../late-results/sync-late-results.ts';
import { bulkMatchScope, countFreeSlots, readRateWindows } from '../../ledger/rate-windows.ts';
import { neededDecisions, readRunSpending, type RunSpending } from '../../runs/read-run-facts.ts';
import { findEarlierRunWithCalls, getRun, type RunRecord } from '../../runs/runs.ts';
import { readTaskFailure, readWorkflowEnd } from '../../temporal/failing-workflow.ts';
import { findLostWorker } from '../session/live-workers.ts';
import type { Session } from '../session/session.ts';
import { print, printFacts, formatTable, printProgress, terminalWidth } from '../terminal/output.ts';
import { noRowsMessage, rounded } from './describe-plan.ts';

export const runArgumentHelp =
  'id of a run, as enrich status shows it, its last six characters, or latest: the newest run';

/** Finds a run by its id, its last six characters, or `latest`. */
export async function findNamedRun({ warehouse }: Session, name: string): Promise<RunRecord> {
  const run = await getRun(warehouse, name);
  if (name === 'latest') printProgress(`latest is ${run.runId} (${run.fileName}): ${statusText(run.status)}`);
  return run;
}

export interface RunView {
  readonly facts: RunFacts;
  /** Status of the run as commands show it; `interrupted` if the run should continue but no worker carries it out. */
  readonly status: string;
  readonly notes: readonly string[];
}

/** Reads what commands show of a run: its facts, corrected by the state of Temporal and of this machine, and notes. */
export async function readRunView(session: Session, facts: RunFacts): Promise<RunView> {
  const shown = await correctedFacts(session, facts);
  if (shown.status !== facts.status) return { ...shown, notes: [] };
  const missingCallsNotice = await describeMissingCalls(session, facts);
  const notes = await describeWait(session, facts);
  return {
    ...shown,
    notes: missingCallsNotice === undefined ? notes : [...notes, `  ${missingCallsNotice}`],
  };
}

/** Names the last run with calls after a run without one: the operator often looks for the run that has paid. */
export async function describeMissingCalls(
  { warehouse }: Pick<Session, 'warehouse'>,
  { run_id: runId, status, calls }: RunFacts,
): Promise<string | undefined> {
  if (status !== 'finished' || calls > 0) return undefined;
  const earlier = await findEarlierRunWithCalls(warehouse, runId);
  return earlier && `this run made no call; the last run with calls is ${shortRunId(earlier)}`;
}

/** Corrects the stored facts of a run without a worker or workflow; its status is then `interrupted`. */
export async function correctedFacts(session: Session, facts: RunFacts) {
  const present = await currentReason(session, facts);
  if (present === undefined) return { facts, status: facts.status };
  const isInterrupted = present.reason_type !== facts.reason_type && present.reason_type !== null;
  return { facts: { ...facts, ...present }, status: isInterrupted ? 'interrupted' : facts.status };
}

/**
 * Prints the end of a run and sets the exit code. Contacts are personal data, so only a terminal shows them, or the
 * demo (`commandsOfDemo`), because its people are invented.
 */
export async function printRunEnd(
  session: Session,
  facts: RunFacts,
  json = false,
  commandsOfDemo?: readonly string[],
): Promise<void> {
  if (!json && (process.stdout.isTTY || commandsOfDemo)) await showContacts(session, facts.run_id);
  const view = await readRunView(session, facts);
  printRun(view, json, commandsOfDemo);
  process.exitCode = exitCodeOfRun(view.facts);
}

/** Prints three people whom the run has enriched, preferably with a phone and an e-mail. */
async function showContacts({ warehouse }: Session, runId: string): Promise<void> {
  const { rows } = await warehouse.pool.query<(string | null)[]>({
    rowMode: 'array',
    text: `
      select concat_ws(' ', first_name, last_name), title, organization_name, email, phone
      from (
        select distinct on (person_key) * from (
          select * from enriched_contacts c where ${selectedContactCondition({ runId })} order by row_number limit 100
        ) contacts
        order by person_key, row_number
      ) people
      order by phone is null, email is null, title is null, row_number
      limit 3`,
  });
  if (rows.length === 0) return;
  const cells = rows.map((row) => row.map((cell) => cell ?? '-'));
  const columns = ['name', 'title', 'employer', 'e-mail', 'phone'];
  const cutFirst = [columns.indexOf('title'), columns.indexOf('employer')];
  print(`${formatTable([columns, ...cells], { width: terminalWidth(process.stdout), cutFirst })}\n`);
}

/** Prints a run. With `json`, the notes go to standard error, and the object is the last line. */
export function printRun(view: RunView, json: boolean, commands?: readonly string[]): void {
  if (json) view.notes.forEach(printProgress);
  printFacts<'run'>(json, view.facts, [describeRun(view, commands), ...view.notes].join('\n'));
}

export function isWorking({ status }: Pick<RunFacts, 'status'>): boolean {
  return isInProgress(status) || status === 'cancelling';
}

type Reason = Pick<RunFacts, 'reason_type' | 'reason' | 'next'>;

/**
 * Finds why a run does not continue. Its stored status can be old: a killed worker or workflow cannot change it.
 * Undefined if the stored facts are right.
 */
async function currentReason(session: Session, facts: RunFacts): Promise<Reason | undefined> {
  const { run_id: runId, status } = facts;
  // The next period of a budget resumes such a run, but only if a worker runs.
  const isBudgetPause = status === 'paused' && facts.reason_type === 'budget.empty';
  if (!isWorking(facts) && !isBudgetPause) return undefined;
  const hasTemporalServer = session.config.temporalAddress !== undefined;
  const { reason, next = '', isTemporalAway } = (await findLostWorker(session)) ?? {};
  if (isTemporalAway) return isBudgetPause ? undefined : { reason_type: null, reason: reason!, next };
  if (reason !== undefined && isBudgetPause)
    return { ...facts, next: `${facts.next ?? ''}, then enrich resume ${runId}: no worker is running` };
  if (reason !== undefined) {
    const { inFlight } = await readRunSpending(session.warehouse, runId);
    const lostCalls = `; ${formatCount(inFlight, 'call')} had no recorded answer, and the credits stay reserved`;
    return {
      reason_type: 'run.no-worker',
      reason: `no worker carries out the run, and no call is sent until it continues${inFlight > 0 ? lostCalls : ''}`,
      next: hasTemporalServer ? next : `enrich resume ${runId}`,
    };
  }
  // A scheduled run that waits for the run before it has no workflow yet.
  if (!hasTemporalServer || status === 'ingesting') return undefined;
  const lost = await findLostWorkflow(session, runId);
  // The run may have ended after its status was read.
  if (!lost || (await getRun(session.warehouse, runId)).status !== status) return undefined;
  const again = status === 'cancelling' ? `enrich cancel ${runId}` : lost.next;
  return { reason_type: lost.type, reason: lost.reason, next: again };
}

type LostWorkflow = Omit<PauseReason, 'type'> & { readonly type: 'workflow.ended' | 'run.workflow-failing' };

/**
 * Finds out why a run's workflow does not continue: it has ended, or its tasks fail on the workers. Undefined if it
 * continues, or if Temporal does not answer.
 */
export async function findLostWorkflow(session: Session, runId: string): Promise<LostWorkflow | undefined> {
  const client = await session.temporal();
  const end = await readWorkflowEnd(client.workflow.getHandle(runId)).catch(() => undefined);
  if (end !== undefined) return { type: 'workflow.ended', reason: end, next: `enrich resume ${runId}` };
  const failure = await readTaskFailure(client, runId).catch(() => undefined);
  if (failure === undefined) return undefined;
  return {
    type: 'run.workflow-failing',
    reason: `the workers cannot read or carry out the workflow of this run: ${failure || 'see their log'}`,
    next:
      'give this command and the workers the same TEMPORAL_CODEC_KEYS, or correct what the message names; Temporal ' +
      `retries the workflow within ten minutes, then: enrich resume ${runId}`,
  };
}

/** Says in one line what a running run waits for; empty if nothing. */
export async function describeWait(
  session: Pick<Session, 'config' | 'warehouse'>,
  { run_id: runId, status }: RunFacts,
): Promise<string[]> {
  if (status !== 'running') return [];
  const { warehouse } = session;
  const money = await readRunSpending(warehouse, runId);
  const { reason } = await readRunWait(session, await getRun(warehouse, runId), money);
  return reason === undefined ? [] : [`  ${reason}`];
}

/** What a running run waits for; undefined if nothing. The estimate is for its remaining calls. */
export interface RunWait {
  readonly reason?: string | undefined;
  readonly etaSeconds?: number;
}

/** Finds what a running run waits for: a slot of the rate limit, or after its last call late results. */
export async function readRunWait(
  { config, warehouse }: Pick<Session, 'config' | 'warehouse'>,
  { runId, status, plan }: RunRecord,
  { people: asked, inFlight }: Pick<RunSpending, 'people' | 'inFlight'>,
): Promise<RunWait> {
  if (status !== 'running') return {};
  const left = (plan?.people ?? 0) - asked;
  if (plan && left > 0) {
    const { database } = warehouse;
    const of = { service: serviceName(config), scope: bulkMatchScope };
    // Workers use the rate limits of the plan. The limits in this command's settings can differ.
    const limits = parseRateLimits(plan.own_rate_limits);
    const windows = await readRateWindows(database, of, limits);
    const calls = Math.ceil(left / peoplePerCall);
    const etaSeconds = estimateSeconds(calls, windows, 1 / config.callConcurrency);
    const { wait } = await countFreeSlots(database, of, limits);
    if (wait && wait.milliseconds >= 1_000)
      return { reason: `waiting ${formatElapsed(wait.milliseconds / 1_000)}: ${wait.reason}`, etaSeconds };
    if (inFlight > 0) return { etaSeconds };
  }
  const { awaited, until } = await readLateResultsStatus(warehouse, runId);
  if (awaited === 0 || until === null) return {};
  return {
    reason: `late results of ${formatCount(awaited, 'call')} are awaited until ${formatMinute(until)} UTC`,
  };
}

/** Says where the Temporal UI shows the run. Undefined if the URL of the UI is unknown. */
export function describeUiAddress({ stack }: Session, runId: string): string | undefined {
  const { uiUrl, namespace, embedded } = stack.temporal;
  if (uiUrl === undefined) return undefined;
  const address = `${uiUrl}/namespaces/${namespace}/workflows/${runId}`;
  return `${embedded ? 'while enrich run or enrich dev runs, ' : ''}watch it: ${address}`;
}

/** Reason of a cancellation by answering no to the plan. The command then exits with 3. */
export const notApprovedReason = 'the plan was not approved';

/** @param commands what the text suggests after a finished run */
export function describeRun(
  { facts, status }: Pick<RunView, 'facts' | 'status'>,
  commands = commandsAfter(facts),
): string {
  return [
    `run ${facts.run_id}: ${status}`,
    formatTable(figureRows(facts)),
    ...notesOf(facts),
    ...nextSteps(facts, commands),
  ].join('\n');
}

/** Lines below the figures: export, service, expected price, cancellation, undo and late results. */
function notesOf(facts: RunFacts): string[] {
  const source = facts.source === null ? '' : ` (${facts.source})`;
  const notes = [`  export: ${facts.file}${source}`, `  service: ${describeServiceOfRun(facts.service)}`];
  const { expected = '0', low = '0', high = '0' } = facts.expected_credits ?? {};
  // Only plans with calls have an expected price.
  if (Number(high) > 0)
    notes.push(
      `  the plan expected ${formatCount(rounded(expected), 'credit')}, between ${rounded(low)} and ${rounded(high)}`,
    );
  const explained = outcomesWithReason.filter((outcome) => facts.outcomes[outcome] !== undefined);
  if (explained.length > 0)
    notes.push(`  why rows are ${explained.join(' or ')}: docs/reference/outcomes.md`);
  const { cancelled, status } = facts;
  if (cancelled && status === 'cancelled')
    notes.push(`  cancelled on ${formatMinute(cancelled.at)} UTC: ${cancelled.reason}`);
  if (facts.undone) notes.push(`  ${describeUndo(facts.undone)}; its credits are not refunded`);
  if (status === 'finished' && facts.rows === 0) notes.push(noRowsMessage);
  const { next_poll_at: nextPoll, missing } = facts.late_results;
  if (nextPoll !== null)
    notes.push(`  the next poll for late results is due at ${formatMinute(nextPoll)} UTC`);
  if (missing !== null) notes.push(`  ${missing}`);
  return notes;
}

/** The last six characters of a run's id. Commands take them, and they keep commands and tables short. */
export function shortRunId(runId: string): string {
  return runId.slice(-6);
}

/** Suggests what to do with the results of a finished run. */
function commandsAfter({ run_id: runId, source }: RunFacts): readonly string[] {
  const run = shortRunId(runId);
  const importer = importerNames.find((name) => importers[name].source === source);
  return [
    `enrich report ${run} --output report.html`,
    `enrich export --run ${run} --output enriched-contacts.csv`,
    ...(importer ? [`enrich export --run ${run} --for ${importer} --output import`] : []),
  ];
}

/** Says why the run needs the operator and what to do; if it needs nothing, suggests `commands`. */
function nextSteps(facts: RunFacts, commands: readonly string[]): string[] {
  const { run_id: runId, status, outcomes, credits, reason_type: type } = facts;
  if (status === 'awaiting_approval')
    return [
      `  the plan ${facts.plan_hash ?? ''} waits for your approval; nothing is spent yet`,
      `  next: enrich approve ${runId}; or enrich cancel ${runId}`,
    ];
  const hasEnded = status === 'finished' || status === 'cancelled';
  const decisions =
    hasEnded && type === null ? [] : neededDecisions({ runId, outcomes, unknownCredits: credits.unknown });
  const own =
    facts.reason === null || decisions.some((decision) => decision.type === type)
      ? []
      : [{ reason: facts.reason, next: facts.next ?? '' }];
  const steps = [...own, ...decisions].flatMap(({ reason, next }) => [`  ${reason}`, `  next: ${next}`]);
  const hasContacts = (outcomes.enriched ?? 0) + facts.filled > 0;
  if (steps.length > 0 || status !== 'finished' || facts.undone || !hasContacts) return steps;
  return commands.map((command, place) => `  ${place === 0 ? 'next:' : '     '} ${command}`);
}

/** Outcomes whose reason helps the operator: the columns may be wrong, or the row waits for something. */
const outcomesWithReason = ['identity_mismatch', 'in_flight', 'malformed', 'rejected'] as const;

export function describeUndo({ at, by, reason }: RunUndo): string {
  return `undone on ${formatMinute(at)} UTC by ${by}${reason === null ? '' : ` (${reason})`}`;
}

/** Reasons of a failed run after which a retry can succeed. All others mean wrong usage. */
const transientReasons: readonly string[] = ['export.changed', 'export.unreachable', 'export.unreadable'];

/** Exit code of a command that waited for a run; 3 if the run has not ended or needs the operator. */
export function exitCodeOfRun({ status, reason_type: type, cancelled }: RunFacts): number {
  if (status === 'failed')
    return type === null || transientReasons.includes(type) ? exitCodes.failed : exitCodes.usage;
  const hasEnded = status === 'finished' || status === 'cancelled';
  if (!hasEnded || type !== null || cancelled?.reason === notApprovedReason) return exitCodes.needsOperator;
  return exitCodes.done;
}
