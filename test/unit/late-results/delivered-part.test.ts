import { describe, expect, it } from 'vitest';
import { deliveredPart, type DeliveredShare } from '../../../src/domain/late-results/delivered-part.ts';
import { lateBill } from '../../../src/domain/late-results/late-bill.ts';

const call = { ids: ['ada', 'bert'], hidden: 0, unlisted: 0, surplus: 0, idsOfRows: [] };

function share(knownId: string, values: Partial<DeliveredShare> = {}): DeliveredShare {
  const fields = ['emails', 'phone_numbers'];
  return {
    knownId,
    isOther: false,
    alias: knownId,
    hasEmails: true,
    hasPhones: true,
    fields,
    isPending: false,
    ...values,
  };
}

function partOf(targetFields: readonly string[], people: readonly DeliveredShare[]) {
  return deliveredPart({ kind: 'waterfall', people, targetFields, bearsRequestId: true }, call)!;
}

describe('deliveredPart', () => {
  it('deliveredPart() leaves out results that a body repeats beside its target fields', () => {
    const phones = ['waterfall_phone/0', 'waterfall_phone/1'];
    expect(partOf(['phone_numbers'], [share('ada'), share('bert')])).toEqual({
      covers: phones,
      brings: phones,
    });
  });

  it('deliveredPart() leaves out repeated results if the vendors found nothing for the target fields', () => {
    const nothing = share('ada', { hasPhones: false });
    expect(partOf(['phone_numbers'], [nothing])).toEqual({ covers: ['waterfall_phone/0'], brings: [] });
  });

  it('deliveredPart() takes the results that a body has if it has none for its target fields', () => {
    const emails = share('ada', { hasPhones: false, fields: ['emails'] });
    const entries = ['waterfall_email/0'];
    expect(partOf(['phone_numbers'], [emails])).toEqual({ covers: entries, brings: entries });
  });

  it('lateBill() adds the prices of addresses and of phones with the addresses repeated', () => {
    const emails = share('ada', { hasPhones: false, fields: ['emails'] });
    const parts = [
      { ...partOf(['emails'], [emails]), credits: 6n },
      { ...partOf(['phone_numbers'], [share('ada')]), credits: 15n },
    ];
    expect(lateBill(parts)).toMatchObject({ credits: 21n, certain: true });
  });
});
