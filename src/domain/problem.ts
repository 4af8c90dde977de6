import { visibleInLine } from './text/visible.ts';

/** Exit codes of the `enrich` binary: part of the public surface. */
export const exitCodes = { done: 0, failed: 1, usage: 2, needsPerson: 3 } as const;

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

  /** The service's own advice, without anything that was sent to it. */
  get advice(): readonly string[] {
    return this.cause instanceof Problem ? this.cause.advice : [];
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
    const advice = this.advice.map((each) => `\n  the service says: ${visibleInLine(each)}`).join('');
    const cells = (showsCells ? this.cells : []).map((cell) => `\n  cell:  ${visibleInLine(cell)}`).join('');
    return `${visibleInLine(this.message)}${where}${cells}\n  next:  ${visibleInLine(this.next)}${advice}`;
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
