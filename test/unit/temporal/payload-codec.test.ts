import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it } from 'vitest';
import { EncryptingCodec, payloadCodec, readCodecKeys } from '../../../src/temporal/payload-codec.ts';
import { readConfig } from '../../../src/config/settings.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const oldKey = { id: '2026-05', key: randomBytes(32) };
const newKey = { id: '2026-11', key: randomBytes(32) };
const value = { file: 'contacts.csv', maxCredits: '500', text: 'Zürich 🦉' };
const payload = defaultPayloadConverter.toPayload(value);

const entry = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

async function readWith(codec: EncryptingCodec, encrypted: (typeof payload)[]): Promise<unknown> {
  const [decoded] = await codec.decode(encrypted);
  return defaultPayloadConverter.fromPayload(decoded!);
}

it('an encrypted payload hides its content and decrypts to the original', async () => {
  const codec = new EncryptingCodec([newKey]);
  const encrypted = await codec.encode([payload]);
  const stored = JSON.stringify(
    encrypted.map(({ metadata, data }) => [
      Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]),
      Buffer.from(data!).toString('latin1'),
    ]),
  );
  expect(stored).not.toMatch(/contacts|json|500/);
  expect(await readWith(codec, encrypted)).toEqual(value);
});

it('an encrypted payload stays readable after a new key is added in front of the old key', async () => {
  const before = await new EncryptingCodec([oldKey]).encode([payload]);
  const both = new EncryptingCodec([newKey, oldKey]);
  expect(await readWith(both, before)).toEqual(value);
  expect(await readWith(new EncryptingCodec([newKey]), await both.encode([payload]))).toEqual(value);
});

it('an encrypted payload without its key fails with the name of the key', async () => {
  const encrypted = await new EncryptingCodec([oldKey]).encode([payload]);
  for (const codec of [new EncryptingCodec([newKey]), new EncryptingCodec([])])
    await expect(codec.decode(encrypted)).rejects.toMatchObject({
      type: 'codec.key-missing',
      message: expect.stringContaining('2026-05'),
    });
});

it('an encrypted payload is refused with another key of the same name, or after a changed byte', async () => {
  const encrypted = await new EncryptingCodec([oldKey]).encode([payload]);
  const impostor = new EncryptingCodec([{ id: oldKey.id, key: newKey.key }]);
  await expect(impostor.decode(encrypted)).rejects.toMatchObject({ type: 'codec.undecipherable' });
  const data = Buffer.from(encrypted[0]!.data!);
  for (const byte of [0, 20, data.length - 1]) {
    const changed = Buffer.from(data);
    changed[byte]! ^= 1;
    const codec = new EncryptingCodec([oldKey]);
    await expect(codec.decode([{ ...encrypted[0]!, data: changed }])).rejects.toMatchObject({
      type: 'codec.undecipherable',
    });
  }
  await expect(
    new EncryptingCodec([oldKey]).decode([{ ...encrypted[0]!, data: Buffer.from('short') }]),
  ).rejects.toMatchObject({ type: 'codec.undecipherable' });
});

it('an unencrypted payload is still read, so that encryption can begin during runs', async () => {
  expect(await readWith(new EncryptingCodec([newKey]), [payload])).toEqual(value);
});

it('codec keys can come from a file', () => {
  const file = join(temporaryFolder(), 'keys');
  writeFileSync(file, `${entry('one')}\n`);
  expect(payloadCodec(readConfig({ TEMPORAL_CODEC_KEYS_FILE: file }).temporalCodec)).toBeDefined();
  rmSync(file);
  expect(() => readCodecKeys({ file })).toThrow('cannot be read: no such file or folder (ENOENT)');
});

it.each([
  ['no text', '', 'there is no key'],
  ['a key without a name', randomBytes(32).toString('base64'), 'entry 1 is not name:key'],
  ['a short key', `one:${randomBytes(16).toString('base64')}`, 'entry 1 is not name:key'],
  [
    'a key in hexadecimal',
    `${entry('one')},two:${randomBytes(32).toString('hex')}`,
    'entry 2 is not name:key',
  ],
  ['two keys of one name', `${entry('one')},${entry('one')}`, 'two keys named "one"'],
])('codec keys are refused, and the error does not show them: %s', (_, text, what) => {
  let explained = '';
  try {
    readCodecKeys({ text });
  } catch (error) {
    explained = (error as { explain(): string }).explain();
  }
  expect(explained).toContain(what);
  for (const secret of text.split(/[:,]/).filter((part) => part.length > 8))
    expect(explained).not.toContain(secret);
});
