import { expect, it } from 'vitest';
import { basic } from '../../../src/domain/text/basic-login.ts';
import { basicAuthorization } from '../../../src/ingest/sources/netrc.ts';
import { exportFiles } from '../../helpers/exports/export-file.ts';

const file = exportFiles();
const old = '# machine crm.example login old password former\n';

it.each([
  ['in one line', 'machine crm.example login ada password swordfish\n'],
  ['in several lines', 'machine crm.example\n  login ada\n  password swordfish\n'],
  [
    'below the login of another host',
    'machine a.example login bo password x\nmachine crm.example login ada password swordfish',
  ],
  ['below a login in a comment', `${old}  ${old}machine crm.example login ada password swordfish\n`],
  ['in quotes', 'machine crm.example login "ada" password "swordfish"\n'],
  ['as the default', 'machine a.example login bo password x\ndefault login ada password swordfish\n'],
  [
    'below a macro',
    'macdef init\nmachine crm.example login old password former\n\ndefault login ada password swordfish\n',
  ],
])('basicAuthorization() reads a login of .netrc %s', async (_, content) => {
  expect(await basicAuthorization(file(content), 'crm.example')).toBe(basic('ada', 'swordfish'));
});

it('basicAuthorization() reads blanks and quotes of a quoted password', async () => {
  const netrc = file(String.raw`machine crm.example login ada password "sword \"fish\" \\ 1"`);
  expect(await basicAuthorization(netrc, 'crm.example')).toBe(basic('ada', String.raw`sword "fish" \ 1`));
});

it.each([
  ['only in a comment', old, false],
  ['only as the default', 'default login ada password swordfish', true],
  ['without a password', 'machine crm.example login ada', false],
])('basicAuthorization() finds no login that .netrc has %s', async (_, content, named) => {
  expect(await basicAuthorization(file(content), 'crm.example', named)).toBeUndefined();
});
