import { defineConfig } from 'vitest/config';

/** Minutes long, and so no part of the usual run. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/helpers/database/global-setup.ts'],
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
