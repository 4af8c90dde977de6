import { describe, expect, it } from 'vitest';
import {
  rankPhone,
  readPhones,
  type DeliveredPhone,
  type Phone,
} from '../../../src/domain/identity/values/phone.ts';
import cases from '../../data/identity/phone.json' with { type: 'json' };

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
  ])('the delivered number %s is kept as E.164', (rawNumber, e164) => {
    expect(readPhones([delivered({ rawNumber })])).toMatchObject([{ number: e164, e164, rawNumber }]);
  });

  it('a delivered number that needs a country to be read is kept as it came', () => {
    expect(readPhones([delivered({ rawNumber: '030 / 90 18 20' })])).toMatchObject([
      { number: '030 / 90 18 20', e164: null },
    ]);
  });

  it('a delivered number that comes twice counts once, and an empty one not at all', () => {
    const numbers = [
      delivered({ sanitizedNumber: '+14155550134', type: 'mobile' }),
      delivered({ rawNumber: '+1 415 555 0134', type: 'work_hq' }),
      delivered({ rawNumber: ' ' }),
    ];
    expect(readPhones(numbers)).toMatchObject([{ number: '+14155550134', type: 'mobile', position: 0 }]);
  });

  it.each([
    [undefined, 'listed', 'listed'],
    ['no', 'listed', 'listed'],
    ['listed', 'no', 'listed'],
    ['no', undefined, 'no'],
    [undefined, 'no', null],
  ])(
    'a delivered number that comes with the do-not-call status %s, then %s, has %s',
    (first, second, kept) => {
      const rawNumber = '+14155550134';
      const numbers = [first, second].map((dncStatus) => delivered({ rawNumber, dncStatus }));
      expect(readPhones(numbers)).toMatchObject([{ dncStatus: kept }]);
    },
  );

  it('a delivered number loses what its columns refuse: characters of the text, size of the position', () => {
    const [kept] = readPhones([
      delivered({ rawNumber: '+1 415\u0000 555 0134', type: 'mo\ud800bile', position: 2 ** 40 }),
    ]);
    expect(JSON.stringify(kept)).not.toMatch(/\\u0000|\\ud800/);
    expect(kept).toMatchObject({ position: 0 });
  });
});

it.each(cases.ranks as [string, Partial<Phone>, object][])('rankPhone() ranks %s', (_, given, ranks) =>
  expect(rankPhone(phone('+1', given))).toMatchObject(ranks),
);
