import { counted, formatNumber } from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import { endChangingLine, showChangingLine, write } from '../terminal/output.ts';

export interface ProgressFigures {
  readonly phase: string;
  /** The run makes no progress for now, even if people are left. */
  readonly hasEnded?: boolean;
  readonly done: number;
  readonly total: number;
  /** People in calls until now. The pace counts only these, because skipped people take no time. */
  readonly asked: number;
  readonly calls: number;
  /** Settled credits. */
  readonly credits: string;
  /** Reserved credits of calls that are in flight or await late results. */
  readonly reserved: string;
  /** Why the run waits; undefined: it does not wait. */
  readonly waiting: string | undefined;
  /** Seconds until the last call, by the rate windows; undefined: by the pace until now; null: not known. */
  readonly etaSeconds?: number | null | undefined;
}

const barWidth = 24;
/** Milliseconds between two lines in a log. */
const plainLineEveryMilliseconds = 5_000;

/** Shows the progress of a run on standard error: one changing line on a terminal, plain lines elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #firstAsked: number | undefined;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #lastPhase = '';

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(figures: ProgressFigures): void {
    this.#firstAsked ??= figures.asked;
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

  #parts({
    phase,
    hasEnded,
    done,
    total,
    asked,
    calls,
    credits,
    reserved,
    waiting,
    etaSeconds,
  }: ProgressFigures): Part[] {
    if (total === 0)
      return [`${phase} …`, waiting].flatMap((text) => (text === undefined ? [] : [{ text, rank: 0 }]));
    const share = Math.min(1, done / total);
    const filled = Math.round(share * barWidth);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const rate = (asked - (this.#firstAsked ?? 0)) / Math.max(seconds, 0.001);
    const held = reserved === '0' ? '' : `, ${formatNumber(reserved)} reserved`;
    const parts: (Part | false)[] = [
      { text: phase, rank: 0 },
      { text: `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`, rank: 4 },
      { text: `${done}/${total}`, rank: 0 },
      { text: counted(calls, 'call'), rank: 3 },
      { text: `${counted(credits, 'credit')}${held}`, rank: 2 },
      rate > 0 && { text: `${rate.toFixed(1)}/s`, rank: 5 },
      etaSeconds !== null &&
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
  /** A terminal that is too narrow drops the highest rank first. Rank 0 stays, cut at the end if necessary. */
  readonly rank: number;
}

/** Drops parts until the line fits, because the reason of a wait comes last and matters most. */
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
