import type { Command } from 'commander';
import { steerCommand } from '../run/steer-command.ts';
import { cancelRun } from '../run/steer-run.ts';

/** `enrich cancel RUN` */
export function cancelCommand(): Command {
  return steerCommand(
    'cancel',
    {
      description:
        'end a run: no further call is sent, what was paid for is kept, the rest of the rows are "cancelled"',
      need: 'unfinished',
      done: (runId) => `cancelled; enrich status ${runId} shows what it came to`,
    },
    cancelRun,
  );
}
