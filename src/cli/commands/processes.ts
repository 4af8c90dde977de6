import { httpUrlOf, serviceName } from '../../config/settings.ts';
import { databaseUrlWithoutPassword } from '../../db/postgres-errors.ts';
import { portTakenProblem, UsageProblem } from '../../domain/problem.ts';
import { formatRateLimits } from '../../domain/rates/rate-limit.ts';
import { quoteForShell } from '../../domain/text/format.ts';
import { untilStopped, withSession, type Session, readSettings } from '../session/session.ts';
import { refuseMixedWarehouse } from '../session/with-service.ts';
import { Command } from '../terminal/command.ts';
import { print, formatTable, printProgress } from '../terminal/output.ts';

export function devCommand(): Command {
  return new Command('dev')
    .description('Run database, Temporal with its UI, sandbox and a worker in the foreground.')
    .examples('\n  enrich dev')
    .explain(`
Other commands in the same folder use these servers meanwhile, also another enrich dev. The last command stops them.
Their data stays for the next start.`)
    .action(async () => {
      await withSession(
        readSettings(),
        { temporal: true, service: true, isServer: true },
        async (session) => {
          await session.work();
          print(describeStack(session));
          printProgress('\nstop it with Ctrl-C');
          await untilStopped();
          printProgress('stopping: waiting for calls in flight');
        },
      );
    });
}

function describeStack({ config, stack, receiver }: Session): string {
  const database = databaseUrlWithoutPassword(stack.databaseUrl);
  const own = receiver();
  const here = own ? httpUrlOf(own) : 'in another command';
  const { publicUrl } = config.webhook;
  const passwordFile = quoteForShell(`${config.embedded.directories.postgres}/password`);
  return formatTable([
    ['Temporal UI', stack.temporal.uiUrl ?? 'see TEMPORAL_ADDRESS'],
    ['Temporal', `${stack.temporal.address}, namespace ${stack.temporal.namespace}`],
    ['database', database],
    [stack.embedded.sandbox ? 'sandbox' : 'service', databaseUrlWithoutPassword(stack.service.baseUrl ?? '')],
    [
      'receiver',
      publicUrl === undefined ? here : `${here}, reached as ${databaseUrlWithoutPassword(publicUrl)}`,
    ],
    stack.embedded.postgres && ['psql', `PGPASSWORD=$(cat ${passwordFile}) psql ${database}`],
  ]);
}

export function workerCommand(): Command {
  return new Command('worker')
    .description('Run a worker of a Temporal server in the foreground.')
    .examples('\n  TEMPORAL_ADDRESS=temporal:7233 DATABASE_URL=postgres://… enrich worker')
    .explain(`
Any number of workers may run, on any number of machines: they share rate limits and budgets through the database.
SIGTERM drains: the worker begins no call and waits for calls in flight, for at most CALL_TIMEOUT + 30 s. If the
database is away, it waits for the database, for at most CALL_TIMEOUT + 60 s.`)
    .action(async () => {
      const config = readSettings();
      await withSession(config, { temporal: true, service: true, isServer: true }, async (session) => {
        await refuseMixedWarehouse(session);
        await session.work();
        printProgress(`worker on ${session.stack.temporal.address}; stop it with Ctrl-C or SIGTERM`);
        // All workers need the same settings. This log line shows a worker that was not restarted after a change.
        printProgress(`service: ${serviceName(config)}; rate limits: ${formatRateLimits(config.rateLimits)}`);
        await untilStopped();
        printProgress('draining: no further call begins; waiting for calls in flight');
      });
    });
}

export function receiverCommand(): Command {
  return new Command('receiver')
    .description('Receive webhook deliveries in the foreground.')
    .examples('\n  WEBHOOK_LISTEN=127.0.0.1:8080 enrich receiver')
    .explain(`
The receiver listens on WEBHOOK_LISTEN (default: 127.0.0.1:8080), behind a reverse proxy that forwards /webhooks/ and
/healthz. The workers need the proxy's URL as WEBHOOK_PUBLIC_URL; without it, late results come only by
poll. A delivery answered with 2xx is stored; runs apply it from the inbox (docs/explanation/late-results.md).`)
    .action(async () => {
      const { defaultListen, runReceiver } = await import('../session/servers.ts');
      const config = readSettings();
      await withSession(config, { temporal: true, service: false, isServer: true }, async (session) => {
        const receiver = await runReceiver(config.webhook.listen ?? defaultListen, session);
        printProgress(`receiver on ${httpUrlOf(receiver)}; stop it with Ctrl-C or SIGTERM`);
        await untilStopped();
        printProgress('stopping: deliveries that have arrived are stored');
        await receiver.close();
      });
    });
}

export function codecServerCommand(): Command {
  return new Command('codec-server')
    .description('Decrypt payloads for the Temporal UI, in the foreground.')
    .examples(`
  CODEC_SERVER_UI_ORIGINS=https://temporal.example.com enrich codec-server
  temporal workflow show -w RUN --codec-endpoint http://127.0.0.1:8081`)
    .explain(`
In the Temporal UI, set the server's address as the codec server (the glasses at the upper right), and here the URL of
the UI as CODEC_SERVER_UI_ORIGINS. The server decrypts every request, so it listens only on this machine by default
(CODEC_SERVER_LISTEN). For other machines, set CODEC_SERVER_TOKEN, the clients' bearer token
(docs/guides/production.md).`)
    .action(async () => {
      const { temporalCodec, codecServer } = readSettings();
      if (temporalCodec === undefined) {
        throw new UsageProblem('setting.missing', 'no keys are set: payloads are not encrypted', {
          where: 'TEMPORAL_CODEC_KEYS or TEMPORAL_CODEC_KEYS_FILE',
          next: 'set the keys that the workers have',
        });
      }
      const [{ startCodecEndpoint }, { payloadCodec }] = await Promise.all([
        import('../../temporal/codec-endpoint.ts'),
        import('../../temporal/payload-codec.ts'),
      ]);
      const listen = codecServer.listen ?? { host: '127.0.0.1', port: 8081 };
      const endpoint = await startCodecEndpoint({
        codec: payloadCodec(temporalCodec),
        listen,
        origins: codecServer.uiOrigins,
        token: codecServer.token,
      }).catch((error: unknown) => {
        if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
        throw portTakenProblem(
          listen.port,
          'the codec server',
          'CODEC_SERVER_LISTEN',
          'set another port',
          error,
        );
      });
      printProgress(`codec server on ${httpUrlOf(endpoint)}; stop it with Ctrl-C or SIGTERM`);
      await untilStopped();
      await endpoint.close();
    });
}
