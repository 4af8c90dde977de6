import meanings from './error-codes.json' with { type: 'json' };
import { escapeControlsInLine } from './text/format.ts';

/** Exit codes of the `enrich` binary. They are part of the public interface. */
export const exitCodes = { done: 0, failed: 1, usage: 2, needsOperator: 3 } as const;

/**
 * An error for the operator: what is wrong, where, and what to do next. Programs branch on the stable `type`
 * (`export.unclosed-quote`), which Temporal shows. The message has no secret and no cell of the export.
 */
export class Problem extends Error {
  readonly type: string;
  /** Where the problem is: file and row, request, or setting. */
  readonly where: string | undefined;
  /** What to do next, as an imperative sentence. */
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

  /** Cells with their positions, only for the terminal of the export's owner: not in logs, JSON or Temporal. */
  get cells(): readonly string[] {
    return this.#cells;
  }

  /** What is wrong and where, in one sentence. */
  get sentence(): string {
    return this.where === undefined ? this.message : `${this.message} (${this.where})`;
  }

  /** Formats the problem as lines for a terminal. @param showsCells true: the lines may contain cells of the export */
  explain(showsCells = false): string {
    const where = this.where === undefined ? '' : `\n  where: ${escapeControlsInLine(this.where)}`;
    const cells = (showsCells ? this.cells : [])
      .map((cell) => `\n  cell:  ${escapeControlsInLine(cell)}`)
      .join('');
    return `${escapeControlsInLine(this.message)}${where}${cells}\n  next:  ${escapeControlsInLine(this.next)}`;
  }
}

/** A problem that the operator must correct first, because the same command would fail again. */
export class UsageProblem extends Problem {
  constructor(
    type: string,
    what: string,
    options: { next: string; where?: string | undefined; cells?: readonly string[]; cause?: unknown },
  ) {
    super(type, what, { ...options, exitCode: exitCodes.usage });
  }
}

/** The code of an error, such as ECONNREFUSED. If several IP addresses of a host failed, the first failure counts. */
export function errorCode(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : errorCode(errors[0]);
}

/**
 * Formats the code of an error with its meaning: `connection refused (ECONNREFUSED)`. A code with no known meaning
 * stays as it is.
 */
export function describeErrorCode(code: string | undefined): string {
  if (code === undefined) return 'unknown error';
  return Object.hasOwn(meanings, code) ? `${meanings[code as keyof typeof meanings]} (${code})` : code;
}

/**
 * True if an error means that there is no trusted TLS connection. A retry fails until the operator corrects the cause.
 */
export function isTlsTrustError(code: string): boolean {
  return /^ERR_(?:TLS|SSL)_|CERT|^EPROTO$|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

/** Advice for an untrusted TLS connection. It follows the advice to check the URL. */
export const tlsTrustAdvice =
  'the clock of this machine and its certificates (NODE_EXTRA_CA_CERTS for a private authority)';

/** Who made a decision, and the reason. */
export interface DecisionNote {
  readonly by: string;
  readonly reason: string | undefined;
}

/**
 * The error for a port that another program uses, until the operator stops this program or changes the setting.
 *
 * @param port such as `8650`, or `7233 or 8233`
 * @param who the program that cannot listen, such as `the receiver`
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
