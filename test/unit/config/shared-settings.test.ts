import { expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import { differingSettings, markSettings } from '../../../src/config/shared-settings.ts';

const marks = (settings: Record<string, string> = {}): string => markSettings(readConfig(settings));

it('differingSettings() names each shared setting in which two processes differ', () => {
  const changes = {
    ENRICHMENT_BASE_URL: 'https://service.example.com/api/v1',
    RATE_LIMITS: '20/minute,600/hour',
    MAX_CREDITS_PER_RUN: '100',
    MAX_CREDITS_PER_DAY: '500',
    MAX_CREDITS_PER_MONTH: '0.5',
    FRESHNESS: 'enriched=10d',
    RETENTION: 'answers=30d',
    WEBHOOK_PUBLIC_URL: 'https://hooks.example.com/enrich',
    CALL_TIMEOUT: '30s',
    LATE_RESULTS_POLL_AFTER: '1h',
    LATE_RESULTS_DEADLINE: '48h',
    POLL_PATH: '/results/{request_id}',
  };
  for (const [name, value] of Object.entries(changes))
    expect(differingSettings([marks(), marks({ [name]: value })])).toEqual([name]);
  expect(differingSettings([marks(changes), marks(), marks()])).toEqual(Object.keys(changes));
});

it('differingSettings() names no setting if values are equal, differently written, or may differ', () => {
  const written = { RATE_LIMITS: '600/hour', CALL_TIMEOUT: '1m', CALL_CONCURRENCY: '9', LOG_LEVEL: 'debug' };
  expect(differingSettings([marks(), marks(written)])).toEqual([]);
  const [one, other] = ['answers=30d,deliveries=20d', 'deliveries=20d,answers=30d'];
  expect(differingSettings([marks({ RETENTION: one }), marks({ RETENTION: other })])).toEqual([]);
  expect(differingSettings([])).toEqual([]);
});

it('differingSettings() leaves out settings that a process may lack, or that an older release does not mark', () => {
  const [set, unset] = [marks({ MAX_CREDITS_PER_DAY: '500' }), marks()];
  expect(differingSettings([set, unset])).toEqual(['MAX_CREDITS_PER_DAY']);
  expect(differingSettings([set, unset], false)).toEqual([]);
  expect(differingSettings([set, unset.split('.').slice(0, 3).join('.')])).toEqual([]);
});

it('markSettings() marks no login of an address', () => {
  const at = (login: string): string => marks({ WEBHOOK_PUBLIC_URL: `https://${login}hooks.example.com` });
  expect(at('ada:secret@')).toBe(at(''));
});
