import { minuteOf } from '../../../domain/text/minute-of.ts';
import { deliveryStatuses } from '../../../domain/late-results/delivery-status.ts';
import {
  Command,
  Option,
  wholeNumber,
  jsonArrayOption,
  jsonOption,
  type JsonFlag,
} from '../../terminal/command.ts';
import { counted, nounFor } from '../../../domain/text/counted.ts';
import { drainInbox, syncLateResults } from '../../../late-results/sync-late-results.ts';
import {
  getDelivery,
  listDeliveries,
  readDeliveryBody,
  reopenDelivery,
  type DeliveryFacts,
} from '../../../late-results/deliveries.ts';
import { makePollsDue } from '../../../late-results/late-polls.ts';
import { countAwaitedAfterRuns } from '../../../late-results/late-results-status.ts';
import { getRun } from '../../../runs/runs.ts';
import {
  describeFields,
  print,
  printFacts,
  printJson,
  table,
  tell,
  writeBytes,
} from '../../terminal/output.ts';
import { withSession, withWarehouse } from '../../session/session.ts';
import { settingsOfExisting, withSettings } from '../../session/settings-flags.ts';
import { withSessionClient } from '../../session/with-service.ts';

export function inboxCommand(): Command {
  return new Command('inbox')
    .description('Show and apply deliveries, from webhooks and from polls.')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(replayCommand())
    .addCommand(sweepCommand())
    .explain('\nExamples:\n  enrich inbox list --status quarantined\n  enrich inbox sweep');
}

function listCommand(): Command {
  return withSettings(new Command('list'))
    .description('List the newest deliveries.')
    .argument('[run]', 'deliveries of this run; "latest" is the newest run')
    .addOption(new Option('--status <status>', 'deliveries of this status').choices(deliveryStatuses))
    .option('--limit <n>', 'maximum number of deliveries', wholeNumber(1), 50)
    .option(...jsonArrayOption)
    .explain('\nExample:\n  enrich inbox list --status quarantined')
    .action(
      async (runId: string | undefined, options: { status?: string; limit: number; json?: boolean }) => {
        await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
          const deliveries = await listDeliveries(warehouse, {
            runId: runId === undefined ? undefined : (await getRun(warehouse, runId)).runId,
            status: options.status,
            limit: options.limit,
          });
          if (options.json === true) return printJson(deliveries);
          if (deliveries.length === 0) return print('no such deliveries');
          print(
            table([
              ['delivery', 'run', 'by', 'status', 'people', 'credits', 'received (UTC)', 'why'],
              ...deliveries.map(lineOf),
            ]),
          );
        });
      },
    );
}

function lineOf(delivery: DeliveryFacts): (string | number)[] {
  return [
    delivery.delivery_id,
    delivery.run_id ?? '',
    delivery.origin,
    delivery.late ? `${delivery.status}, late` : delivery.status,
    delivery.people,
    delivery.credits ?? '',
    minuteOf(delivery.received_at),
    delivery.reason ?? '',
  ];
}

function showCommand(): Command {
  return withSettings(new Command('show'))
    .description('Show a delivery.')
    .argument('<delivery>', 'id of a delivery, as list shows it, or its beginning')
    .option('--body', 'only the original body, with personal data')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich inbox show 0b54… --body | jq')
    .action(async (deliveryId: string, options: { body?: boolean } & JsonFlag) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const delivery = await getDelivery(warehouse, deliveryId);
        if (options.body === true)
          await writeBytes([await readDeliveryBody(warehouse, delivery.delivery_id)]);
        else printFacts(options.json, delivery, describeFields(delivery));
      });
    });
}

function replayCommand(): Command {
  return withSettings(new Command('replay'))
    .description('Apply a quarantined or orphaned delivery again.')
    .argument('<delivery>', 'id of a delivery, as list shows it, or its beginning')
    .option(...jsonOption)
    .explain('\nExample:\n  enrich inbox replay 0b54…')
    .action(async (named: string, options: JsonFlag) => {
      await withWarehouse(settingsOfExisting(options), async ({ warehouse }) => {
        const before = await getDelivery(warehouse, named);
        const { delivery_id: deliveryId } = before;
        await reopenDelivery(warehouse, deliveryId);
        await drainInbox(warehouse, { attemptId: before.attempt_id ?? '' }, new AbortController().signal);
        const { status, reason } = await getDelivery(warehouse, deliveryId);
        printFacts(
          options.json,
          { delivery_id: deliveryId, status, reason },
          reason === null ? status : `${status}: ${reason}`,
        );
      });
    });
}

function sweepCommand(): Command {
  return withSettings(new Command('sweep'))
    .description('Apply late results of ended runs now, and poll for results that are still awaited.')
    .option(...jsonOption)
    .explain(`
Workers do this every five minutes, by the Temporal schedule enrichment-late-results. They wait up to an hour between
two polls of a call; this command polls at once.

Example:
  enrich inbox sweep`)
    .action(async (options: JsonFlag) => {
      const config = settingsOfExisting(options);
      await withSession(config, { temporal: false, service: true }, (session) =>
        withSessionClient(session, async (dependencies) => {
          const polls = await makePollsDue(session.warehouse, dependencies.service);
          const applied = await syncLateResults(
            { ...dependencies, pollAfterSeconds: config.lateResults.pollAfterSeconds },
            'unattended',
            new AbortController().signal,
          );
          const left = await countAwaitedAfterRuns(session.warehouse);
          if (polls > 0) tell(`polled for the late results of ${counted(polls, 'call')}`);
          printFacts(
            options.json,
            { polled: polls, applied, ...left },
            `applied ${counted(applied, 'delivery', 'deliveries')}; ${describeAwaited(left)}`,
          );
        }),
      );
    });
}

function describeAwaited({ awaited, overdue }: { awaited: number; overdue: number }): string {
  if (awaited === 0) return 'ended runs await no late results';
  const late = overdue === 0 ? '' : `, ${overdue} of them after the deadline: enrich attempts list --overdue`;
  return `${counted(awaited, 'call')} of ended runs still ${nounFor(awaited, 'awaits', 'await')} late results${late}`;
}
