import { expect, it } from 'vitest';
import { counted, countedPeople } from '../../../src/domain/text/format.ts';

it.each([
  [counted(1, 'call'), '1 call'],
  [counted(0, 'call'), '0 calls'],
  [counted(1_200, 'call'), '1,200 calls'],
  [counted(2, 'delivery', 'deliveries'), '2 deliveries'],
  [counted('1', 'credit'), '1 credit'],
  [counted('1.5', 'credit'), '1.5 credits'],
  [countedPeople(1), '1 person'],
  [countedPeople(12), '12 people'],
])('counted() puts a number before its noun: %s', (text, expected) => expect(text).toBe(expected));
