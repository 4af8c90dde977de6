import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Store } from '../../../src/sandbox/store.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

function call(personId: string): Parameters<Store['addCall']>[0] {
  const billed = [{ personId, credits: '1' }];
  return {
    at: 1,
    path: '/people/bulk_match',
    status: 200,
    requestId: '-1',
    people: 1,
    credits: '1',
    billed,
  };
}

it('the sandbox’s store is the same after a restart, without the line that a kill cut off', () => {
  const directory = temporaryFolder(onTestFinished);
  const store = new Store(directory);
  store.addCall(call('ada'));
  const result = store.addResult({
    requestId: '-1',
    kind: 'phones',
    url: 'http://127.0.0.1:9/hook',
    body: '{}',
    readyAt: 2,
    credits: '8',
    billed: [{ personId: 'ada', credits: '8' }],
    rule: {},
  });
  store.billResult(result);
  store.billResult(result);
  store.addTry(result, false);
  appendFileSync(join(directory, 'log.ndjson'), '{"call":{"sequence":2,"at');
  const again = new Store(directory);
  again.addCall(call('bo'));
  const third = new Store(directory);
  expect(third.calls().map(({ billed }) => billed[0]!.personId)).toEqual(['ada', 'bo']);
  expect(third.bill()).toMatchObject({ calls: 2, credits: '10', lateCredits: '8' });
  expect(third.lateResults()).toEqual(store.lateResults());
});
