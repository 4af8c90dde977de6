import {
  Command,
  Option,
  wholeNumber,
  noteOf,
  type NoteFlags,
  jsonArrayOption,
  jsonOption,
  type JsonFlag,
} from '../../terminal/command.ts';
import { minuteOf } from '../../../domain/text/minute-of.ts';
import { holdingStatuses } from '../../../domain/money/attempt-status.ts';
import type { Warehouse } from '../../../db/database.ts';
import { readClock } from '../../../db/expressions.ts';
import { formatCredits, storedCredits } from '../../../domain/money/decimal.ts';
import { counted } from '../../../domain/text/counted.ts';
import { UsageProblem, exitCodes } from '../../../domain/problem.ts';
import {
  decideAttempt,
  getAttempt,
  listAttempts,
  type AttemptFacts,
} from '../../../ledger/decide-attempt.ts';
import { getRun } from '../../../runs/runs.ts';
import { serviceName } from '../../../config/settings.ts';
import { reconcileCredits, unexplainedByRelease } from '../../../ledger/credit-statements.ts';
import { describeBill } from '../../run/describe/describe-reconciliation.ts';
import { agrees } from '../../terminal/confirm.ts';
import { creditsOf } from '../../run-options/run-option-values.ts';
import { describeFields, print, printFacts, printJson, table, tell } from '../../terminal/output.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';

export function attemptsCommand(): Command {
  return new Command('attempts')
    .description('Resolve calls whose cost is unknown. Runs repeat such calls only with --on-unknown retry.')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(releaseCommand())
    .addCommand(retryCommand())
    .explain('\nExamples:\n  enrich attempts list\n  enrich attempts release 0b54…');
}

type ListFlags = JsonFlag & { readonly all?: boolean; readonly overdue?: boolean; readonly limit?: number };

function listCommand(): Command {
  return withSettings(new Command('list'))
    .description('List calls that wait for a decision.')
    .argument('[run]', 'calls of this run; "latest" is the newest run')
    .option('--all', 'calls of every status')
    .addOption(
      new Option('--overdue', 'calls whose late results did not come by the deadline').conflicts('all'),
    )
    .option('--limit <n>', 'maximum number of calls, the newest (default: all)', wholeNumber(1))
    .option(...jsonArrayOption)
    .explain(
      '\nExamples:\n  enrich attempts list\n  enrich attempts list --overdue\n  enrich attempts list --all --limit 50',
    )
    .action(async (runId: string | undefined, options: ListFlags) => {
      const config = settingsOfExisting(options);
      await withWarehouse(config, async ({ warehouse }) => {
        const attempts = await listAttempts(warehouse, {
          runId: runId === undefined ? undefined : (await getRun(warehouse, runId)).runId,
          status: options.all === true ? undefined : options.overdue === true ? 'overdue' : 'unknown',
          limit: options.limit,
        });
        if (options.json === true) return printJson<'attempt-list'>(attempts);
        if (attempts.length === 0) {
          if (options.overdue === true) return print('no late results are overdue');
          return print(options.all === true ? 'no attempts yet' : 'no attempt waits for a decision');
        }
        print(describeAttempts(attempts, { all: options.all === true, ofRuns: runId === undefined }));
        if (attempts.length === options.limit)
          tell('there may be more, older calls: a higher --limit shows them');
        if (options.overdue === true) tell(nextForOverdue());
        const unknown = attempts.filter(({ status }) => status === 'unknown');
        const cycles = await reconcileCredits(warehouse.database, serviceName(config));
        for (const line of describeBill(cycles, unknown)) tell(line);
      });
    });
}

function nextForOverdue(attemptId = 'ATTEMPT'): string {
  return (
    `next: enrich inbox sweep polls for these results; if they do not come, enrich attempts release ${attemptId} if ` +
    `the service did not bill them, otherwise enrich attempts retry ${attemptId} --credits N with what answer and ` +
    'results cost'
  );
}

/** Prints each reason once, below the table: the ids leave no room for a column of reasons. */
function describeAttempts(
  attempts: readonly AttemptFacts[],
  { all, ofRuns }: { readonly all: boolean; readonly ofRuns: boolean },
): string {
  const isStated = attempts.some(({ credits_stated: stated }) => stated !== null);
  const rows = attempts.map((attempt) => [
    attempt.attempt_id,
    ...(all ? [attempt.status, attempt.credits_settled ?? '-'] : []),
    holdingStatuses.includes(attempt.status) ? attempt.credits_reserved : '-',
    ...(isStated ? [attempt.credits_stated ?? '-'] : []),
    attempt.people,
    minuteOf(attempt.admitted_at),
    ...(ofRuns ? [attempt.run_id] : []),
  ]);
  const calls = new Map<string, number>();
  for (const { reason } of attempts) if (reason !== null) calls.set(reason, (calls.get(reason) ?? 0) + 1);
  return [
    table([
      [
        'attempt',
        ...(all ? ['status', 'settled'] : []),
        'held',
        ...(isStated ? ['stated'] : []),
        'people',
        'admitted (UTC)',
        ...(ofRuns ? ['run'] : []),
      ],
      ...rows,
    ]),
    ...[...calls].map(([reason, count]) => `  ${counted(count, 'call')}: ${reason}`),
  ].join('\n');
}

function showCommand(): Command {
  return withSettings(new Command('show'))
    .description('Show a call with its rows.')
    .argument('<attempt>', 'id of a call, as list shows it, or its beginning')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich attempts show 0b54…')
    .action(async (attemptId: string, options: JsonFlag) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const attempt = await getAttempt(warehouse, attemptId);
        printFacts(options.json, attempt, describeFields(attempt));
        const { attempt_id: id, status, awaited_until: deadline } = attempt;
        if (status === 'unknown')
          tell(
            `next: enrich attempts release ${id} if the service did not bill the call, ` +
              `otherwise enrich attempts retry ${id} (--credits N if it billed less)`,
          );
        if (deadline !== null && deadline <= (await readClock(warehouse.database))) tell(nextForOverdue(id));
      });
    });
}

const keepsAnswer = 'its answer stays; its late results are no longer awaited, and are applied if they come';

function isAnswered({ http_status: status }: AttemptFacts): boolean {
  return status !== null && status < 300;
}

interface DecisionFlags extends JsonFlag, NoteFlags {
  readonly credits?: string;
  readonly yes?: boolean;
}

interface Decision {
  readonly credits: (attempt: AttemptFacts) => string;
  /** What was done, where the service states no other cost. */
  readonly done: (credits: string) => string;
}

function releaseCommand(): Command {
  return decisionCommand('release')
    .description('Release the credits of calls that the service did not bill.')
    .action(async (named: readonly string[], options: DecisionFlags) => {
      const config = settingsOfExisting(options);
      await withWarehouse(config, async ({ warehouse }) => {
        const attempts = await attemptsOf(warehouse, named);
        const isBilled = await warnOfBill(warehouse, serviceName(config), attempts);
        const asks = isBilled && options.json !== true && process.stdin.isTTY;
        const answer = asks ? await agrees('release the credits?') : true;
        if (answer !== true) {
          tell('nothing was released');
          if (answer === undefined) process.exitCode = exitCodes.needsPerson;
          return;
        }
        await decide(warehouse, attempts, options, {
          credits: () => '0',
          done: () => 'released; the next run of the file asks for its people again',
        });
      });
    });
}

function retryCommand(): Command {
  return decisionCommand('retry')
    .description(
      'Settle the credits of calls, so that the next run asks for their people again. Makes no call.',
    )
    .option('--credits <n>', 'credits that the service billed (default: all held credits)')
    .option('--yes', 'accept more credits than are held for the call')
    .action(async (named: readonly string[], options: DecisionFlags) => {
      const given =
        options.credits === undefined
          ? undefined
          : creditsOf('--credits', options.credits, 'write a number such as 7 or 2.5');
      if (given !== undefined && named.length > 1) {
        throw new UsageProblem('setting.invalid', '--credits is for one call, and several are named', {
          where: '--credits',
          next: 'give --credits with one call at a time',
        });
      }
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) =>
        decide(warehouse, await attemptsOf(warehouse, named), options, {
          credits: ({ credits_reserved: held }) => given ?? held,
          done: (credits) =>
            `settled with ${credits} credits, no call was made; the next run of the file asks for its people again, ` +
            'and pays again',
        }),
      );
    });
}

function decisionCommand(name: string): Command {
  return withSettings(new Command(name))
    .argument('<attempts...>', 'ids of calls that wait for a decision, or their beginnings')
    .keepNote('kept with the call; no names')
    .option(...jsonOption).explain(`
Examples:
  enrich attempts ${name} 0b54… --reason "invoice of November"
  enrich attempts ${name} $(enrich attempts list RUN --json | jq -r '.[].attempt_id')    all of a run`);
}

/**
 * Reads all calls before the first decision: a mistyped name decides about no call, and a call that is named twice is
 * decided once.
 */
async function attemptsOf(warehouse: Warehouse, names: readonly string[]): Promise<AttemptFacts[]> {
  const attempts = new Map<string, AttemptFacts>();
  for (const name of names) {
    const attempt = await getAttempt(warehouse, name);
    attempts.set(attempt.attempt_id, attempt);
  }
  return [...attempts.values()];
}

async function decide(
  warehouse: Warehouse,
  attempts: readonly AttemptFacts[],
  options: DecisionFlags,
  decision: Decision,
): Promise<void> {
  const decided: AttemptFacts[] = [];
  for (const attempt of attempts) {
    const { attempt_id: attemptId } = attempt;
    const credits = decision.credits(attempt);
    await decideAttempt(warehouse, attemptId, {
      credits,
      mayExceedHeld: options.yes === true,
      ...noteOf(options),
    });
    const after = await getAttempt(warehouse, attemptId);
    const settled = after.credits_settled ?? '0';
    const isStated = storedCredits(settled) > storedCredits(credits);
    const done = isStated
      ? `settled with ${settled} credits and not ${credits}, because its answer or its deliveries state this cost`
      : isAnswered(attempt)
        ? `settled with ${settled} credits`
        : decision.done(credits);
    if (options.json !== true)
      print(`${attemptId}: ${[done, ...(isAnswered(attempt) ? [keepsAnswer] : [])].join('; ')}`);
    else if (isStated) tell(`${attemptId}: ${done}`);
    decided.push(after);
  }
  if (options.json === true) printJson({ attempts: decided });
}

/**
 * Released calls must be free of charge: warns if the service has billed more than would be settled and held.
 *
 * @returns whether it warned
 */
async function warnOfBill(
  { database }: Warehouse,
  service: string,
  attempts: readonly AttemptFacts[],
): Promise<boolean> {
  const released = attempts.map(({ attempt_id: attemptId }) => attemptId);
  const unexplained = await unexplainedByRelease(database, service, released);
  if (unexplained === 0n) return false;
  tell(
    `warning: without ${counted(released.length, 'released call')}, the service has billed ` +
      `${formatCredits(unexplained)} credits more than are settled and held, so a released call was probably billed: ` +
      'enrich attempts retry ATTEMPT --credits N settles it',
  );
  return true;
}
