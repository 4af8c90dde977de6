import type { Command } from '../../terminal/command.ts';
import { steerCommand } from '../../run/steer/steer-command.ts';
import { cancelRun } from '../../run/steer/stop-run.ts';

export function cancelCommand(): Command {
  return steerCommand(
    'cancel',
    {
      description: 'End a run without further calls. Results are kept; the other rows become "cancelled".',
      need: 'unfinished',
      done: ({ runId }) => `cancelled; enrich status ${runId} shows its outcomes`,
    },
    cancelRun,
  );
}
