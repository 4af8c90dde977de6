import { counted } from '../../domain/text/counted.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { endChangingLine, showChangingLine, write } from '../terminal/output.ts';

export interface ProgressFigures {
  readonly phase: string;
  /** Nothing more is done for now, although not everything is. */
  readonly hasEnded?: boolean;
  readonly done: number;
  readonly total: number;
  readonly calls: number;
  readonly credits: string;
  /** Why nothing moves, if so. */
  readonly waiting: string | undefined;
  /** Seconds until all are asked, by the rate windows; undefined: by the pace until now. */
  readonly etaSeconds?: number | undefined;
}

const barWidth = 24;
/** Without a terminal a line this often is enough to see that it lives, and few enough for a log. */
const plainLineEveryMilliseconds = 5_000;

/**
 * Shows how far a run is on standard error: one line that changes on a terminal, a plain line now and then elsewhere.
 */
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
    const width = this.#stream.isTTY ? (this.#stream.columns || 100) - 1 : Number.POSITIVE_INFINITY;
    const line = fitting(this.#parts(figures), width);
    if (this.#stream.isTTY) {
      showChangingLine(line, this.#stream);
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

  #parts({ phase, hasEnded, done, total, calls, credits, waiting, etaSeconds }: ProgressFigures): Part[] {
    if (total === 0) return [{ text: `${phase} …`, rank: 0 }];
    const share = Math.min(1, done / total);
    const filled = Math.round(share * barWidth);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const rate = (done - (this.#firstDone ?? 0)) / Math.max(seconds, 0.001);
    const parts: (Part | false)[] = [
      { text: phase, rank: 0 },
      { text: `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`, rank: 4 },
      { text: `${done}/${total}`, rank: 0 },
      { text: counted(calls, 'call'), rank: 3 },
      { text: counted(credits, 'credit'), rank: 2 },
      rate > 0 && { text: `${rate.toFixed(1)}/s`, rank: 5 },
      (rate > 0 || etaSeconds !== undefined) &&
        done < total &&
        !hasEnded && { text: `ETA ${formatElapsed(etaSeconds ?? (total - done) / rate)}`, rank: 1 },
      waiting !== undefined && { text: waiting, rank: 0 },
    ];
    return parts.filter((part) => part !== false);
  }
}

interface Part {
  readonly text: string;
  /** Where the line is too narrow, the highest goes first; 0 stays, and is cut at the end if it must be. */
  readonly rank: number;
}

/** Why nothing moves stands last and matters most: figures give way to it. */
function fitting(parts: readonly Part[], width: number): string {
  const line = parts.map((part) => part.text).join('  ');
  if (line.length <= width) return line;
  const highest = Math.max(...parts.map((part) => part.rank));
  if (highest === 0) return `${line.slice(0, Math.max(0, width - 1))}…`;
  return fitting(
    parts.filter((part) => part.rank < highest),
    width,
  );
}
