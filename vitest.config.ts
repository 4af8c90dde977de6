import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of 40 seconds and more. Their tests mostly wait, such as for the heartbeat of a killed worker. */
const waitingLongest = ['late-faults', 'call-faults', 'steer', 'server-faults', 'late-results'];

/** Tests that seldom wait, on two cores. Each process spends several seconds of processor time on loading. */
const busy = { maxWorkers: 3, sequence: { groupOrder: 0 } };
/** The files that wait longest leave most of both cores idle. Afterwards, because a group has one number of processes. */
const waiting = { maxWorkers: 5, sequence: { groupOrder: 1 } };

/**
 * End-to-end tests first: a long file that begins last keeps the other processes waiting. Then one project after
 * another, because a process is kept only for files of its own project.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId, project }: TestSpecification): number => {
      if (!moduleId.includes('/test/end-to-end/'))
        return ['database', 'workflow', 'unit'].indexOf(project.name);
      return waitingLongest.some((name) => moduleId.endsWith(`/${name}.test.ts`)) ? -2 : -1;
    };
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // Hints of commands name `npx enrich` below npm, and tests run with and without npm.
    env: { npm_command: '' },
    // Each project starts only what its tests need, and only when one of them runs. Without isolation a process loads
    // the sources once and not for each file: several seconds of processor time each.
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false, ...busy },
      },
      {
        extends: true,
        test: {
          name: 'workflow',
          include: ['test/workflow/**/*.test.ts'],
          isolate: false,
          globalSetup: ['test/helpers/temporal/workflow-setup.ts'],
          ...busy,
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['test/{end-to-end,integration,property}/**/*.test.ts'],
          isolate: false,
          globalSetup: ['test/helpers/database/global-setup.ts'],
          ...waiting,
        },
      },
    ],
    // Only for what hangs: a machine under load starts the processes of an end-to-end test several times slower.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // By default expect.poll() gives up after a second, and a slow machine can need longer for each step of a test.
    expect: { poll: { timeout: 120_000 } },
    sequence: { sequencer: LongestFirst },
  },
});
