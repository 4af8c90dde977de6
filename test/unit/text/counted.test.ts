import { describe, expect, it } from 'vitest';
import { counted, countedPeople } from '../../../src/domain/text/counted.ts';

describe('so many of something', () => {
  it.each([
    [counted(1, 'call'), '1 call'],
    [counted(0, 'call'), '0 calls'],
    [counted(2, 'delivery', 'deliveries'), '2 deliveries'],
    [counted('1', 'credit'), '1 credit'],
    [counted('1.5', 'credit'), '1.5 credits'],
    [countedPeople(1), '1 person'],
    [countedPeople(12), '12 people'],
  ])('%s', (text, expected) => expect(text).toBe(expected));
});
