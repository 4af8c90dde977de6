import meanings from './error-codes.json' with { type: 'json' };
import { visibleInLine } from './text/format.ts';

/** Exit codes of the `enrich` binary: part of the public surface. */
export const exitCodes = { done: 0, failed: 1, usage: 2, needsOperator: 3 } as const;

/**
 * A failure for people to read: what is wrong, where, and what to do next.
 *
 * `type` is a stable dotted name (`export.unclosed-quote`, `setting.invalid`). Programs branch on it, and
 * Temporal shows it as the type of the failure. The message never has a secret or a cell of the export.
 */
export class Problem extends Error {
  readonly type: string;
  /** File and row, request, or setting. */
  readonly where: string | undefined;
  /** The next step, as an imperative. */
  readonly next: string;
  readonly exitCode: number;
  readonly #cells: readonly string[];

  constructor(
    type: string,
    what: string,
    options: {
      next: string;
      where?: string | undefined;
      exitCode?: number;
      cells?: readonly string[];
      cause?: unknown;
    },
  ) {
    super(what, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.type = type;
    this.where = options.where;
    this.next = options.next;
    this.exitCode = options.exitCode ?? exitCodes.failed;
    this.#cells = options.cells ?? [];
  }

  /** Cells of the export, each with its place, for the terminal of its owner. No log, JSON or history has them. */
  get cells(): readonly string[] {
    return this.#cells;
  }

  /** What is wrong and where, in one sentence. */
  get sentence(): string {
    return this.where === undefined ? this.message : `${this.message} (${this.where})`;
  }

  /**
   * The failure as lines for a terminal.
   *
   * @param showsCells the lines may have cells of the export
   */
  explain(showsCells = false): string {
    const where = this.where === undefined ? '' : `\n  where: ${visibleInLine(this.where)}`;
    const cells = (showsCells ? this.cells : []).map((cell) => `\n  cell:  ${visibleInLine(cell)}`).join('');
    return `${visibleInLine(this.message)}${where}${cells}\n  next:  ${visibleInLine(this.next)}`;
  }
}

/** A problem that the person who typed the command corrects: the same command again would fail as well. */
export class UsageProblem extends Problem {
  constructor(
    type: string,
    what: string,
    options: { next: string; where?: string | undefined; cells?: readonly string[]; cause?: unknown },
  ) {
    super(type, what, { ...options, exitCode: exitCodes.usage });
  }
}

/** The code of an error, such as ECONNREFUSED. If several addresses of a host failed, the first failure counts. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : errorCode(errors[0]);
}

/**
 * The code of an error with its meaning, for a message: `connection refused (ECONNREFUSED)`. A code without a known
 * meaning stays as it is.
 */
export function describeErrorCode(code: string | undefined): string {
  if (code === undefined) return 'unknown error';
  return Object.hasOwn(meanings, code) ? `${meanings[code as keyof typeof meanings]} (${code})` : code;
}

/** Whether an error says that there is no trusted TLS connection: a retry fails until a person corrects something. */
export function isTlsTrustError(code: string): boolean {
  return /^ERR_(?:TLS|SSL)_|CERT|^EPROTO$|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

/** What a person can do about it, behind the check of the address. */
export const tlsTrustAdvice =
  'the clock of this machine and its certificates (NODE_EXTRA_CA_CERTS for a private authority)';

/** Who decided, and why. */
export interface DecisionNote {
  readonly by: string;
  readonly reason: string | undefined;
}

/**
 * A port that another program uses: a usage error, because a retry fails until a person changes the program or the
 * setting.
 *
 * @param port such as `8650`, or `7233 or 8233`
 * @param who the program that cannot listen, such as `the receiver`
 * @param setting where the port is set
 * @param otherPort how to use another port
 */
export function portTakenProblem(
  port: number | string,
  who: string,
  setting: string,
  otherPort: string,
  cause?: unknown,
): Problem {
  return new UsageProblem('port.taken', `port ${port} is taken: ${who} cannot listen on it`, {
    where: setting,
    next: `end the program that uses it, or ${otherPort}`,
    cause,
  });
}
