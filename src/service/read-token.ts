import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { commandEnvironment } from '../config/command-environment.ts';
import type { TokenOrigin } from '../config/settings.ts';
import { Problem } from '../domain/problem.ts';

/** A command asks a token endpoint; one that takes longer is waiting for a person to type. */
const commandMilliseconds = 10_000;
/** Far above any token: a command that prints more prints something else. */
const commandBytes = 64 * 1_024;

/**
 * There is no access token at the moment. Holds nothing of what file or command gave: it could be the token, or half of
 * it.
 */
export class UnreadableToken extends Problem {
  /** Of the system (`ENOENT`); `EXIT_1`, `TIMEOUT`; `NO_TOKEN` where something else was read than one word. */
  readonly code: string;

  constructor(setting: string, code: string) {
    super('service.no-token', `no access token could be read (${code})`, {
      where: setting,
      next: 'see by hand that the file holds a token, or that the command prints one, and nothing else',
    });
    this.code = code;
  }
}

/**
 * Reads an access token from where it is kept fresh.
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

/** Whether a text can stand in a header as it is. */
export function fitsHeader(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** What a shell command prints. Its standard error is not kept: commands that fail like to quote their credentials. */
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
