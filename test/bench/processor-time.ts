import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** Ticks of the clock in /proc are hundredths of a second on every architecture that Node supports. */
const millisecondsPerTick = 10;

interface ProcessTimes {
  readonly parent: number;
  /** Processor time of the process itself. */
  readonly own: number;
  /** Processor time of the process's ended children. */
  readonly ended: number;
}

function timesOf(pid: number | 'self'): ProcessTimes {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return {
    parent: fields[1]!,
    own: (fields[11]! + fields[12]!) * millisecondsPerTick,
    ended: (fields[13]! + fields[14]!) * millisecondsPerTick,
  };
}

/** Returns the processor time of a process in milliseconds. */
export function processMilliseconds(pid: number): number {
  return timesOf(pid).own;
}

/** Returns the processor time of a PostgreSQL server on this machine, with all of its sessions, in milliseconds. */
export async function postgresMilliseconds(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pid from pg_stat_activity');
  const { rows: own } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const server = timesOf(own[0]!.pid).parent;
  const { own: itself, ended } = timesOf(server);
  const sessions = rows.map(({ pid }) => {
    try {
      return timesOf(pid).own;
    } catch {
      return 0;
    }
  });
  return itself + ended + sessions.reduce((sum, each) => sum + each, 0);
}

/**
 * Returns the number of statements that the clients of the server have sent, without those of this file; undefined
 * without `pg_stat_statements`, which counts the statements of deferred triggers too. Functions and triggers name the
 * schema in their statements, and clients do not.
 */
export async function countStatements(pool: pg.Pool): Promise<number | undefined> {
  const { rows: loaded } = await pool.query(
    `select from pg_settings where name = 'shared_preload_libraries' and setting like '%pg_stat_statements%'`,
  );
  if (loaded.length === 0) return undefined;
  await pool.query('create extension if not exists pg_stat_statements with schema public');
  const { rows } = await pool.query<{ calls: number }>(
    `select sum(calls)::int as calls from public.pg_stat_statements
      where toplevel and query !~ 'enrichment\\.|pg_stat_activity|pg_backend_pid|pg_stat_statements'`,
  );
  return rows[0]!.calls;
}
