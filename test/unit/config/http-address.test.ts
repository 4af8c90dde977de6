import { expect, it } from 'vitest';
import { httpAddress, readConfig } from '../../../src/config/settings.ts';

it.each([
  ['8080', 'http://127.0.0.1:8080'],
  ['0.0.0.0:8080', 'http://0.0.0.0:8080'],
  ['[::1]:8080', 'http://[::1]:8080'],
])('httpAddress() shows where a server listens as a URL: WEBHOOK_LISTEN=%s', (setting, address) => {
  expect(httpAddress(readConfig({ WEBHOOK_LISTEN: setting }).webhook.listen!)).toBe(address);
});
