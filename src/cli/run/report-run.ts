import type { RunFacts } from '../../contract/run-facts.ts';
import { readContestedRows } from '../../report/figures.ts';
import type { Session } from '../session/session.ts';
import { print, printFacts, tell } from '../terminal/output.ts';
import { describeContestedRows } from './describe/describe-row-notes.ts';
import { describeRun, exitCodeOf } from './describe/describe-run.ts';

/** The figures of a run, with the number of rows whose record id names different people. */
export interface RunResult {
  readonly facts: RunFacts;
  readonly contestedRows: number;
}

export async function readRunResult({ warehouse }: Session, facts: RunFacts): Promise<RunResult> {
  return { facts, contestedRows: await readContestedRows(warehouse.database, facts.run_id) };
}

/** Prints the result of a run and sets the exit code. */
export function reportRun({ facts, contestedRows }: RunResult, json: boolean): void {
  printFacts<'run'>(json, facts, describeRun(facts));
  describeContestedRows(facts, contestedRows).forEach(json ? tell : print);
  process.exitCode = exitCodeOf(facts);
}
