import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RateLimit } from '../../src/domain/rates/rate-limit.ts';
import {
  abandonCall,
  acquireSlot,
  endCall,
  matchScope,
  readRateWindows,
  releaseSlot,
} from '../../src/ledger/rate-windows.ts';
import { warehouseOfFile } from '../helpers/database/database.ts';

const cases = Number(process.env['RATE_WINDOW_CASES'] ?? 10);
const calls = { service: 'test', scope: matchScope };
const limitsOfProcesses: readonly (readonly RateLimit[])[] = [
  [{ calls: 3, seconds: 10 }],
  [
    { calls: 2, seconds: 1 },
    { calls: 5, seconds: 60 },
  ],
];

let now = 0;
let callCount = 0;

// The warehouse has one connection, and the test sets its clock.
const warehouse = await warehouseOfFile({ connections: 1 });
await warehouse.query`
  create schema test_clock;
  create function test_clock.clock_timestamp() returns timestamptz language sql volatile
    as $$ select to_timestamp(current_setting('test.seconds')::numeric) $$;
  set search_path = test_clock, pg_catalog, enrichment, enrichment_internal`;

/** An event of the call with this number; `milliseconds` pass before the event. */
type Event = { readonly milliseconds: number } & (
  | { readonly kind: 'ask'; readonly limits: number; readonly deadline: number }
  | { readonly kind: 'end' | 'abandon' | 'release'; readonly call: number }
);

const call = fc.nat({ max: 30 });
const passing = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 900 }),
  fc.integer({ min: 0, max: 15_000 }),
);

function eventsOf(milliseconds: fc.Arbitrary<number>): fc.Arbitrary<Event[]> {
  const ask = fc.record({
    kind: fc.constant('ask' as const),
    milliseconds,
    limits: fc.nat({ max: limitsOfProcesses.length - 1 }),
    deadline: fc.integer({ min: 1, max: 20 }),
  });
  const other = fc.record({
    kind: fc.constantFrom('end' as const, 'end' as const, 'abandon' as const, 'release' as const),
    milliseconds,
    call,
  });
  return fc.array(fc.oneof(ask, other), { minLength: 20, maxLength: 60 });
}

async function setClock(milliseconds: number): Promise<void> {
  now = milliseconds;
  await warehouse.pool.query(`set test.seconds = '${(milliseconds / 1_000).toFixed(3)}'`);
}

/** The reference: the latest moment at which the service may have counted each call, in milliseconds. */
class Counted {
  readonly until = new Map<string, number>();

  free({ calls: most, seconds }: RateLimit): number {
    const used = [...this.until.values()].filter((until) => until > now - seconds * 1_000).length;
    return Math.max(0, most - used);
  }

  /** Returns the milliseconds until every window has a free slot. */
  wait(limits: readonly RateLimit[]): number {
    const waits = limits
      .filter((limit) => this.free(limit) === 0)
      .map(({ calls: most, seconds }) => {
        const ends = [...this.until.values()].map((until) => Math.min(until, now)).sort((a, b) => b - a);
        return ends[most - 1]! + seconds * 1_000 - now;
      });
    return Math.max(0, ...waits);
  }
}

/**
 * Plays events against the ledger and the reference.
 *
 * @param inTime true: leaves out events of a call after the end of the call
 * @param checkWait compares the milliseconds that a call must wait by the ledger and by the reference; 0: acquired
 * @param checkFree compares the free slots of a window by both, after each event
 */
async function play(
  events: readonly Event[],
  { inTime }: { readonly inTime: boolean },
  checkWait: (milliseconds: number, counted: number) => void,
  checkFree: (slots: number, counted: number) => void,
): Promise<void> {
  const { database, pool } = warehouse;
  await pool.query('delete from rate_calls');
  await setClock(1_800_000_000_000);
  const counted = new Counted();
  const asked: string[] = [];
  for (const event of events) {
    await setClock(now + event.milliseconds);
    if (event.kind === 'ask') {
      const limits = limitsOfProcesses[event.limits]!;
      const callId = `call-${(callCount += 1)}`;
      const slot = await acquireSlot(database, { ...calls, callId, deadlineSeconds: event.deadline }, limits);
      checkWait(slot.kind === 'full' ? slot.milliseconds : 0, counted.wait(limits));
      if (slot.kind === 'acquired') {
        asked.push(callId);
        counted.until.set(callId, now + event.deadline * 1_000);
      }
    } else {
      const callId = asked[event.call];
      const until = callId === undefined ? undefined : counted.until.get(callId);
      if (callId === undefined || until === undefined || (inTime && until <= now)) continue;
      if (event.kind === 'end') {
        await endCall(database, calls, callId, 'accepted');
        counted.until.set(callId, Math.min(until, now));
      } else if (event.kind === 'abandon') {
        await abandonCall(database, callId, 7);
        // Prevents probe calls, because the test is about windows.
        await pool.query('update rate_scopes set refusals = 0');
        counted.until.set(callId, Math.max(until, now + 7_000));
      } else {
        await releaseSlot(database, callId);
        counted.until.delete(callId);
      }
    }
    for (const limits of limitsOfProcesses)
      for (const window of await readRateWindows(database, calls, limits))
        checkFree(window.free, counted.free(window));
  }
}

it(`the ledger allows a call exactly when a plain count of calls allows it, in ${cases} random sequences`, async () => {
  const equal = (actual: number, counted: number): void => expect(actual).toBe(counted);
  await fc.assert(
    fc.asyncProperty(eventsOf(passing), (events) => play(events, { inTime: true }, equal, equal)),
    { numRuns: cases },
  );
});

it(`if the clock steps back, rate windows free no slot early, and all slots in the end (${cases} cases)`, async () => {
  const steps = fc.oneof(passing, passing, fc.integer({ min: -20_000, max: 0 }));
  await fc.assert(
    fc.asyncProperty(eventsOf(steps), async (events) => {
      const notSooner = (milliseconds: number, counted: number): void =>
        expect(milliseconds).toBeGreaterThanOrEqual(counted);
      const notMore = (slots: number, counted: number): void => expect(slots).toBeLessThanOrEqual(counted);
      await play(events, { inTime: false }, notSooner, notMore);
      await setClock(now + 2_000_000);
      for (const limits of limitsOfProcesses) {
        const free = await readRateWindows(
          warehouse.database,
          { service: 'test', scope: matchScope },
          limits,
        );
        expect(free.map((window) => window.free)).toEqual(limits.map((limit) => limit.calls));
      }
    }),
    { numRuns: cases },
  );
});
