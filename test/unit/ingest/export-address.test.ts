import { describe, expect, it } from 'vitest';
import { parseAddress, refusePlainHttp } from '../../../src/ingest/sources/export-address.ts';
import cases from '../../data/ingest/export-address.json' with { type: 'json' };

describe('an address of an export', () => {
  it.each(cases.addresses)('the address %s is stored as %s and shown as %s', (given, kept, called) => {
    const address = parseAddress(given, '/exports');
    expect(address.text).toBe(kept);
    expect(address.name).toBe(called);
    expect(parseAddress(kept, '/elsewhere')).toEqual(address);
  });

  it.each([
    ['https://ada:swordfish@crm.example/contacts.csv', 'https://[login]@crm.example/contacts.csv'],
    ['https://s3.example/c.csv?X-Amz-Expires=60&X-Amz-Signature=swordfish', 'https://s3.example/c.csv?…'],
    ['https://crm.example/c.csv?t=swordfishswordfishswordfishswordfish', 'https://crm.example/c.csv?…'],
  ])('the address %s is stored without its secrets, and says that they are missing', (given, kept) => {
    const address = parseAddress(given, '/');
    expect(address.text).toBe(kept);
    expect(address.canBeFetchedAgain).toBe(false);
    expect(parseAddress(kept, '/').canBeFetchedAgain).toBe(false);
  });

  it.each([
    'http://crm.example/contacts.csv',
    'ftp://crm.example/a.csv',
    's3://bucket',
    's3://bucket/folder/',
  ])('the address %s is refused', (given) =>
    expect(() => parseAddress(given, '/')).toThrow(expect.objectContaining({ type: 'export.address' })),
  );

  it.each(cases.wrongAddresses)('the error of the address %s says how to write one', (given) =>
    expect(() => parseAddress(given, '/')).toThrow('this is no address of an object in S3'),
  );

  it('an http address is accepted from this machine', () =>
    expect(parseAddress('http://127.0.0.1:8080/contacts.csv', '/').canBeFetchedAgain).toBe(true));
});

describe('a redirect', () => {
  const here = new URL('http://127.0.0.1:9000/contacts.csv');

  it('a redirect from another machine to http on this machine is refused, one from this machine is not', () => {
    expect(() => refusePlainHttp(here, new URL('https://crm.example/contacts.csv'))).toThrow(
      expect.objectContaining({ type: 'export.address' }),
    );
    refusePlainHttp(here, new URL('http://localhost:9001/contacts.csv'));
  });
});
