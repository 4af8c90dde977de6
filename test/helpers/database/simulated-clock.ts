import type pg from 'pg';

interface Database {
  readonly pool: pg.Pool;
}

/**
 * Lets a test move the clock of its database. The search path of the product's connections names the schema
 * `enrichment` first, so unqualified calls find the clock there.
 *
 * Install the clock before the first use of the database: a session keeps the first meaning of a function's name.
 */
export async function installSimulatedClock({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ relation: string; name: string }>(
    `select attrelid::regclass::text as relation, attname as name
     from pg_attrdef d
     join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
     where pg_get_expr(adbin, adrelid) ~ 'now\\(\\)|clock_timestamp\\(\\)'`,
  );
  await setSimulatedClock({ pool }, 0);
  for (const { relation, name } of rows)
    await pool.query(`alter table ${relation} alter column ${name} set default enrichment.clock_timestamp()`);
}

/** Sets the simulated clock. @param secondsAhead seconds by which it is ahead of the real clock */
export async function setSimulatedClock({ pool }: Database, secondsAhead: number): Promise<void> {
  for (const [name, volatility] of [
    ['now', 'stable'],
    ['clock_timestamp', 'volatile'],
  ])
    await pool.query(
      `create or replace function enrichment.${name}() returns timestamptz language sql ${volatility}
       return pg_catalog.${name}() + make_interval(secs => ${secondsAhead})`,
    );
}
