import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * End-to-end tests first: each takes a minute or two, and one that begins last keeps two of three workers waiting. In the order of
 * their size, which is the default, a clean clone took a minute longer.
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
    include: ['test/**/*.test.ts'],
    exclude: ['test/soak/**'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // Only for what hangs: a machine under load starts the processes of an end-to-end test several times slower.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // One more than the two cores that it is made for: with two, half of the processors' time went by in waits, such as for
    // the heartbeat of a worker that was killed.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
});
