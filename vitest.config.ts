import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // Only for what hangs: a machine under load starts the processes of an end-to-end test several times slower.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // One more than the two cores that it is made for: with two, half of the processors' time went by in waits, such as for
    // the heartbeat of a worker that was killed.
    maxWorkers: 3,
  },
});
