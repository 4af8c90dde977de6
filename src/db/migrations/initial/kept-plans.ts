/**
 * Settings of a function that works on the rows of one call. PostgreSQL plans its statements once a session, for all
 * values, and always with indexes, even if the tables were small at that time.
 */
export const keptPlans = `set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off`;
