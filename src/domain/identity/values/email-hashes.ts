import { createHash } from 'node:crypto';

/** MD5 and SHA-256 of an address in lower-case hexadecimal, as exports write them. */
export function emailHashes(email: string): string[] {
  return ['md5', 'sha256'].map((algorithm) => createHash(algorithm).update(email).digest('hex'));
}
