import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * End-to-end tests first: each takes a minute or two, and one that begins last keeps all other workers waiting. Where the times of
 * an earlier run are known, the default order is the longest first as well; in a clean clone it is the largest file first, and
 * `kill.test.ts`, of two minutes, would be in the last third.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/end-to-end/');
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // Each project starts only what its tests need, and only when one of them runs.
    projects: [
      // Without isolation each worker loads the sources once instead of once a file: 17 s of processor time instead of 40.
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: {
          name: 'workflow',
          include: ['test/workflow/**/*.test.ts'],
          globalSetup: ['test/helpers/workflow-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['test/{end-to-end,integration,property}/**/*.test.ts'],
          globalSetup: ['test/helpers/global-setup.ts'],
        },
      },
    ],
    // Only for what hangs: a machine under load starts the processes of an end-to-end test several times slower.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // More than the two cores that it is made for: `steer.test.ts` alone leaves both idle for three fifths of its two minutes, such
    // as while it waits for the heartbeat of a worker that was killed, and takes both in between.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
});
