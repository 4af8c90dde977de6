import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // Only for what hangs: a machine under load starts the processes of an end-to-end test several times slower.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Two cores: more files at once only make the servers that they share slower.
    maxWorkers: 2,
  },
});
