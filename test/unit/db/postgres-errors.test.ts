import { Client, DatabaseError } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import {
  isTransientDatabaseError,
  describeDatabaseFailure,
  describeTransientState,
} from '../../../src/db/postgres-errors.ts';
import { startScriptedServer } from '../../helpers/servers/scripted-server.ts';

it.each([
  ['28P01', 'database.login-refused', 2],
  ['3D000', 'database.missing', 2],
  ['42501', 'database.not-permitted', 2],
  ['25006', 'database.read-only', 1],
  ['ECONNREFUSED', 'database.unreachable', 1],
])('the PostgreSQL error %s is reported as %s with exit code %i', (code, type, exitCode) => {
  const error = Object.assign(new Error('refused'), { code });
  expect(describeDatabaseFailure(error, 'postgres://ada:secret@db/warehouse')).toMatchObject({
    type,
    exitCode,
    where: 'postgres://ada@db/warehouse',
  });
});

it('a server that accepts a connection and never answers the login is reported as database.unreachable', async () => {
  const silent = await startScriptedServer(
    () => {},
    () => true,
  );
  onTestFinished(() => silent.close());
  const connectionString = `postgres://127.0.0.1:${silent.port}/warehouse`;
  const client = new Client({ connectionString, connectionTimeoutMillis: 50 });
  const error: unknown = await client.connect().catch((reason: unknown) => reason);
  expect(describeDatabaseFailure(error, connectionString)).toMatchObject({ type: 'database.unreachable' });
});

it('the advice for permission denied sends analysts to psql, and does not make them owners', () => {
  const error = Object.assign(new Error('permission denied for table runs'), { code: '42501' });
  const { next } = describeDatabaseFailure(error, 'postgres://metabase@db/warehouse');
  expect(next).toContain('analysts query with psql');
  expect(next).not.toContain('let the user own');
});

/** Creates an error as PostgreSQL reports it. */
function reported(code: string, message: string): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code });
}

it.each([
  ['a full disk', reported('53100', 'could not extend file "base/5/2619": No space left on device')],
  ['an exhausted disk quota', reported('XX000', 'could not extend file "base/5/2619": Disk quota exceeded')],
  ['a session that is refused because the disk is full', reported('XX000', 'could not write init file')],
])('%s is a temporary state of the database, so the work is repeated later', (_, error) => {
  expect(isTransientDatabaseError(error)).toBe(true);
  expect(describeTransientState(error)).toEqual({
    type: 'database.disk-full',
    message: 'the disk of the database is full',
  });
});

it('describeTransientState() returns undefined for an error that can contain data of a row', () => {
  expect(describeTransientState(reported('23505', 'duplicate key'))).toBeUndefined();
  expect(describeTransientState(new Error('could not write init file'))).toBeUndefined();
  expect(isTransientDatabaseError(reported('XX000', 'unexpected chunk number 0 in pg_toast_2619'))).toBe(
    false,
  );
});
