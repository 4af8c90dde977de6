import { counted, formatNumber } from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { endChangingLine, showChangingLine, write } from '../terminal/output.ts';

export interface ProgressFigures {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
  readonly calls: number;
  /** Settled credits. */
  readonly credits: string;
  /** Reserved credits of calls that are in flight or await late results. */
  readonly reserved: string;
  /** Why the run waits; undefined: it does not wait. */
  readonly waiting: string | undefined;
  /** Seconds until the last call; undefined: not known, or the run makes no progress for now. */
  readonly etaSeconds?: number | undefined;
}

const barWidth = 10;
/** Milliseconds between two lines in a log. */
const plainLineEveryMilliseconds = 5_000;

/** Shows the progress of a run on standard error: one changing line on a terminal, plain lines elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #lastPhase = '';

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(figures: ProgressFigures): void {
    const line = describeProgress(figures);
    if (this.#stream.isTTY) {
      const width = (this.#stream.columns || 100) - 1;
      showChangingLine(line.length <= width ? line : `${line.slice(0, width - 1)}…`, this.#stream);
      return;
    }
    const now = performance.now();
    if (figures.phase === this.#lastPhase && now - this.#lastLineAt < plainLineEveryMilliseconds) return;
    this.#lastLineAt = now;
    this.#lastPhase = figures.phase;
    write(this.#stream, `${line}\n`);
  }

  /** Keeps the last line on the terminal. */
  end(): void {
    if (this.#stream.isTTY) endChangingLine();
  }
}

/** A narrow terminal cuts the end, so what matters least comes last. */
function describeProgress({ phase, done, total, waiting, etaSeconds, ...money }: ProgressFigures): string {
  if (total === 0) return [`${phase} …`, waiting].filter(Boolean).join('  ');
  const filled = Math.round(Math.min(1, done / total) * barWidth);
  const parts = [
    phase,
    `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`,
    `${done}/${total}`,
    etaSeconds !== undefined && done < total && `ETA ${formatElapsed(etaSeconds)}`,
    waiting,
    counted(money.calls, 'call'),
    counted(money.credits, 'credit') +
      (money.reserved === '0' ? '' : `, ${formatNumber(money.reserved)} reserved`),
  ];
  return parts.filter(Boolean).join('  ');
}
