import { z } from 'zod';

export const failure = z
  .strictObject({
    error: z
      .strictObject({
        type: z.string().describe('Stable name of the error, such as "export.unreadable".'),
        message: z.string().describe('What failed.'),
        where: z.string().nullable().describe('Where. Null: the message says it.'),
        next: z.string().describe('What to do.'),
      })
      .describe('The error.'),
    exit_code: z.int().describe('Exit code of the command.'),
  })
  .describe('Printed in place of the facts when a command fails.');
