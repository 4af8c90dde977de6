import { expect, it } from 'vitest';
import { parseCredits, type Credits } from '../../../src/domain/money/decimal.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import {
  reconcileCredits,
  recordCreditStatement,
  sumCreditStatement,
  type CreditStatement,
} from '../../../src/ledger/credit-statements.ts';
import { testLookupRequest } from '../../helpers/warehouse/rows.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { callWithPhones } from '../../helpers/warehouse/late-calls.ts';

const warehouse = await warehouseOfFile();

const cycle = { startDate: '2026-11-01', endDate: '2026-11-30' };
const credits = (text: string): Credits => parseCredits(text)!;

async function state(
  consumed: string,
  of = testLookupRequest.service,
  during: CreditStatement['cycle'] = cycle,
): Promise<void> {
  await recordCreditStatement(
    warehouse.database,
    { service: of, runId: null },
    { consumed: credits(consumed), cycle: during },
  );
}

it('reconcileCredits() is empty for two statements of different billing cycles', async () => {
  await state('100', 'https://one.example/api/v1');
  await state('4', 'https://one.example/api/v1', { startDate: '2026-12-01', endDate: '2026-12-31' });
  expect(await reconcileCredits(warehouse.database, 'https://one.example/api/v1')).toEqual([]);
});

it('reconcileCredits() shows credits as unexplained that are neither settled nor reserved', async () => {
  await state('1000.5');
  const { attemptId } = await callWithPhones(warehouse);
  const rows = await warehouse.query<{ reserved: string; answered: string }>`
    update attempts set credits_answered = 2 where attempt_id = ${attemptId}
    returning trim_scale(credits_reserved)::text as reserved, trim_scale(credits_answered)::text as answered`;
  await state('1005.5');
  const held = credits(rows[0]!.reserved) - credits('2');
  const [open] = await reconcileCredits(warehouse.database, testLookupRequest.service);
  expect(open).toMatchObject({ billed: '5', settled: '2', stated: '2', unknown: '0', unexplained: '0' });
  expect(credits(open!.held)).toBe(held);

  await markAttemptUnknown(warehouse, attemptId, 'by a test');
  await warehouse.query`
    update attempts set status = 'settled', credits_settled = 2, closed_at = now()
    where attempt_id = ${attemptId}`;
  const [settled] = await reconcileCredits(warehouse.database, testLookupRequest.service);
  expect(settled).toMatchObject({ billed: '5', settled: '2', stated: '0', held: '0', unexplained: '3' });
});

it('sumCreditStatement() adds up the credits of all kinds, and has no total if one kind cannot be read', () => {
  const known = { consumed: credits('3') };
  expect(sumCreditStatement({ kinds: [known, { consumed: credits('1.5') }], cycle }).consumed).toBe(
    credits('4.5'),
  );
  expect(sumCreditStatement({ kinds: [known, { consumed: undefined }], cycle }).consumed).toBeUndefined();
  expect(sumCreditStatement({ kinds: [], cycle }).consumed).toBeUndefined();
});
