import { pino, stdTimeFunctions, type Logger } from 'pino';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';

export type { Logger } from 'pino';

/** Creates the log on standard error, without secrets and personal data; `pretty` on a terminal, otherwise JSON. */
export function createLogger(settings: {
  readonly level: string;
  readonly format: 'json' | 'pretty' | undefined;
  readonly show?: (line: string) => void;
}): Logger {
  const pretty = settings.format === 'pretty' || (settings.format === undefined && process.stderr.isTTY);
  const options = {
    level: settings.level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    redact: { paths: secretPaths, censor: '[redacted]' },
    serializers: { err: describeError, error: describeError },
    hooks: {
      logMethod(
        this: Logger,
        parameters: Parameters<Logger['info']>,
        method: (...values: unknown[]) => void,
      ): void {
        method.apply(
          this,
          parameters.map((value: unknown) =>
            typeof value === 'string' ? withoutPersonalData(value) : value,
          ),
        );
      },
    },
  };
  return pretty
    ? pino(options, { write: settings.show ?? ((line: string) => process.stderr.write(line)) })
    : pino(options, pino.destination({ fd: 2, sync: true }));
}

/** Members whose values the log hides, at the top of an entry and one level below. */
const secretPaths = 'apiKey accessToken authorization token password email phone details body'
  .split(' ')
  .flatMap((name) => [name, `*.${name}`]);

/** True for errors whose message quotes a value: those of JSON.parse and BigInt, and PostgreSQL's data exceptions. */
const quotesValue = (error: Error, code: unknown): boolean =>
  error instanceof SyntaxError || (typeof code === 'string' && /^22[\dA-Z]{3}$/.test(code));

/** Returns what the log may show of an error: of its stack only the first twelve places. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { kind: typeof error };
  const { code, type } = error as { code?: unknown; type?: unknown };
  return {
    name: error.name,
    ...(typeof code === 'string' && { code }),
    ...(typeof type === 'string' && { type }),
    message: quotesValue(error, code) ? '[quotes a value]' : withoutPersonalData(error.message),
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 12)
      .join('\n'),
  };
}
