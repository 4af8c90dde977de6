import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { countActions } from '../helpers/temporal/temporal-actions.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { freePort } from '../helpers/servers/ports.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/**
 * A soak of several minutes with all faults of late results at once: `npm run soak:late-results`.
 *
 * Of the phones of 2,000 people, a tenth is never delivered, a fifth is delivered before the answer, and the others are
 * delivered three times in any order. The receiver is killed every few seconds, and Temporal is stopped for a minute.
 */
const people = 2_000;
const standstillSeconds = 60;

const system = await TestSystem.ofFile({
  latency: 150,
  scenario: {
    deliveries: [
      { share: 0.1, never: true },
      { share: 0.3, before_answer: true },
      { copies: 3, delay: 5_000, jitter: 60_000 },
    ],
  },
});

it(
  'a run with 2,000 late phones loses no delivery, and its credits equal the bill, despite many faults',
  { timeout: 15 * 60_000 },
  async () => {
    const port = await freePort();
    const server = {
      ...system.sharedTemporal(),
      WEBHOOK_LISTEN: `127.0.0.1:${port}`,
      WEBHOOK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      LATE_RESULTS_POLL_AFTER: '90s',
      LATE_RESULTS_DEADLINE: '10m',
      RATE_LIMITS: 'unlimited',
    };
    const worker = system.begin(['worker'], server);
    let over = false;
    let kills = 0;
    const receiving = (async () => {
      while (!over) {
        const receiver = system.begin(['receiver'], server);
        await sleep(4_000);
        receiver.kill(over ? 'SIGTERM' : 'SIGKILL');
        kills += 1;
        await receiver.ended;
      }
    })();
    const running = system.enrich(
      ['run', system.sample(people, 9), '--yes', '--json', '--reveal', 'phone'],
      server,
    );
    await sleep(15_000);
    system.signalTemporal('SIGSTOP');
    await sleep(standstillSeconds * 1_000);
    system.signalTemporal('SIGCONT');
    const facts = (await running).facts();
    over = true;
    await receiving;
    worker.kill('SIGTERM');
    await worker.ended;

    expect(facts).toMatchObject({
      status: 'finished',
      credits: { reserved: '0', unknown: '0' },
      late_results: { awaited: 0, expired: 0 },
    });
    await expectPromisesKept(system, server.RATE_LIMITS);
    const deliveries = system.sandbox.log.deliveries();
    const accepted = deliveries.filter(({ status }) => status === 200).length;
    const effects = await system.warehouse.query<{ status: string; origin: string; count: number }>`
    select status, origin, count(*)::int as count
    from enrichment.webhook_deliveries group by 1, 2 order by 1, 2`;
    const bill = system.sandbox.log.bill();
    console.log(
      [
        `people ${people}, calls ${facts.calls}, receiver killed ${kills} times, Temporal still for ` +
          `${standstillSeconds} s`,
        `deliveries tried ${deliveries.length}, accepted ${accepted}`,
        ...effects.map(({ status, origin, count }) => `  ${origin} ${status}: ${count}`),
        `bill ${bill.credits} (late ${bill.lateCredits}), settled ${facts.credits.settled}`,
        `Temporal actions: ${await countActions(await system.temporal(), facts.run_id)}`,
      ].join('\n'),
    );
  },
);
