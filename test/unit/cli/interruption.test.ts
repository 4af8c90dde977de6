import { expect, it, onTestFinished } from 'vitest';
import { onInterruption } from '../../../src/dev/interruption.ts';

it('onInterruption() calls a handler once per signal, even after other handlers were removed', () => {
  for (let command = 0; command < 3; command += 1) onInterruption(() => {})();
  const told: boolean[] = [];
  onTestFinished(onInterruption((_signal, _exitCode, repeated) => told.push(repeated)));
  process.emit('SIGHUP', 'SIGHUP');
  process.emit('SIGHUP', 'SIGHUP');
  expect(told).toEqual([false, true]);
});
