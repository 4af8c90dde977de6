/**
 * Settings of a function that works on the rows of one call: its statements are planned once a session, whatever the
 * values, and find rows by indexes, whatever the sizes of the tables were then.
 */
export const keptPlans = `set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off`;
