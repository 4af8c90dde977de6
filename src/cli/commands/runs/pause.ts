import type { Command } from '../../terminal/command.ts';
import { steerCommand } from '../../run/steer/steer-command.ts';
import { pauseRun, staysPaused } from '../../run/steer/stop-run.ts';

export function pauseCommand(): Command {
  return steerCommand(
    'pause',
    {
      description: 'Pause a run. Calls in flight are recorded first.',
      need: 'in-progress',
      done: (before) => {
        if (!staysPaused(before)) return `paused; continue with: enrich resume ${before.runId}`;
        const { reason = '', next = '' } = before.pauseReason ?? {};
        return `already paused, and the reason stays: ${reason}\nnext: ${next}`;
      },
    },
    pauseRun,
  );
}
