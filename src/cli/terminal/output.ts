import { Problem, exitCodes } from '../../domain/problem.ts';
import { withoutPersonalData } from '../../telemetry/log.ts';

/** Facts go to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Progress, hints and errors go to standard error, so that facts can be piped. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

const decimal = /^-?\d+(\.\d+)?$/;

/** Left-aligned columns, numbers and decimals in text right-aligned. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => String(row[column] ?? '').length))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          decimal.test(String(cell))
            ? String(cell).padStart(widths[column]!)
            : String(cell).padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n');
}

/** `1h 5m`, `42s`: for reading, not for settings. */
export function readableSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`;
  return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3_600)}h`;
}

/**
 * Says what went wrong and what to do.
 *
 * @returns the exit code
 */
export function reportFailure(error: unknown): number {
  if (error instanceof Problem) {
    tell(`error: ${error.explain()}`);
    return error.exitCode;
  }
  const message = error instanceof Error ? withoutPersonalData(error.message) : String(error);
  tell(`error: ${message}\n  next:  set LOG_LEVEL=debug and try again; enrich doctor checks the set-up`);
  if (process.env['LOG_LEVEL'] === 'debug' && error instanceof Error)
    tell(withoutPersonalData(error.stack ?? ''));
  return exitCodes.failed;
}
