import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders in the order in which their files run; the names of files of 40 seconds and more come first. */
const order = ['end-to-end', 'integration', 'property', 'workflow', 'unit'];
const longest = ['late-faults', 'call-faults', 'steer', 'server-faults', 'late-results', 'run'];

/** A long file that begins last would keep the other processes waiting. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      longest.some((name) => moduleId.endsWith(`/end-to-end/${name}.test.ts`))
        ? -1
        : order.findIndex((folder) => moduleId.includes(`/test/${folder}/`));
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    include: ['test/{unit,workflow,integration,end-to-end,property}/**/*.test.ts'],
    globalSetup: ['test/helpers/temporal/workflow-setup.ts', 'test/helpers/database/global-setup.ts'],
    // Hints of commands name `npx enrich` below npm, and tests run with and without npm.
    env: { npm_command: '' },
    // Without isolation a process loads the sources once and not for each file: several seconds of processor time.
    isolate: false,
    // For two cores: end-to-end tests wait, such as for the heartbeat of a killed worker. With five, a run took longer.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Only for what hangs: a machine under load starts the processes of an end-to-end test several times slower.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // By default expect.poll() gives up after a second, and a slow machine can need longer for each step of a test.
    expect: { poll: { timeout: 120_000, interval: 200 } },
  },
});
