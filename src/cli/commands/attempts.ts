import { deliveryStatuses } from '../../domain/late-results/delivery-kinds.ts';
import { parseStoredCredits } from '../../domain/money/decimal.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { formatCount } from '../../domain/text/format.ts';
import { getDelivery, listDeliveries, reopenDelivery } from '../../late-results/deliveries.ts';
import { drainInbox } from '../../late-results/sync-late-results.ts';
import { decideAttempts, getAttempt, listAttempts, type AttemptFacts } from '../../ledger/decide-attempt.ts';
import { getRun } from '../../runs/runs.ts';
import { parseCreditsFlag } from '../run/run-option-flags.ts';
import { withWarehouse, readSettingsOfExistingWarehouse, type Session } from '../session/session.ts';
import { Command, toNote, Option, type CommonFlags } from '../terminal/command.ts';
import { confirmUnlessYes } from '../terminal/confirm.ts';
import { describeFields, formatRecords, printFacts, printProgress } from '../terminal/output.ts';

export function attemptsCommand(): Command {
  return new Command('attempts')
    .description('Resolve calls whose cost is unknown. Runs repeat such calls only with --on-unknown retry.')
    .addCommand(listAttemptsCommand())
    .addCommand(releaseCommand())
    .addCommand(settleCommand())
    .examples('\n  enrich attempts list\n  enrich attempts settle 0b54… --credits 7');
}

function listAttemptsCommand(): Command {
  return new Command('list')
    .description('List calls that wait for a decision, or show one call.')
    .argument('[which]', 'a run ("latest" is the newest), or a call by its id or the beginning of the id')
    .addOption(
      new Option('--status <status>', 'calls of this status; overdue: late results missed their deadline')
        .choices(['unknown', 'overdue', 'all'])
        .default('unknown'),
    )
    .limit('maximum number of calls, the newest (default: all)')
    .json()
    .examples(`
  enrich attempts list
  enrich attempts list latest --status all
  enrich attempts list 0b54…              one call, with the numbers of its rows`)
    .onWarehouse(showAttempts);
}

async function showAttempts(
  { warehouse }: Session,
  which: string | undefined,
  { status, limit, json }: CommonFlags & { status: 'unknown' | 'overdue' | 'all'; limit?: number },
): Promise<void> {
  // A text that begins with four hexadecimal digits is the id of a call. Any other text is a run.
  const isCall = which !== undefined && /^[0-9a-f]{4}/.test(which);
  const attempts = isCall
    ? [await getAttempt(warehouse, which)]
    : await listAttempts(warehouse, {
        runId: which === undefined ? undefined : (await getRun(warehouse, which)).runId,
        status: status === 'all' ? undefined : status,
        limit,
      });
  const list = formatRecords(attempts, attemptColumns, `no calls of the status ${status}`);
  printFacts<'attempt-list'>(json, attempts, isCall ? describeFields(attempts[0]!) : list);
  if (json !== true && attempts.some((call) => call.status === 'unknown' || status === 'overdue'))
    printProgress(
      'next: enrich attempts settle ATTEMPT --credits N if the service billed the call, enrich attempts ' +
        'release ATTEMPT if it did not; enrich usage --reconcile says what it billed',
    );
}

const attemptColumns = [
  'attempt_id',
  'run_id',
  'status',
  'credits_reserved',
  'credits_stated',
  'reason',
] as const;

interface DecisionFlags extends CommonFlags {
  readonly credits?: string;
}

/** Makes `release`, which settles calls at 0 credits. */
function releaseCommand(): Command {
  return decisionCommand('release', 'Release the credits of calls that the service did not bill.').action(
    (named: readonly string[], options: DecisionFlags) => decide(named, options, '0', true),
  );
}

function settleCommand(): Command {
  return decisionCommand('settle', 'Settle calls at the credits that the service billed. Makes no call.')
    .option('--credits <n>', 'credits that the service billed for the call (default: all held credits)')
    .action(async (named: readonly string[], options: DecisionFlags) => {
      const { credits } = options;
      if (credits !== undefined && named.length > 1) {
        throw new UsageProblem('setting.invalid', '--credits is for one call, and several are named', {
          where: '--credits',
          next: 'give --credits with one call at a time',
        });
      }
      await decide(
        named,
        options,
        credits && parseCreditsFlag('--credits', credits, 'write a number such as 7 or 2.5'),
      );
    });
}

function decisionCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<attempts...>', 'ids of calls that wait for a decision, or their beginnings')
    .option('--yes', 'decide without asking')
    .keepNote('kept with the call; no names')
    .json().examples(`
  enrich attempts ${name} 0b54… --reason "invoice of November"
  enrich attempts ${name} $(enrich attempts list RUN --json | jq -r '.[].attempt_id')`).explain(`
The next run of the file asks for the people of a decided call again. It pays for their records again, and not for
phones or waterfall results that the call has delivered: their people get these by their ids.`);
}

/** Asks, then settles the named calls. @param credits for each call; undefined: all that it has reserved */
async function decide(
  named: readonly string[],
  options: DecisionFlags,
  credits: string | undefined,
  isRelease = false,
): Promise<void> {
  await withWarehouse(readSettingsOfExistingWarehouse(), async ({ warehouse }) => {
    // Two of the ids that the operator gave can belong to the same call.
    const found = await Promise.all(named.map((name) => getAttempt(warehouse, name)));
    const attempts = [...new Map(found.map((attempt) => [attempt.attempt_id, attempt])).values()];
    const creditsFor = ({ credits_reserved: held }: AttemptFacts): string => credits ?? held;
    for (const attempt of attempts) refuseLessThanStated(attempt, creditsFor(attempt), isRelease);
    printProgress(formatRecords(attempts, attemptColumns));
    const question = `settle ${formatCount(attempts.length, 'call')} at ${credits ?? 'all reserved'} credits?`;
    const isDecided = await confirmUnlessYes(question, options, 'nothing was decided');
    if (isDecided)
      await decideAttempts(
        warehouse,
        attempts.map((attempt) => ({
          attemptId: attempt.attempt_id,
          credits: creditsFor(attempt),
          ...toNote(options),
        })),
      );
    const after = await Promise.all(attempts.map(({ attempt_id: id }) => getAttempt(warehouse, id)));
    const text = formatRecords(after, ['attempt_id', 'status', 'people', 'credits_settled']);
    printFacts(options.json, { decided: isDecided, attempts: after }, text);
  });
}

/** Refuses to settle a call below a cost that the service stated in its answer or a delivery: that cost was billed. */
function refuseLessThanStated(
  { attempt_id: id, status, credits_stated: stated, credits_reserved: held }: AttemptFacts,
  credits: string,
  isRelease: boolean,
): void {
  if (status !== 'unknown' || stated === null) return;
  const least = parseStoredCredits(stated) > parseStoredCredits(held) ? held : stated;
  if (!isRelease && parseStoredCredits(credits) >= parseStoredCredits(least)) return;
  const what = `the service has processed the call: its answer or its deliveries state ${stated} credits`;
  throw new UsageProblem('attempt.billed', what, {
    where: `attempt ${id}`,
    next: `settle what was billed, ${least} to ${held} credits: enrich attempts settle ${id} --credits N`,
  });
}

export function inboxCommand(): Command {
  return new Command('inbox')
    .description('List deliveries from webhooks and polls, and apply a quarantined one.')
    .addCommand(listDeliveriesCommand())
    .addCommand(replayCommand())
    .examples('\n  enrich inbox list --status quarantined\n  enrich inbox replay 0b54…');
}

function listDeliveriesCommand(): Command {
  return new Command('list')
    .description('List the newest deliveries.')
    .argument('[run]', 'deliveries of this run; "latest" is the newest run')
    .addOption(new Option('--status <status>', 'deliveries of this status').choices(deliveryStatuses))
    .limit('maximum number of deliveries', 50)
    .json()
    .examples('\n  enrich inbox list --status quarantined')
    .onWarehouse(async ({ warehouse }, run: string | undefined, { json, ...filter }: InboxFlags) => {
      const runId = run === undefined ? undefined : (await getRun(warehouse, run)).runId;
      const deliveries = await listDeliveries(warehouse, { runId, ...filter });
      const columns = ['delivery_id', 'run_id', 'origin', 'status', 'people', 'credits', 'reason'] as const;
      printFacts(json, deliveries, formatRecords(deliveries, columns, 'no such deliveries'));
    });
}

type InboxFlags = CommonFlags & { readonly status?: string; readonly limit: number };

function replayCommand(): Command {
  return new Command('replay')
    .description('Apply a quarantined delivery again.')
    .argument('<delivery>', 'id of a delivery, as list shows it, or its beginning')
    .json()
    .examples('\n  enrich inbox replay 0b54…')
    .onWarehouse(async ({ warehouse }, named: string, { json }: CommonFlags) => {
      const { delivery_id: deliveryId, attempt_id: attemptId } = await getDelivery(warehouse, named);
      await reopenDelivery(warehouse, deliveryId);
      await drainInbox(warehouse, { attemptId: attemptId ?? '' }, new AbortController().signal);
      const { status, reason } = await getDelivery(warehouse, deliveryId);
      printFacts(json, { delivery_id: deliveryId, status, reason });
    });
}
