import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseAddress } from '../../../src/ingest/sources/export-address.ts';
import { findExports } from '../../../src/ingest/sources/find-export.ts';
import { download, type RemoteExport } from '../../../src/ingest/sources/download.ts';
import { writeStaged } from '../../../src/ingest/sources/staging-directory.ts';
import {
  findExportContent,
  obtainExport,
  type ExportAccess,
} from '../../../src/ingest/sources/obtain-export.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { S3Store } from '../../helpers/servers/s3-store.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

/** Lets writes of this process to open files fail until the test ends, as a full disk does. */
async function fillDisk(): Promise<void> {
  const handle = await openFile(process.execPath);
  const files = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const full = vi
    .spyOn(files, 'appendFile')
    .mockRejectedValue(
      Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' }),
    );
  onTestFinished(() => full.mockRestore());
}

const night = new Date('2026-11-20T23:30:00Z');
/** An export that a socket delivers in several pieces. */
const large = Buffer.from(`id,email\n${'1,ada@orbit.example\n'.repeat(50_000)}`);

let store: S3Store;
let folder: string;
let access: ExportAccess;

const warehouse = await warehouseOfFile({ connections: 2 });
// The standard chain of credentials begins with the environment.
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'swordfish',
  AWS_REGION: 'eu-central-1',
});

beforeEach(async () => {
  store = await S3Store.open();
  folder = temporaryFolder(onTestFinished);
  access = {
    stagingDirectory: join(folder, 'staging'),
    s3: { endpoint: store.endpoint },
    pool: warehouse.pool,
    maxBytes: 4 * 1024 * 1024,
    retryPauses: [1, 1, 1],
  };
  return () => store.close();
});

function obtain(address: string, changes: Partial<ExportAccess> = {}) {
  return obtainExport(parseAddress(address, '/'), { ...access, ...changes });
}

async function contentOf(address: string): Promise<string> {
  return readFileSync((await obtain(address)).path, 'utf8');
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/** Downloads into the staging directory what `open` returns each time. */
function downloadOf(open: RemoteExport['open'], retryPauses?: readonly number[]) {
  const write = (content: AsyncIterable<Uint8Array>) =>
    writeStaged(access.stagingDirectory, content, 'https://crm.example/a.csv');
  return download({ shown: 'https://crm.example/a.csv', open }, write, undefined, retryPauses);
}

it('a download that fills the disk fails without a retry, and the error names the staging directory', async () => {
  await fillDisk();
  let requests = 0;
  const full = () => {
    requests += 1;
    return Promise.resolve(Readable.from([large]));
  };
  await expect(downloadOf(full)).rejects.toMatchObject({
    type: 'data-directory.unusable',
    message: expect.stringContaining('ENOSPC'),
    where: access.stagingDirectory,
  });
  expect(requests).toBe(1);
});

it.each([
  ['does not exist', 'ENOTFOUND'],
  ['has an expired certificate', 'CERT_HAS_EXPIRED'],
  ['has a certificate of a private authority', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
])('a remote export at a host that %s fails without a retry, as export.unreachable', async (_, code) => {
  const refused = downloadOf(() => Promise.reject(Object.assign(new Error('no connection'), { code })));
  await expect(refused).rejects.toMatchObject({ type: 'export.unreachable' });
});

it('a download that is cut off each time fails after four tries, and leaves no file', async () => {
  let tries = 0;
  const openShort = () => {
    tries += 1;
    const cut = async function* () {
      yield Buffer.alloc(10);
      await Promise.reject(new Error('other side closed'));
    };
    return Promise.resolve(cut());
  };
  await expect(downloadOf(openShort, [1, 1, 1])).rejects.toMatchObject({ type: 'export.unreachable' });
  expect(tries).toBe(4);
  expect(readdirSync(access.stagingDirectory)).toEqual([]);
});

describe.each([
  ['https', (path: string) => `${store.endpoint}/${path}`],
  ['s3', (path: string) => `s3://${path}`],
])('an export at a URL of %s', (_kind, addressOf) => {
  it('a remote export is downloaded to the staging directory, readable only by its user', async () => {
    store.put('crm/contacts.csv', large);
    const obtained = await obtain(addressOf('crm/contacts.csv'));
    expect(obtained.sha256).toBe(sha256(large));
    expect(readFileSync(obtained.path).equals(large)).toBe(true);
    expect(statSync(obtained.path).mode & 0o777).toBe(0o600);
    expect(statSync(access.stagingDirectory).mode & 0o777).toBe(0o700);
  });

  it('a remote export is downloaded from its beginning if the connection breaks', async () => {
    store.put('crm/contacts.csv', large);
    store.interference.cutAfter = 300_000;
    expect((await obtain(addressOf('crm/contacts.csv'))).sha256).toBe(sha256(large));
  });

  it('a remote export is requested again after a short outage of the server', async () => {
    store.put('crm/contacts.csv', large);
    store.interference.statuses.push(503, 503, 500);
    expect((await obtain(addressOf('crm/contacts.csv'))).sha256).toBe(sha256(large));
  });

  it('a remote export that is missing, forbidden, empty or too large is refused at once', async () => {
    store.put('crm/empty.csv', '');
    store.put('crm/large.csv', Buffer.alloc(5 * 1024 * 1024));
    const refused = async (path: string) =>
      obtain(addressOf(path)).then(
        () => 'fetched',
        ({ type }: { type: string }) => type,
      );
    expect(await refused('crm/none.csv')).toBe('export.missing');
    expect(await refused('crm/empty.csv')).toBe('export.empty');
    expect(await refused('crm/large.csv')).toBe('export.too-large');
    store.interference.statuses.push(403);
    expect(await refused('crm/large.csv')).toBe('export.refused');
  });
});

it("the login of an export's URL is not sent to the host of a redirect", async () => {
  const elsewhere = await S3Store.open();
  onTestFinished(() => elsewhere.close());
  elsewhere.put('contacts.csv', 'id\n2\n');
  store.redirects.set('/moved.csv', `${elsewhere.endpoint.replace('127.0.0.1', 'localhost')}/contacts.csv`);
  const address = `${store.endpoint.replace('//', '//ada:swordfish@')}/moved.csv`;
  expect(await contentOf(address)).toBe('id\n2\n');
  expect(elsewhere.requests[0]?.headers.authorization).toBeUndefined();
});

it('an export is downloaded with the login and signature of its URL, and no error contains them', async () => {
  const signed = `${store.endpoint.replace('//', '//ada:swordfish@')}/contacts.csv?sig=swordfish`;
  store.login = `Basic ${Buffer.from('ada:swordfish').toString('base64')}`;
  store.put('contacts.csv', 'id\n1\n');
  expect(await contentOf(signed)).toBe('id\n1\n');
  expect(store.requests[0]?.path).toBe('/contacts.csv?sig=swordfish');
  await store.close();
  const failure = (await obtain(signed).catch((error: unknown) => error)) as Error & { cause: Error };
  expect(`${failure.stack}${JSON.stringify(failure)}${failure.cause.stack}`).not.toContain('swordfish');
  store = await S3Store.open();
});

it.each([
  ['in a circle', () => `${store.endpoint}/contacts.csv`, 'export.unreachable'],
  ['to http', () => 'http://crm.example/contacts.csv', 'export.address'],
])('an export with a URL that redirects %s is refused', async (_, target, type) => {
  store.redirects.set('/contacts.csv', target());
  await expect(obtain(`${store.endpoint}/contacts.csv`)).rejects.toMatchObject({ type });
});

it('a run reads its export from the staging directory, or downloads the same content again', async () => {
  store.put('crm/contacts.csv', large);
  const { path: fetched } = await obtain('s3://crm/contacts.csv');
  const find = (filePath: string, options = {}) =>
    findExportContent({ filePath, fileSha256: sha256(large) }, access, options);
  expect(await find('-', { fetched })).toBe(fetched);
  rmSync(fetched);
  await expect(find('-')).rejects.toMatchObject({ type: 'export.gone' });
  await expect(find('https://crm.example/c.csv?…')).rejects.toMatchObject({ type: 'export.gone' });
  rmSync(await find('s3://crm/contacts.csv'));
  store.put('crm/contacts.csv', 'id\n');
  await expect(find('s3://crm/contacts.csv')).rejects.toMatchObject({ type: 'export.changed' });
  expect(readdirSync(access.stagingDirectory)).toEqual([]);
});

it('objects of S3 that match a pattern are found over all pages, oldest first, without folders', async () => {
  const find = async (kind: 'newest' | 'every-new', from: string) => {
    const found = await findExports({ kind, from }, night, 'Europe/Berlin', access);
    return found.map(({ address }) => (address.kind === 's3' ? address.key : ''));
  };
  for (const [age, key] of ['b.csv', 'a.csv', 'c.csv.part', 'deep/d.csv', 'e.json', 'f.csv'].entries())
    store.put(`crm/out/2026-11-21/${key}`, key, new Date(age * 60_000));
  store.put('crm/out/2026-11-21/', '');
  const keys = ['b.csv', 'a.csv', 'f.csv'].map((name) => `out/2026-11-21/${name}`);
  expect(await find('every-new', 's3://crm/out/{date}/*.csv')).toEqual(keys);
  expect(await find('newest', 's3://crm/out/{date}/?.csv')).toEqual(keys.slice(-1));
  expect(await find('newest', 's3://crm/none/*.csv')).toEqual([]);
});

it('standard input is staged under the hash of its content, and refused if it is empty', async () => {
  const obtained = await obtain('-', { standardInput: Readable.from([large]) });
  expect(obtained).toMatchObject({ sha256: sha256(large) });
  await expect(obtain('-', { standardInput: Readable.from([]) })).rejects.toMatchObject({
    type: 'export.empty',
  });
});

await warehouse.query`
  create schema crm;
  create table crm.contacts (id int, email text, "Note" text, opted_out bool, at timestamptz);
  insert into crm.contacts select n, 'p' || n || '@orbit.example', 'a "quote", and more', n = 2,
    '2026-11-21T12:00:00Z' from generate_series(3, 1, -1) n;
  create function crm.remove_contacts() returns void language sql as 'delete from crm.contacts';
  create table public.plain (id int);
  insert into public.plain values (1)`;

it('an export by SQL is CSV with the columns of the query, and its rows have a stable order', async () => {
  const before = await obtain('query:select * from crm.contacts');
  expect(readFileSync(before.path, 'utf8')).toBe(
    'id,email,Note,opted_out,at\n' +
      '1,p1@orbit.example,"a ""quote"", and more",f,2026-11-21 12:00:00+00\n' +
      '2,p2@orbit.example,"a ""quote"", and more",t,2026-11-21 12:00:00+00\n' +
      '3,p3@orbit.example,"a ""quote"", and more",f,2026-11-21 12:00:00+00\n',
  );
  await warehouse.query`update crm.contacts set email = email where id = 1`;
  expect((await obtain('query:select * from crm.contacts')).sha256).toBe(before.sha256);
});

it.each([
  ['an update', 'update crm.contacts set email = null returning *'],
  ['a delete inside a with clause', 'with gone as (delete from crm.contacts returning *) select * from gone'],
  ['several statements', 'select 1; delete from crm.contacts'],
  [
    'one that leaves the transaction',
    'select 1) to stdout; commit; delete from crm.contacts; copy (select 1',
  ],
  ['a call of a function that writes', 'select crm.remove_contacts()'],
  ['one that makes the transaction writable', `select set_config('transaction_read_only', 'off', false)`],
  ['invalid SQL', 'selekt'],
  ['a select from a missing table', 'select * from crm.nowhere'],
])('an export by SQL is refused and changes no row if the query is %s', async (_what, sql) => {
  await expect(obtain(`query:${sql}`)).rejects.toMatchObject({ type: 'export.query', exitCode: 2 });
  const rows = await warehouse.query`select count(email)::int as people from crm.contacts`;
  expect(rows).toEqual([{ people: 3 }]);
  expect(readdirSync(access.stagingDirectory)).toEqual([]);
});

it('an error during an export by SQL contains no value of a row', async () => {
  const failure = await obtain(`query:select email::int as email from crm.contacts`).catch(String);
  expect(failure).not.toContain('orbit.example');
});
