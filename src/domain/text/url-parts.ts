/**
 * Moves the login of a URL (`https://user:password@host`) to an authorization header, because `fetch` refuses such a
 * URL with an error that quotes the password.
 */
export function moveLoginToHeader(address: string): {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const url = new URL(address);
  const login = `${decodePercent(url.username)}:${decodePercent(url.password)}`;
  url.username = '';
  url.password = '';
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  return { url: url.href, headers: login === ':' ? {} : { authorization } };
}

/** Decodes `%C3%A9` in a part of a URL. Invalid codes stay, such as the sign in `100%sure`. */
export function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
    try {
      return decodeURIComponent(codes);
    } catch {
      return codes;
    }
  });
}

/** True if a host is this machine. @param hostname as in `URL` */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
