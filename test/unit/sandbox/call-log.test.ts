import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CallLog } from '../../../src/sandbox/account/call-log.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

function call(personId: string, at = 1): Parameters<CallLog['add']>[0] {
  const billed = [{ detail: 3, personId, credits: '1' }];
  const path = '/people/bulk_match';
  return { at, path, status: 200, requestId: `-${at}`, people: 1, credits: '1', refused: false, billed };
}

describe('the log of calls', () => {
  it('the sandbox’s log of calls returns calls in order, after a sequence number', () => {
    const log = new CallLog(undefined);
    for (const [index, person] of ['ada', 'bo', 'cy'].entries()) log.add(call(person, index));
    expect(log.calls(1)).toEqual([
      { sequence: 2, ...call('bo', 1) },
      { sequence: 3, ...call('cy', 2) },
    ]);
  });

  it('the sandbox’s log of calls drops details beyond its limit, and keeps all sums', () => {
    const log = new CallLog(undefined, 100);
    for (let number = 1; number <= 1_000; number += 1)
      log.add(call(`person ${number}`.replace(' ', '-'), number));
    const { calls, people, credits, detailsFrom } = log.bill();
    expect({ calls, people, credits }).toEqual({ calls: 1_000, people: 1_000, credits: '1000' });
    const kept = log.calls();
    expect(kept.length).toBeGreaterThanOrEqual(100);
    expect(kept.length).toBeLessThanOrEqual(125);
    expect(kept[0]!.sequence).toBe(detailsFrom);
    expect(log.calls(998).map(({ sequence }) => sequence)).toEqual([999, 1_000]);
  });

  it('the sandbox’s log of calls names people who were billed more than once', () => {
    const log = new CallLog(undefined);
    for (const person of ['ada', 'bo', 'ada']) log.add(call(person));
    expect(log.bill().billedAgain).toEqual({ ada: 2 });
  });

  it('the sandbox’s log of calls is the same after a restart, without the line that a kill cut off', () => {
    const directory = temporaryFolder(onTestFinished);
    const log = new CallLog(directory);
    log.add(call('ada'));
    log.addLate({
      at: 2,
      requestId: '-1',
      kind: 'phones',
      credits: '8',
      billed: [{ personId: 'ada', credits: '8' }],
    });
    appendFileSync(join(directory, 'calls.ndjson'), '{"sequence":2,"at');
    const again = new CallLog(directory);
    expect(again.calls()).toEqual(log.calls());
    expect(again.bill()).toEqual(log.bill());
    expect(again.bill()).toMatchObject({ credits: '9', lateCredits: '8' });
  });

  it('the sandbox’s log of calls has every call that follows a line that a kill cut off', () => {
    const directory = temporaryFolder(onTestFinished);
    appendFileSync(join(directory, 'calls.ndjson'), '{"sequence":1,"billed":[{"detail":0}');
    new CallLog(directory).add(call('ada'));
    expect(new CallLog(directory).calls().map(({ billed }) => billed[0]!.personId)).toEqual(['ada']);
  });
});
