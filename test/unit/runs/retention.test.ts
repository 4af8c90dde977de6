import { describe, expect, it } from 'vitest';
import { parseRetention } from '../../../src/domain/runs/retention.ts';

const day = 86_400;

describe('RETENTION', () => {
  it('says how long each is kept that it names', () => {
    expect(parseRetention('answers=90d, quarantine=365d')).toEqual({
      answers: 90 * day,
      quarantine: 365 * day,
    });
    expect(parseRetention('')).toEqual({});
  });

  it('keeps deliveries without effect for as long as the service can be asked again', () => {
    expect(parseRetention('quarantine=30d')).toEqual({ quarantine: 30 * day });
    expect(() => parseRetention('quarantine=29d')).toThrow('keeps deliveries without effect for only 29d');
  });

  it('knows what can be named', () => {
    expect(() => parseRetention('contacts=1d')).toThrow('RETENTION has the unknown kind "contacts"');
  });
});
