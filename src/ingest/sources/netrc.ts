import { readFile } from 'node:fs/promises';
import { basic } from '../../domain/text/basic-login.ts';

/**
 * Reads the login of a host from a `.netrc` file, as curl and git do, so that addresses need no password.
 *
 * @param named ignore the `default` entry of the file
 * @returns the value of an Authorization header; undefined if there is no file or no entry
 */
export async function basicAuthorization(
  netrcFile: string,
  host: string,
  named = false,
): Promise<string | undefined> {
  const text = await readFile(netrcFile, 'utf8').catch(() => '');
  const words = wordsOf(text);
  let matches = false;
  let login: string | undefined;
  let password: string | undefined;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (word === 'machine' || word === 'default') {
      if (login !== undefined && password !== undefined) break;
      matches = word === 'default' ? !named : words[(index += 1)] === host;
    } else if (word === 'login' || word === 'password' || word === 'account') {
      const value = words[(index += 1)];
      if (matches && word === 'login') login = value;
      if (matches && word === 'password') password = value;
    }
  }
  return login === undefined || password === undefined ? undefined : basic(login, password);
}

/** Removes comments and macros for FTP, which end at a blank line. A quoted word can have blanks. */
function wordsOf(text: string): string[] {
  const bare = text.replaceAll(/^macdef[^]*?(?:\n\s*\n|$(?![^]))/gm, '').replaceAll(/^[ \t]*#.*$/gm, '');
  return [...bare.matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g)].map(
    ([word, quoted]) => quoted?.replaceAll(/\\(.)/g, '$1') ?? word,
  );
}
