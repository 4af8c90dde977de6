import { basename, isAbsolute, resolve } from 'node:path';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { isLoopback } from '../../domain/text/url-parts.ts';

interface AnyAddress {
  /** The address on one line without secrets, which a run stores. `parseAddress` can read it. */
  readonly text: string;
  readonly name: string;
  /** The address for errors and lists; a name if the export has no address. */
  readonly shown: string;
  /** True if `text` is enough to download the export, because no secret was removed from it. */
  readonly canBeFetchedAgain: boolean;
}

export type ExportAddress = AnyAddress &
  (
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'standard-input' }
    /** `url` contains secrets for the download, so it must not be shown, logged or stored. */
    | { readonly kind: 'http'; readonly url: string }
    | { readonly kind: 's3'; readonly bucket: string; readonly key: string }
    | { readonly kind: 'query'; readonly sql: string }
  );

/** Replaces the query of a URL if it may contain a secret. */
const withheld = '?…';

/** Parses an address, or its stored text. @param folder base of a relative path @throws Problem `export.address` */
export function parseAddress(text: string, folder: string): ExportAddress {
  if (text === '-') {
    const name = 'standard input';
    return { kind: 'standard-input', text, name, shown: name, canBeFetchedAgain: false };
  }
  if (/^https?:/i.test(text)) return httpAddress(text);
  if (/^s3:/i.test(text)) return s3Address(text);
  if (text.startsWith('query:')) {
    const sql = text.slice('query:'.length);
    return { kind: 'query', sql, text, name: 'query', shown: 'query', canBeFetchedAgain: true };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw wrongAddress(
      text.slice(0, text.indexOf('://') + 3),
      'exports are not fetched from such addresses',
      'name a file, https://…, s3://bucket/key, or - for standard input',
    );
  }
  const path = isAbsolute(text) ? text : resolve(folder, text);
  return { kind: 'file', path, text: path, name: basename(path), shown: path, canBeFetchedAgain: true };
}

/** Parses a web URL. Its text has no login, and no query that may contain a secret. */
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
  const secret =
    text.endsWith(withheld) ||
    [...url.searchParams].some(([name, value]) => secretName.test(name) || value.length >= 32);
  const login = url.username !== '' || url.password !== '';
  const query = secret ? withheld : url.search;
  const shown = `${url.protocol}//${login ? '[login]@' : ''}${url.host}${url.pathname}${query}`;
  const name = basename(url.pathname) || url.host;
  return { kind: 'http', url: url.href, text: shown, name, shown, canBeFetchedAgain: url.href === shown };
}

/** Refuses http to other machines. @param from URL of a redirect: only this machine may redirect to this machine */
export function refusePlainHttp(url: URL, from = url): void {
  if (url.protocol === 'https:') return;
  if (url.protocol === 'http:' && from.protocol === 'http:' && isLoopback(url.hostname)) return;
  throw wrongAddress(
    `${url.protocol}//${url.host}`,
    'exports are fetched over https only (over http from this machine itself)',
    'use the https:// address of the export',
  );
}

/** A parameter with such a name, or with a long value, may be secret. All others can be shown and stored. */
const secretName =
  /sig|token|secret|passw|pwd|auth|cred|key|code|jwt|session|ticket|policy|expires|hmac|hash|^se$|^sp$|^sv$|^sr$/i;

function s3Address(text: string): ExportAddress {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/is.exec(text) ?? [];
  if (bucket !== undefined && key !== undefined && !key.endsWith('/')) {
    const shown = `s3://${bucket}/${key}`;
    return { kind: 's3', bucket, key, text: shown, name: basename(key), shown, canBeFetchedAgain: true };
  }
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
