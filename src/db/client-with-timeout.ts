import pg from 'pg';

/** A client of its own, not connected yet, whose connection and statements fail without an answer in this time. */
export function clientWithTimeout(connectionString: string, milliseconds: number): pg.Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'enrich',
    connectionTimeoutMillis: milliseconds,
    query_timeout: milliseconds,
  });
  // The statements fail too; without a listener the event would end the process.
  client.on('error', () => undefined);
  return client;
}
