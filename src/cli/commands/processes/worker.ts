import { Command } from '../../terminal/command.ts';
import { serviceName } from '../../../config/settings.ts';
import { formatRateLimits } from '../../../domain/rates/rate-limit.ts';
import { refuseInventedPeople } from '../../session/with-service.ts';
import { tell } from '../../terminal/output.ts';
import { withSession, untilStopped } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';

export function workerCommand(): Command {
  return withSettings(new Command('worker'))
    .description('Run a worker of a Temporal server in the foreground.')
    .explain(`
Any number of workers may run, on any number of machines: they share rate limits and budgets through the database.
SIGTERM drains: the worker begins no call and waits for calls in flight, for at most CALL_TIMEOUT + 30 s. If the
database is away, it waits for the database, for at most CALL_TIMEOUT + 60 s.

Example:
  TEMPORAL_ADDRESS=temporal:7233 DATABASE_URL=postgres://… ENRICHMENT_BASE_URL=https://…/api/v1 enrich worker`)
    .action(async (options: Record<string, unknown>) => {
      const config = settingsOf(options);
      await withSession(config, { temporal: true, service: true, isServer: true }, async (session) => {
        await refuseInventedPeople(session);
        await session.work();
        tell(`worker on ${session.stack.temporal.address}; stop it with Ctrl-C or SIGTERM`);
        // Workers of one deployment must agree on both. Their logs show one that was not restarted after a change.
        tell(`service: ${serviceName(config)}; rate limits: ${formatRateLimits(config.rateLimits)}`);
        await untilStopped();
        tell('draining: no further call begins; waiting for calls in flight');
      });
    });
}
