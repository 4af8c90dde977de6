import { describeErrorCode, UsageProblem, type Problem } from '../domain/problem.ts';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { CodecKeysOrigin } from '../config/settings.ts';

/** Cipher of Node.js, with a random nonce of 96 bits for each payload and an authentication tag. */
const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** Value of `encoding` in Temporal's published encryption samples, which therefore read these payloads too. */
const encryptedEncoding = 'binary/encrypted';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

export interface CodecKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Makes the codec with the keys of the settings. Without keys, it encrypts nothing and refuses encrypted payloads. */
export function payloadCodec(origin: CodecKeysOrigin | undefined): EncryptingCodec {
  return new EncryptingCodec(origin === undefined ? [] : readCodecKeys(origin));
}

/** Reads keys in the form `name:base64`, separated by commas or line breaks. No error shows a key. */
export function readCodecKeys(origin: CodecKeysOrigin): CodecKey[] {
  const setting = 'file' in origin ? 'TEMPORAL_CODEC_KEYS_FILE' : 'TEMPORAL_CODEC_KEYS';
  const text = 'file' in origin ? readKeyFile(origin.file) : origin.text;
  const keys = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry, index): CodecKey => {
      const [, id, base64] = /^([\w.-]{1,64}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
      if (id === undefined || base64 === undefined)
        throw wrongKeys(setting, `entry ${index + 1} is not name:key`);
      return { id, key: Buffer.from(base64, 'base64') };
    });
  if (keys.length === 0) throw wrongKeys(setting, 'there is no key');
  const twice = keys.find(({ id }, index) => keys.findIndex((other) => other.id === id) < index);
  if (twice) throw wrongKeys(setting, `there are two keys named "${twice.id}"`);
  return keys;
}

/** Encrypts payloads with the first key and decrypts with all keys. Plain payloads stay readable. */
export class EncryptingCodec implements PayloadCodec {
  readonly #keys: readonly CodecKey[];

  constructor(keys: readonly CodecKey[]) {
    this.#keys = keys;
  }

  /** Name of the key that encrypts. Undefined if nothing is encrypted. */
  get keyName(): string | undefined {
    return this.#keys[0]?.id;
  }

  // The interface of Temporal is asynchronous. The cipher itself takes microseconds.
  encode(payloads: Payload[]): Promise<Payload[]> {
    const [current] = this.#keys;
    return Promise.resolve(
      current === undefined ? payloads : payloads.map((payload) => encrypt(payload, current)),
    );
  }

  /** @param context names the workflow in the error of a payload that cannot be decrypted */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const where = ['TEMPORAL_CODEC_KEYS', context?.workflowId].filter(Boolean).join(', workflow ');
    return Promise.resolve(
      payloads.map((payload) =>
        textOf(payload.metadata?.['encoding']) === encryptedEncoding
          ? decrypt(payload, this.#keyOf(payload, where), where)
          : payload,
      ),
    );
  }

  #keyOf(payload: Payload, where: string): CodecKey {
    const id = textOf(payload.metadata?.['encryption-key-id']);
    const key = this.#keys.find((each) => each.id === id);
    if (key) return key;
    const what = `a payload in Temporal is encrypted with key "${id}", which is not set here`;
    throw new UsageProblem('codec.key-missing', what, {
      where,
      next:
        'give every worker, receiver and command the same TEMPORAL_CODEC_KEYS (or TEMPORAL_CODEC_KEYS_FILE); ' +
        'keep an old key until Temporal has deleted the last run that it encrypted, and each schedule has ' +
        'completed a run with the new key',
    });
  }
}

/** Encrypts a payload to nonce, ciphertext and tag. The name of its key stays readable. */
function encrypt(payload: Payload, { id, key }: CodecKey): Payload {
  const nonce = randomBytes(nonceBytes);
  const encrypting = createCipheriv(cipher, key, nonce);
  const sealed = encrypting.update(PayloadMessage.encode(payload).finish());
  return {
    metadata: {
      encoding: Buffer.from(encryptedEncoding),
      'encryption-key-id': Buffer.from(id),
    },
    data: Buffer.concat([nonce, sealed, encrypting.final(), encrypting.getAuthTag()]),
  };
}

/** Reverses `encrypt`. @throws UsageProblem `codec.undecipherable` for another key or changed bytes */
function decrypt(payload: Payload, { id, key }: CodecKey, where: string): Payload {
  const data = Buffer.from(payload.data ?? []);
  try {
    const decrypting = createDecipheriv(cipher, key, data.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decrypting.setAuthTag(data.subarray(-tagBytes));
    const opened = decrypting.update(data.subarray(nonceBytes, -tagBytes));
    return PayloadMessage.decode(Buffer.concat([opened, decrypting.final()]));
  } catch (cause) {
    const what = `a payload in Temporal cannot be decrypted with the key "${id}"`;
    throw new UsageProblem('codec.undecipherable', what, {
      where,
      next: 'set the key that encrypted the payload under this name, and give each new key a new name',
      cause,
    });
  }
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const what = `the file of keys for Temporal’s payloads cannot be read: ${describeErrorCode(code)}`;
    throw new UsageProblem('codec.keys', what, {
      where: `TEMPORAL_CODEC_KEYS_FILE: ${file}`,
      next: 'name a file that exists, and let this user read it (in a container: user 1000)',
    });
  }
}

function wrongKeys(setting: string, what: string): Problem {
  return new UsageProblem('codec.keys', `the keys for Temporal’s payloads are wrong: ${what}`, {
    where: setting,
    next:
      `write name:key,…, the one that encrypts first, each key ${keyBytes} random bytes in base64: openssl ` +
      `rand -base64 ${keyBytes}`,
  });
}
