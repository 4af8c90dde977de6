import { visibleInLine } from './text/visible.ts';

/** Exit codes of the `enrich` binary: part of the public surface. */
export const exitCodes = { done: 0, failed: 1, usage: 2, needsPerson: 3 } as const;

/**
 * A failure that a person is meant to read: what is wrong, where, and what to do next.
 *
 * `type` is a stable name in dotted form (`export.unclosed-quote`, `setting.invalid`): programs branch on it and
 * Temporal shows it as the failure's type. The message never holds a secret or a cell of the export.
 */
export class Problem extends Error {
  readonly type: string;
  /** File and row, request, or setting, as a person would look for it. */
  readonly where: string | undefined;
  /** The next step, as an instruction. */
  readonly next: string;
  readonly exitCode: number;

  constructor(
    type: string,
    what: string,
    options: { next: string; where?: string; exitCode?: number; cause?: unknown },
  ) {
    super(what, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.type = type;
    this.where = options.where;
    this.next = options.next;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }

  /** What the other side of a wire advises, in its own words and without anything that was sent to it. */
  get advice(): readonly string[] {
    return this.cause instanceof Problem ? this.cause.advice : [];
  }

  /** The lines that a terminal shows. */
  explain(): string {
    const where = this.where === undefined ? '' : `\n  where: ${visibleInLine(this.where)}`;
    const advice = this.advice.map((each) => `\n  the service says: ${visibleInLine(each)}`).join('');
    return `${visibleInLine(this.message)}${where}\n  next:  ${visibleInLine(this.next)}${advice}`;
  }
}
