import type { TestWarehouse } from '../database/test-warehouse.ts';
import {
  booksOf,
  callWithPhones,
  deliverTo,
  deliveryStatuses,
  recordPhonesAnswer,
  type Books,
  type LateExtras,
  type PhonesCall,
} from './late-calls.ts';

export const emailsAndPhones: LateExtras = { reveal: [], waterfall: ['email', 'phone'] };

/** What tests of the credits of late results do in the warehouse of their file. */
export function lateMoneyOf(warehouse: TestWarehouse) {
  return {
    /** A call of three people that is answered. */
    answeredCall: async (extras?: LateExtras, credits: number | null = 3): Promise<PhonesCall> => {
      const call = await callWithPhones(warehouse, extras);
      await recordPhonesAnswer(warehouse, call, [1, 1, 1], credits);
      return call;
    },
    books: (call: PhonesCall): Promise<Books> => booksOf(warehouse, call),
    statuses: (call: PhonesCall): Promise<string[]> => deliveryStatuses(warehouse, call),
    deliver: (call: PhonesCall, body: object | Buffer): Promise<void> =>
      deliverTo(warehouse, call, Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))),
  };
}

/** The waterfall's addresses, or its phones, of some people. */
export function waterfallBody(
  call: PhonesCall,
  field: 'emails' | 'phone_numbers',
  credits: number,
  more: object = {},
  ids = call.ids,
): object {
  const phone = (index: number) => ({ sanitized_number: `+1415555020${index}`, type_cd: 'mobile' });
  return {
    status: 'success',
    request_id: call.requestId,
    credits_consumed: credits,
    people: ids.map((id, index) => ({
      id,
      ...(field === 'emails'
        ? { emails: [{ email: `${id}@orbit.example`, email_status_cd: 'verified' }] }
        : { phone_numbers: [phone(index)] }),
    })),
    ...more,
  };
}
