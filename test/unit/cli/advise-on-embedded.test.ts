import { expect, it } from 'vitest';
import { adviseOnEmbedded } from '../../../src/cli/session/session.ts';
import { Problem } from '../../../src/domain/problem.ts';

const full = new Problem('database.disk-full', 'the disk of the database is full', {
  where: 'postgres://enrich@127.0.0.1:38231/enrich',
  next: 'free space there',
});

it('adviseOnEmbedded() names the folder of an embedded PostgreSQL whose disk is full', () => {
  expect(adviseOnEmbedded(full, { postgres: true, temporal: true }, '/data/postgres')).toMatchObject({
    type: 'database.disk-full',
    where: '/data/postgres',
    next: 'free space there',
  });
});

it('adviseOnEmbedded() leaves the address of a configured PostgreSQL whose disk is full', () => {
  expect(adviseOnEmbedded(full, { postgres: false, temporal: true }, '/data/postgres')).toBe(full);
});
