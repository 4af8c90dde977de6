import { expect, it } from 'vitest';
import { WrongSettings } from '../../../src/config/settings.ts';

const wrong = [{ setting: 'MAX_CREDITS_PER_RUN', what: 'must be credits from 0 up' }] as const;

it('an error of a setting names .env.example', () => {
  expect(new WrongSettings(wrong, () => undefined)).toMatchObject({
    where: 'MAX_CREDITS_PER_RUN',
    next: 'correct MAX_CREDITS_PER_RUN; .env.example explains all settings',
  });
});

it('an error of a flag does not name .env.example, which explains settings', () => {
  expect(new WrongSettings(wrong, () => '--max-credits')).toMatchObject({
    where: '--max-credits',
    next: 'correct --max-credits',
  });
});
