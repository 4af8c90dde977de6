import { optionsThatDecide, pickOptions, type RunOptions } from '../../domain/runs/run-options.ts';
import { flagsOfRun } from '../run-options/read-run-options.ts';

/**
 * Says what becomes of the options of a command that continues a run with other options. The gates change in the run;
 * a quality gate that has paused the run still waits for a person.
 *
 * @param before the options of the run before the command
 * @param given the options of the command
 */
export function describeChangedOptions(
  run: { readonly runId: string; readonly waitsForPerson: boolean },
  before: RunOptions,
  given: RunOptions,
): readonly string[] {
  const { runId, waitsForPerson } = run;
  const gates = differences(optionsThatDecide('gate'), before, given).map(
    ({ flag, was, is }) => `the run has ${is ?? `no --${flag}`} from now on, before: ${was ?? 'none'}`,
  );
  const kept = differences(optionsThatDecide('waiting', 'start'), before, given).map(
    ({ flag, was }) =>
      `the run keeps ${was ?? `its options without --${flag}`}: for another value, enrich cancel ${runId} first`,
  );
  const paused = gates.length > 0 && waitsForPerson;
  return [
    ...gates,
    ...(paused ? [`the run stays paused: enrich resume ${runId} continues it with these options`] : []),
    ...kept,
  ];
}

interface Difference {
  readonly flag: string;
  /** As a person types it; undefined: not set. */
  readonly was: string | undefined;
  readonly is: string | undefined;
}

function differences(
  names: readonly (keyof RunOptions)[],
  before: RunOptions,
  given: RunOptions,
): readonly Difference[] {
  const [old, present] = [before, given].map((options) => flagsOfRun(pickOptions(options, names)));
  const typed = (flag: string, value: string | undefined) =>
    value === undefined ? undefined : `--${flag} ${value}`;
  return Object.keys({ ...old, ...present })
    .filter((flag) => old![flag] !== present![flag])
    .map((flag) => ({ flag, was: typed(flag, old![flag]), is: typed(flag, present![flag]) }));
}
