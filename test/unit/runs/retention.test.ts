import { describe, expect, it } from 'vitest';
import { parseRetention } from '../../../src/domain/runs/retention.ts';

const day = 86_400;

describe('RETENTION', () => {
  it('RETENTION has a time for each named kind of data', () => {
    expect(parseRetention('answers=90d, quarantine=365d')).toEqual({
      answers: 90 * day,
      quarantine: 365 * day,
    });
    expect(parseRetention('')).toEqual({});
  });

  it('RETENTION keeps quarantined deliveries until the service’s polls expire', () => {
    expect(parseRetention('quarantine=30d')).toEqual({ quarantine: 30 * day });
    expect(() => parseRetention('quarantine=29d')).toThrow('keeps quarantined deliveries for only 29d');
  });

  it('RETENTION keeps rows until the service has delivered all results', () => {
    expect(parseRetention('rows=30d')).toEqual({ rows: 30 * day });
    expect(() => parseRetention('rows=29d')).toThrow('keeps rows for only 29d');
  });

  it('RETENTION refuses an unknown kind with the known kinds', () => {
    expect(() => parseRetention('contacts=1d')).toThrow('RETENTION has the unknown kind "contacts"');
  });
});
