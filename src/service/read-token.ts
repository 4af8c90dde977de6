import { describeCode, Problem } from '../domain/problem.ts';
import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { commandEnvironment } from '../config/command-environment.ts';
import type { TokenOrigin } from '../config/settings.ts';

/** A request to a token endpoint takes less; a command that takes longer waits for input. */
const commandMilliseconds = 10_000;
/** Far more than the size of a token. */
const commandBytes = 64 * 1_024;

/**
 * No access token can be read. Has nothing of the content of the file or the output of the command, because
 * either could contain the token.
 */
export class UnreadableToken extends Problem {
  /**
   * A code of the system (`ENOENT`), `EXIT_1`, `TIMEOUT`, or `NO_TOKEN` if the content is not a single token.
   */
  readonly code: string;

  constructor(setting: string, code: string) {
    super('service.no-token', `no access token could be read: ${describeCode(code)}`, {
      where: setting,
      next: 'check that the file contains only the token, or that the command prints only the token',
    });
    this.code = code;
  }
}

/**
 * Reads an access token from its file or from the output of its command.
 *
 * @throws UnreadableToken
 */
export async function readToken(origin: TokenOrigin): Promise<string> {
  const [setting, read] =
    'file' in origin
      ? ['ENRICHMENT_ACCESS_TOKEN_FILE', () => readFile(origin.file, 'utf8')]
      : ['ENRICHMENT_ACCESS_TOKEN_COMMAND', () => outputOf(origin.command)];
  const text = await read().catch((error: unknown) => {
    throw new UnreadableToken(setting, codeOf(error));
  });
  const token = text.trim();
  if (!fitsHeader(token)) throw new UnreadableToken(setting, 'NO_TOKEN');
  return token;
}

/** Whether a text is allowed in an HTTP header. */
export function fitsHeader(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** The output of a shell command. Its standard error is discarded, because it can quote credentials. */
async function outputOf(command: string): Promise<string> {
  const { stdout } = await promisify(exec)(command, {
    timeout: commandMilliseconds,
    maxBuffer: commandBytes,
    windowsHide: true,
    env: commandEnvironment(),
  });
  return stdout;
}

function codeOf(error: unknown): string {
  const { code, killed } = error as { code?: unknown; killed?: unknown };
  if (typeof code === 'string') return code;
  if (killed === true) return 'TIMEOUT';
  return typeof code === 'number' ? `EXIT_${code}` : 'UNREADABLE';
}
