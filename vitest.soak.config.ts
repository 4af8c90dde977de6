import { defineConfig } from 'vitest/config';

/** Minutes long, and so no part of the usual run. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/helpers/database/global-setup.ts'],
    // At the end of a file a rebuild computes everybody again: 20,000 people and contacts in minutes.
    hookTimeout: 900_000,
    maxWorkers: 1,
  },
});
