import { expect, it } from 'vitest';
import { findLostWorker } from '../../../src/cli/session/live-workers.ts';
import type { Session } from '../../../src/cli/session/session.ts';

function sessionWhoseTemporalFailsWith(error: unknown): Session {
  const client = {
    withDeadline: async () => {
      throw error;
    },
  };
  return {
    config: { temporalAddress: 'temporal:7233' },
    temporal: async () => client,
  } as unknown as Session;
}

it.each([4, 14])(
  'a command that waits for a run says that Temporal does not answer (gRPC code %i)',
  async (code) => {
    const session = sessionWhoseTemporalFailsWith({ code, details: 'no connection' });
    expect(await findLostWorker(session)).toMatchObject({ reason: 'Temporal does not answer' });
  },
);
