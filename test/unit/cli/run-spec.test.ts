import { expect, it } from 'vitest';
import { chosenOptions } from '../../../src/cli/run/run-spec.ts';

it('chosenOptions() stores the names of --reveal in a fixed order', async () => {
  const { reveal } = await chosenOptions({ reveal: 'Phone, email' });
  expect(reveal).toEqual(['email', 'phone']);
});

it.each(['fax', 'email,fax', ''])(
  'chosenOptions() refuses --reveal "%s" and lists the names',
  async (reveal) => {
    await expect(chosenOptions({ reveal })).rejects.toMatchObject({
      type: 'setting.invalid',
      where: '--reveal',
      next: 'write email, phone, or email,phone',
    });
  },
);
