import { ServiceError, type Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { getSchedule } from '../../../src/cli/schedule/schedule-server.ts';

function clientThatFails(failure: Error): Client {
  const handle = {
    describe: async () => {
      throw failure;
    },
  };
  return { schedule: { getHandle: () => handle } } as unknown as Client;
}

it('getSchedule() names the schedule and the cause when Temporal does not describe it', async () => {
  const cause = Object.assign(new Error('4 DEADLINE_EXCEEDED'), { details: 'context deadline exceeded' });
  const client = clientThatFails(new ServiceError('Failed to describe schedule', { cause }));
  await expect(getSchedule(client, 'nightly')).rejects.toMatchObject({
    type: 'schedule.refused',
    message: 'Temporal reports: context deadline exceeded',
    where: 'nightly',
    next: expect.stringContaining('enrich doctor') as string,
    exitCode: 1,
  });
});

it('getSchedule() leaves an error as it is that explains itself', async () => {
  const error = new Error('another error');
  await expect(getSchedule(clientThatFails(error), 'nightly')).rejects.toBe(error);
});
