import type { Command } from 'commander';
import { steerCommand } from './steer-command.ts';

/** `enrich cancel RUN` */
export function cancelCommand(): Command {
  return steerCommand('cancel', {
    description:
      'end a run: no further call is sent, what was paid for is kept, the rest of the rows are "cancelled"',
    done: (runId) => `cancelling; enrich status ${runId} shows the end`,
  });
}
