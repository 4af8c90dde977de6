import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runWorkers, type WorkerToRun } from '../../../src/worker.ts';

type State = ReturnType<WorkerToRun['getState']>;

class FakeWorker implements WorkerToRun {
  state: State = 'RUNNING';
  end: () => void = () => {};

  getState(): State {
    return this.state;
  }

  run(): Promise<void> {
    return new Promise((resolve) => {
      this.end = () => {
        this.state = 'STOPPED';
        resolve();
      };
    });
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('runWorkers() stops all workers and fails if one worker has failed', async () => {
  const failing = new FakeWorker();
  const other = new FakeWorker();
  const running = runWorkers([failing, other], () => other.end()).catch((error: unknown) => error);
  failing.state = 'FAILED';
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await running).toMatchObject({ message: expect.stringContaining('can poll Temporal no longer') });
  expect(other.state).toBe('STOPPED');
});
