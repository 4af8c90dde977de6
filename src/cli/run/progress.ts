import { statusText, type RunStatus } from '../../contract/run-statuses.ts';
import { counted, formatNumber } from '../../domain/text/format.ts';
import { formatElapsed } from '../../domain/text/duration.ts';
import type { RunMoney } from '../../runs/read-run-facts.ts';
import type { RunRecord } from '../../runs/runs.ts';
import { endChangingLine, showChangingLine, write } from '../terminal/output.ts';
import type { RunWait } from './run-status.ts';

/** Milliseconds between two lines in a log. */
const plainLineEveryMilliseconds = 5_000;

const phases: Partial<Record<RunStatus, string>> = {
  ingesting: 'reading the file',
  planning: 'planning',
  running: 'enriching',
};

/** The progress of a run in one line. A narrow terminal cuts the end, so what matters least comes last. */
export function describeProgress(
  { status, plan }: Pick<RunRecord, 'status' | 'plan'>,
  money: Pick<RunMoney, 'people' | 'calls' | 'settled' | 'reserved'>,
  { reason, etaSeconds }: RunWait,
): string {
  const phase = phases[status] ?? statusText(status);
  if (status !== 'running' || !plan) return [`${phase} …`, reason].filter(Boolean).join('  ');
  const parts = [
    phase,
    `${formatNumber(money.people)}/${formatNumber(plan.people)}`,
    etaSeconds !== undefined && money.people < plan.people && `ETA ${formatElapsed(etaSeconds)}`,
    reason,
    counted(money.calls, 'call'),
    counted(money.settled, 'credit') +
      (money.reserved === '0' ? '' : `, ${formatNumber(money.reserved)} reserved`),
  ];
  return parts.filter(Boolean).join('  ');
}

/** Shows the progress of a run on standard error: one changing line on a terminal, plain lines elsewhere. */
export class Progress {
  readonly #stream = process.stderr;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #lastStatus = '';

  show(status: RunStatus, line: string): void {
    if (this.#stream.isTTY) {
      showChangingLine(line.slice(0, (this.#stream.columns || 100) - 1));
      return;
    }
    const now = performance.now();
    if (status === this.#lastStatus && now - this.#lastLineAt < plainLineEveryMilliseconds) return;
    this.#lastLineAt = now;
    this.#lastStatus = status;
    write(this.#stream, `${line}\n`);
  }

  /** Keeps the last line on the terminal. */
  end(): void {
    if (this.#stream.isTTY) endChangingLine();
  }
}
