import type { Command } from 'commander';
import { steerCommand } from '../../run/steer-command.ts';
import { pauseRun } from '../../run/steer-run.ts';

/** `enrich pause RUN` */
export function pauseCommand(): Command {
  return steerCommand(
    'pause',
    {
      description: 'Pause a run. Calls in flight are recorded first.',
      need: 'in-progress',
      done: (runId) => `paused; continue with: enrich resume ${runId}`,
    },
    pauseRun,
  );
}
