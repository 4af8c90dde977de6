import { expect, it } from 'vitest';
import {
  rankPhone,
  readPhones,
  type DeliveredPhone,
  type Phone,
} from '../../../src/domain/identity/values/phone.ts';
import cases from '../../data/identity/phone.json' with { type: 'json' };

it.each(cases.delivered as [string, DeliveredPhone[], object[]][])(
  'readPhones() reads %s',
  (_, given, read) => expect(readPhones(given)).toMatchObject(read),
);

const phone: Phone = {
  number: '+1',
  e164: '+1',
  rawNumber: '+1',
  type: 'mobile',
  status: 'valid_number',
  dncStatus: null,
  confidence: null,
  position: 0,
};

it.each(cases.ranks as [string, Partial<Phone>, object][])('rankPhone() ranks %s', (_, given, ranks) =>
  expect(rankPhone({ ...phone, ...given })).toMatchObject(ranks),
);
