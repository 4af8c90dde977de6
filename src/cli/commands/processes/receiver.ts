import { Command } from '../../terminal/command.ts';
import { httpAddress } from '../../../config/settings.ts';
import { tell } from '../../terminal/output.ts';
import { defaultListen, runReceiver } from '../../session/servers.ts';
import { withSession, untilStopped } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';

export function receiverCommand(): Command {
  return withSettings(new Command('receiver'))
    .description('Receive webhook deliveries in the foreground.')
    .option('--listen <host:port>', 'address to listen on (WEBHOOK_LISTEN, default 127.0.0.1:8080)')
    .explain(`
Put a reverse proxy with a certificate in front of the receiver; it forwards /webhooks/ and /healthz. The workers need
the proxy's address as WEBHOOK_PUBLIC_URL, because their calls tell the service where to deliver. Without this setting,
late results come only by poll. GET /healthz says that the receiver is alive, and GET /readyz that it can store
deliveries. SIGTERM drains it. A delivery answered with 2xx is stored; runs apply it from the inbox (enrich inbox).

Examples:
  WEBHOOK_LISTEN=127.0.0.1:8080 enrich receiver
  WEBHOOK_PUBLIC_URL=https://enrich.example.com enrich worker    each worker needs this address`)
    .action(async (options: { listen?: string }) => {
      const config = settingsOf(options, { WEBHOOK_LISTEN: { flag: '--listen', text: options.listen } });
      await withSession(config, { temporal: true, service: false, isServer: true }, async (session) => {
        const { stack, log } = session;
        const metrics = await session.metrics();
        const receiver = await runReceiver(config.webhook.listen ?? defaultListen, {
          databaseUrl: stack.databaseUrl,
          temporal: () => session.temporal(),
          metrics: metrics?.process,
          log,
        });
        tell(`receiver on ${httpAddress(receiver)}; stop it with Ctrl-C or SIGTERM`);
        await untilStopped();
        tell('stopping: deliveries that have arrived are stored');
        await receiver.close();
      });
    });
}
