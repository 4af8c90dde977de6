import { basename, isAbsolute, resolve } from 'node:path';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { isLoopback } from '../../domain/text/url-parts.ts';

export type ExportAddress =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'standard-input' }
  | {
      readonly kind: 'http';
      /** The address with its secrets, for the download. It must not be shown, logged or stored. */
      readonly url: string;
      /** The address without a login, and without a query that can contain a secret. */
      readonly shown: string;
    }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string }
  | { readonly kind: 'query'; readonly sql: string };

/** Replaces a part of an address that can be a secret. */
const withheld = '?…';

/**
 * Reads an address that a person or `addressText` has written: a path, `-`, `https://…`, `s3://bucket/key`,
 * `query:SQL`.
 *
 * @param folder base of a relative path
 * @throws Problem `export.address`
 */
export function parseAddress(text: string, folder: string): ExportAddress {
  if (text === '-') return { kind: 'standard-input' };
  if (/^https?:/i.test(text)) return httpAddress(text);
  if (/^s3:/i.test(text)) return s3Address(text);
  if (text.startsWith('query:')) return { kind: 'query', sql: text.slice('query:'.length) };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw wrongAddress(
      text.slice(0, text.indexOf('://') + 3),
      'exports are not fetched from such addresses',
      'name a file, https://…, s3://bucket/key, or - for standard input',
    );
  }
  return { kind: 'file', path: isAbsolute(text) ? text : resolve(folder, text) };
}

/** The address in one line without secrets, as a run stores and shows it. `parseAddress` reads it again. */
export function addressText(address: ExportAddress): string {
  switch (address.kind) {
    case 'file':
      return address.path;
    case 'standard-input':
      return '-';
    case 'http':
      return address.shown;
    case 's3':
      return `s3://${address.bucket}/${address.key}`;
    case 'query':
      return `query:${address.sql}`;
  }
}

/** The name of the export for a person: the name of the file, if it is a file. */
export function addressName(address: ExportAddress): string {
  switch (address.kind) {
    case 'file':
      return basename(address.path);
    case 'standard-input':
      return 'standard input';
    case 'http': {
      const { pathname, host } = new URL(address.url);
      return basename(pathname) || host;
    }
    case 's3':
      return basename(address.key);
    case 'query':
      return 'query';
  }
}

/** The address for errors and lists; an export without an address has a name. */
export function shownAddress(address: ExportAddress): string {
  return address.kind === 'file' || address.kind === 'http' || address.kind === 's3'
    ? addressText(address)
    : addressName(address);
}

/** Whether the stored address suffices for the download: no secret was left out. */
export function canBeFetchedAgain(address: ExportAddress): boolean {
  if (address.kind === 'standard-input') return false;
  return address.kind !== 'http' || address.url === address.shown;
}

function httpAddress(text: string): ExportAddress {
  if (!URL.canParse(text)) {
    throw wrongAddress(
      'https://…',
      'this is no web address',
      'write it as in https://exports.example/contacts.csv, in quotes where it has ? or &',
    );
  }
  const url = new URL(text);
  url.hash = '';
  refusePlainHttp(url);
  const secret = text.endsWith(withheld) || [...url.searchParams].some(mayBeSecret);
  const login = url.username !== '' || url.password !== '';
  const query = secret ? withheld : url.search;
  const shown = `${url.protocol}//${login ? '[login]@' : ''}${url.host}${url.pathname}${query}`;
  return { kind: 'http', url: url.href, shown };
}

/**
 * Refuses http to other machines, because data that is sent in the clear can be read and changed on the way.
 *
 * @param from what redirects there: a server elsewhere has no business with what listens on this machine
 * @throws Problem `export.address`
 */
export function refusePlainHttp(url: URL, from = url): void {
  if (url.protocol === 'https:') return;
  if (url.protocol === 'http:' && from.protocol === 'http:' && isLoopback(url.hostname)) return;
  throw wrongAddress(
    `${url.protocol}//${url.host}`,
    'exports are fetched over https only (over http from this machine itself)',
    'use the https:// address of the export',
  );
}

const secretName =
  /sig|token|secret|passw|pwd|auth|cred|key|code|jwt|session|ticket|policy|expires|hmac|hash|^se$|^sp$|^sv$|^sr$/i;

/** Signatures and tokens are long, or have a telling name. Any other parameter can be shown and stored. */
function mayBeSecret([name, value]: readonly [string, string]): boolean {
  return secretName.test(name) || value.length >= 32;
}

function s3Address(text: string): ExportAddress {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/is.exec(text) ?? [];
  if (bucket !== undefined && key !== undefined && !key.endsWith('/')) return { kind: 's3', bucket, key };
  throw wrongAddress(
    text.slice(0, 200),
    'this is no address of an object in S3',
    'write s3://bucket/key, such as s3://crm-exports/hubspot/contacts.csv; ' +
      'a bucket has 3 to 63 letters, digits, - and .',
  );
}

function wrongAddress(where: string, what: string, next: string): Problem {
  return new UsageProblem('export.address', what, { where, next });
}
