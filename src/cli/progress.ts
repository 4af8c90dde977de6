import { clearLine, cursorTo } from 'node:readline';
import { readableSeconds } from './output.ts';

export interface ProgressFigures {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly calls: number;
  readonly credits: string;
  /** Why nothing moves, if so. */
  readonly waiting: string | undefined;
}

const barWidth = 24;
/** Without a terminal a line this often is enough to see that it lives, and few enough for a log. */
const plainLineEveryMilliseconds = 5_000;

/** Shows how far a run is on standard error: one line that changes on a terminal, a plain line now and then elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #firstDone: number | undefined;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #lastPhase = '';

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(figures: ProgressFigures): void {
    this.#firstDone ??= figures.done;
    const line = this.#line(figures);
    if (this.#stream.isTTY) {
      cursorTo(this.#stream, 0);
      this.#stream.write(line.slice(0, (this.#stream.columns || 100) - 1));
      clearLine(this.#stream, 1);
      return;
    }
    const now = performance.now();
    if (figures.phase === this.#lastPhase && now - this.#lastLineAt < plainLineEveryMilliseconds) return;
    this.#lastLineAt = now;
    this.#lastPhase = figures.phase;
    this.#stream.write(`${line}\n`);
  }

  /** Leaves the last line standing. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\n');
  }

  #line({ phase, done, total, calls, credits, waiting }: ProgressFigures): string {
    if (total === 0) return `${phase} …`;
    const share = Math.min(1, done / total);
    const filled = Math.round(share * barWidth);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const rate = (done - (this.#firstDone ?? 0)) / Math.max(seconds, 0.001);
    const parts = [
      `${phase} [${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${done}/${total}`,
      `${calls} calls`,
      `${credits} credits`,
      ...(rate > 0 ? [`${rate.toFixed(1)}/s`] : []),
      ...(rate > 0 && done < total ? [`ETA ${readableSeconds((total - done) / rate)}`] : []),
      ...(waiting === undefined ? [] : [waiting]),
    ];
    return parts.join('  ');
  }
}
