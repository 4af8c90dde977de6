import { z } from 'zod';

const state = z.enum(['ok', 'attention', 'broken']);

const finding = z.strictObject({
  part: z.string().describe('Part of the set-up.'),
  state: state.describe('State of the part.'),
  what: z.string().describe('What would be used, and its condition.'),
  next: z.string().optional().describe('What to do. Absent: nothing is to be done.'),
});

export const doctor = z
  .strictObject({
    state: state.describe('The worst state of all parts.'),
    findings: z.array(finding).describe('All parts that were checked.'),
  })
  .describe('The state of the set-up.');
