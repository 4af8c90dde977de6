import { Command } from '../../terminal/command.ts';
import { httpAddress } from '../../../config/settings.ts';
import { addressWithoutPassword } from '../../../db/postgres-errors.ts';
import { shellWord } from '../../../domain/text/shell-word.ts';
import { print, table, tell } from '../../terminal/output.ts';
import { isCommandPresent } from '../../run/describe/present-status.ts';
import { withSession, type Session, untilStopped } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';

export function devCommand(): Command {
  return withSettings(new Command('dev'))
    .description('Run database, Temporal with its UI, sandbox and a worker in the foreground.')
    .explain(`
Other commands in the same folder use these servers meanwhile, also another enrich dev. The last command stops them.
Their data stays for the next start.

Example:
  enrich dev`)
    .action(async (options: Record<string, unknown>) => {
      const config = settingsOf(options);
      const isShared = config.temporalAddress === undefined && isCommandPresent(config);
      await withSession(config, { temporal: true, service: true, isServer: true }, async (session) => {
        await session.work();
        print(describeStack(session));
        if (isShared)
          tell(
            '\nother commands use these servers already: the commands share them, and the last one stops them',
          );
        tell('\nstop it with Ctrl-C');
        await untilStopped();
        tell('stopping: waiting for calls in flight');
      });
    });
}

function describeReceiver({ config, receiver }: Session): string {
  const own = receiver();
  const here = own ? httpAddress(own) : 'in another command';
  const { publicUrl } = config.webhook;
  return publicUrl === undefined ? here : `${here}, reached as ${addressWithoutPassword(publicUrl)}`;
}

function describeStack(session: Session): string {
  const { config, stack } = session;
  const database = addressWithoutPassword(stack.databaseUrl);
  const { postgres } = config.embedded.directories;
  const rows: [string, string][] = [
    ['Temporal UI', stack.temporal.uiUrl ?? 'see TEMPORAL_ADDRESS'],
    ['Temporal', `${stack.temporal.address}, namespace ${stack.temporal.namespace}`],
    ['database', database],
    [stack.embedded.sandbox ? 'sandbox' : 'service', addressWithoutPassword(stack.service.baseUrl ?? '')],
    ['receiver', describeReceiver(session)],
  ];
  if (stack.embedded.postgres) {
    rows.push(['psql', `PGPASSWORD=$(cat ${shellWord(`${postgres}/password`)}) psql ${database}`]);
  }
  return table(rows);
}
