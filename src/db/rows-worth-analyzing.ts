/** Fewer rows need no statistics. With more, missing statistics turned a hash join into nested loops. */
export const rowsWorthAnalyzing = 1_000;
