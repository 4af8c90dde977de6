import type { Command } from 'commander';
import { steerCommand } from '../run/steer-command.ts';
import { pauseRun } from '../run/steer-run.ts';

/** `enrich pause RUN` */
export function pauseCommand(): Command {
  return steerCommand(
    'pause',
    {
      description: 'send no further call for a run; calls in the air are waited for',
      need: 'going-on',
      done: (runId) => `paused; go on with: enrich resume ${runId}`,
    },
    pauseRun,
  );
}
