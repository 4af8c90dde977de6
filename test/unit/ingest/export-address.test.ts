import { expect, it } from 'vitest';
import { parseAddress, refusePlainHttp } from '../../../src/ingest/sources/export-address.ts';
import cases from '../../data/ingest/export-address.json' with { type: 'json' };

it.each(cases.addresses)('the URL or path %s is stored as %s and shown as %s', (given, kept, called) => {
  const address = parseAddress(given, '/exports');
  expect(address.text).toBe(kept);
  expect(address.name).toBe(called);
  expect(parseAddress(kept, '/elsewhere')).toEqual(address);
});

it.each(cases.secrets)(
  'the URL %s is stored as %s, with a note that its secrets are missing',
  (given, kept) => {
    const address = parseAddress(given, '/');
    expect(address.text).toBe(kept);
    expect(address.canBeFetchedAgain).toBe(false);
    expect(parseAddress(kept, '/').canBeFetchedAgain).toBe(false);
  },
);

it.each(cases.wrongAddresses)('the URL or path %s is refused: %s', (given, what) =>
  expect(() => parseAddress(given, '/')).toThrow(
    expect.objectContaining({ type: 'export.address', message: expect.stringContaining(what) }),
  ),
);

it('http is accepted only on this machine, and not after a redirect from another machine', () => {
  expect(parseAddress('http://127.0.0.1:8080/contacts.csv', '/').canBeFetchedAgain).toBe(true);
  const here = new URL('http://127.0.0.1:9000/contacts.csv');
  refusePlainHttp(here, new URL('http://localhost:9001/contacts.csv'));
  expect(() => refusePlainHttp(here, new URL('https://crm.example/contacts.csv'))).toThrow(
    expect.objectContaining({ type: 'export.address' }),
  );
});
