import { describe, expect, it } from 'vitest';
import {
  bestPhone,
  readPhones,
  type DeliveredPhone,
  type Phone,
} from '../../../src/domain/identity/phone.ts';

function delivered(given: Partial<DeliveredPhone>): DeliveredPhone {
  return {
    rawNumber: undefined,
    sanitizedNumber: undefined,
    type: undefined,
    status: undefined,
    dncStatus: undefined,
    confidence: undefined,
    position: undefined,
    ...given,
  };
}

function phone(number: string, more: Partial<Phone> = {}): Phone {
  return {
    number,
    e164: number,
    rawNumber: number,
    type: 'mobile',
    status: 'valid_number',
    dncStatus: null,
    confidence: null,
    position: 0,
    ...more,
  };
}

describe('a delivered number', () => {
  it.each([
    ['+1 (415) 555-0134', '+14155550134'],
    ['0044 20 7946 0018', '+442079460018'],
    ['+49 30 901820', '+4930901820'],
  ])('%s is kept as E.164', (rawNumber, e164) => {
    expect(readPhones([delivered({ rawNumber })])).toMatchObject([{ number: e164, e164, rawNumber }]);
  });

  it('that cannot be read without its country is kept as it came', () => {
    expect(readPhones([delivered({ rawNumber: '030 / 90 18 20' })])).toMatchObject([
      { number: '030 / 90 18 20', e164: null },
    ]);
  });

  it('that comes twice counts once, and one that is empty not at all', () => {
    const numbers = [
      delivered({ sanitizedNumber: '+14155550134', type: 'mobile' }),
      delivered({ rawNumber: '+1 415 555 0134', type: 'work_hq' }),
      delivered({ rawNumber: ' ' }),
    ];
    expect(readPhones(numbers)).toMatchObject([{ number: '+14155550134', type: 'mobile', position: 0 }]);
  });

  it('has nothing in it that a text column refuses, and a position that an integer column takes', () => {
    const [kept] = readPhones([
      delivered({ rawNumber: '+1 415\u0000 555 0134', type: 'mo\ud800bile', position: 2 ** 40 }),
    ]);
    expect(JSON.stringify(kept)).not.toMatch(/\\u0000|\\ud800/);
    expect(kept).toMatchObject({ position: 0 });
  });
});

describe('the number to call first', () => {
  it.each<[string, Phone[], string | undefined]>([
    ['is a mobile before the switchboard', [phone('+1', { type: 'work_hq' }), phone('+2')], '+2'],
    [
      'is one that was checked',
      [phone('+1', { status: 'no_status' }), phone('+2', { type: 'work_hq' })],
      '+2',
    ],
    ['is one that may be called', [phone('+1', { dncStatus: 'dnc' }), phone('+2', { status: null })], '+2'],
    ['is one on a do-not-call list where there is no other', [phone('+1', { dncStatus: 'dnc' })], '+1'],
    ['is never an invalid one', [phone('+1', { status: 'invalid_number' })], undefined],
    ['is the first in the order of the service', [phone('+1', { position: 1 }), phone('+2')], '+2'],
    ['does not depend on chance', [phone('+2'), phone('+1')], '+1'],
    [
      'of a type that nobody knows comes before the switchboard',
      [phone('+1', { type: 'work_hq' }), phone('+2', { type: 'pager' })],
      '+2',
    ],
    ['is nothing where there is none', [], undefined],
  ])('%s', (_, phones, expected) => {
    expect(bestPhone(phones)?.number).toBe(expected);
  });
});
