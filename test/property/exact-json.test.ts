import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatCredits } from '../../src/domain/money/decimal.ts';
import { readCredits, readJson, readRequestId } from '../../src/service/answers/exact-json.ts';

it.each([
  ['the last of repeated names, as JSON.parse does', '{"request_id":1,"request_id":2}', '2'],
  ['a number with spaces around it', '{ "request_id" :\n 3 }', '3'],
  ['undefined from a nested object', '{"a":{"request_id":4}}', undefined],
  ['undefined from a string that looks like a member', '{"a":"\\"request_id\\":5,"}', undefined],
  ['undefined from a list', '[{"request_id":6}]', undefined],
  ['undefined from a scalar', '7', undefined],
])('readRequestId() reads %s', (_, text, expected) => {
  expect(idOf(text)).toBe(expected);
});

/** Reads the request id of a JSON text. */
const idOf = (text: string): string | undefined => readRequestId(readJson(Buffer.from(text)));

it('readRequestId() keeps 64-bit and larger numbers exactly, also if a nested object has a request id', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n }), (id) => {
      const other = `{"request_id":${id + 1n}}`;
      expect(idOf(`{"request_id": ${id} }`)).toBe(String(id));
      expect(idOf(`{"request_id":"${id}"}`)).toBe(String(id));
      expect(idOf(`{"phone_enrichment":${other},"request_id":${id}}`)).toBe(String(id));
      expect(idOf(`{"request_id":${id},"phone_enrichment":${other}}`)).toBe(String(id));
      expect(idOf(`{"phone_enrichment":${other}}`)).toBeUndefined();
    }),
  );
});

it.each(['null', 'true', '1.5', '1e30', '{}', '[]', '""', '"a b"', '"../x"', '"\\u0000"'])(
  'readRequestId() finds no id in %s',
  (source) => expect(idOf(`{"request_id":${source}}`)).toBeUndefined(),
);

it('readCredits() keeps every decimal with six decimal places exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), (millionths) => {
      expect(readCredits(Number(formatCredits(millionths)))).toEqual({ credits: millionths });
    }),
  );
});

it.each<[unknown, object]>([
  [3, { credits: 3_000_000n }],
  [0.1, { credits: 100_000n }],
  ['2.5e1', { credits: 25_000_000n }],
  ['3.5', { credits: 3_500_000n }],
  [0, { credits: 0n }],
  [undefined, { problem: 'absent' }],
  [null, { problem: 'absent' }],
  [-1, { problem: 'unreadable' }],
  ['three', { problem: 'unreadable' }],
  ['', { problem: 'unreadable' }],
  [true, { problem: 'unreadable' }],
  [{}, { problem: 'unreadable' }],
  [Infinity, { problem: 'too-large' }],
  [0.0000001, { problem: 'unreadable' }],
  [0.30000000000000004, { credits: 300_000n }],
  ['2.9999999999999996', { credits: 3_000_000n }],
  ['1000000.00000000001', { problem: 'unreadable' }],
])('readCredits() reads %s', (source, expected) => {
  expect(readCredits(source)).toEqual(expected);
});

it('readJson() reads JSON that is quoted as one JSON string', () => {
  expect(readJson(Buffer.from(JSON.stringify('{"message":"x"}')))).toEqual({ message: 'x' });
});

it('readJson() skips a byte order mark', () => {
  expect(readJson(Buffer.from('\uFEFF{"a":1}'))).toEqual({ a: 1 });
});

it('readJson() never throws, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(() => readJson(Buffer.from(bytes))).not.toThrow();
    }),
  );
});

it('readJson() replaces characters that PostgreSQL cannot store', () => {
  const text = '{"a":["x\\u0000y","\\ud800","\\ud83d\\ude00","\\\\u0000"]}';
  expect(readJson(Buffer.from(text))).toEqual({ a: ['x\ufffdy', '\ufffd', '\u{1f600}', '\\u0000'] });
});
