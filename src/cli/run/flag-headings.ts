/** Headings of `--help` above the flags of a run. */
export const flagHeadings = {
  export: 'Export:',
  data: 'Data to ask for:',
  credits: 'Credits:',
} as const;
