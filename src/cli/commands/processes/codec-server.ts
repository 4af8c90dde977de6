import { Command } from '../../terminal/command.ts';
import { portTaken } from '../../../domain/port-taken.ts';
import { httpAddress } from '../../../config/settings.ts';
import { UsageProblem } from '../../../domain/problem.ts';
import { startCodecEndpoint } from '../../../temporal/codec-endpoint.ts';
import { tell } from '../../terminal/output.ts';
import { payloadCodec } from '../../../temporal/payload-codec.ts';
import { settingsOf } from '../../session/settings-flags.ts';
import { untilStopped } from '../../session/session.ts';

export function codecServerCommand(): Command {
  return new Command('codec-server')
    .description('Decrypt payloads for the Temporal UI, in the foreground.')
    .option('--listen <host:port>', 'address to listen on (CODEC_SERVER_LISTEN, default 127.0.0.1:8081)')
    .option('--ui-origin <urls>', 'addresses of the UI, joined by commas (CODEC_SERVER_UI_ORIGINS)')
    .explain(`
In the Temporal UI, set the server's address as the codec server (the glasses at the upper right). For the temporal
command, use --codec-endpoint. The server decrypts every request, so it listens only on this machine by default. For
other machines, put a proxy with TLS and a login in front of it, or set CODEC_SERVER_TOKEN, the clients' bearer token.

Examples:
  enrich codec-server --ui-origin http://127.0.0.1:8233
  temporal workflow show --workflow-id RUN --codec-endpoint http://127.0.0.1:8081`)
    .action(async (options: { listen?: string; uiOrigin?: string }) => {
      const { temporalCodec, codecServer } = settingsOf(options, {
        CODEC_SERVER_LISTEN: { flag: '--listen', text: options.listen },
        CODEC_SERVER_UI_ORIGINS: { flag: '--ui-origin', text: options.uiOrigin },
      });
      if (temporalCodec === undefined) {
        throw new UsageProblem('setting.missing', 'no keys are set: payloads are not encrypted', {
          where: 'TEMPORAL_CODEC_KEYS or TEMPORAL_CODEC_KEYS_FILE',
          next: 'set the keys that the workers have',
        });
      }
      const listen = codecServer.listen ?? { host: '127.0.0.1', port: 8081 };
      const endpoint = await startCodecEndpoint({
        codec: payloadCodec(temporalCodec),
        listen,
        origins: codecServer.uiOrigins,
        token: codecServer.token,
      }).catch((error: unknown) => {
        if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
        throw portTaken(listen.port, 'the codec server', 'CODEC_SERVER_LISTEN', 'set another port', error);
      });
      tell(`codec server on ${httpAddress(endpoint)}; stop it with Ctrl-C or SIGTERM`);
      await untilStopped();
      await endpoint.close();
    });
}
