import { z } from 'zod';
import { exportFields } from '../../domain/crm/crm.ts';
import { UsageProblem } from '../../domain/problem.ts';
import type { ContactField } from './fields.ts';

/** A column, by its name in the header or by its position from 1. */
const columnSchema = z.union([z.string().min(1).max(2_000), z.int().min(1, 'columns are numbered from 1')]);
const columnsSchema = z.union(
  [columnSchema, z.array(columnSchema)],
  'must be the name or number of a column, or a list of these',
);
const optOutColumn = z.strictObject({ column: columnSchema, values: z.array(z.string().min(1)).min(1) });
const optOutColumns = z.union(
  [columnSchema, optOutColumn, z.array(z.union([columnSchema, optOutColumn]))],
  'must be a column, or a column with its values such as {"column": "Status", "values": ["left"]}, or a list',
);

/** Names of sources appear in Temporal and in `SOURCE/ID`, so only few characters are allowed. */
const sourceName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
const sourceForm = 'a short name of letters, digits, "_", "-" and "."';

const mappingSchema = z.strictObject({
  source: z.string().regex(sourceName, `must be ${sourceForm}`).optional(),
  encoding: z.string().optional(),
  delimiter: z
    .string()
    .regex(/^[^"\r\n\ufeff]$/, 'must be one character')
    .optional(),
  /** `none` is for files in which quotes are ordinary characters, such as `5" pipe`. */
  quotes: z.literal('none').optional(),
  /** `fill` completes short rows with empty cells. */
  short_rows: z.literal('fill').optional(),
  columns: z
    .strictObject({
      ...(Object.fromEntries(exportFields.map((field) => [field, columnsSchema])) as Record<
        ContactField,
        typeof columnsSchema
      >),
      opted_out: optOutColumns,
      opted_out_of_calls: optOutColumns,
    })
    .partial()
    .optional(),
  ignore: columnsSchema.optional(),
});

export type ExportMapping = z.infer<typeof mappingSchema>;
export type ColumnReference = z.infer<typeof columnSchema>;

/** Returns the name of `--source` if it is valid. @throws Problem `setting.invalid` */
export function requireValidSource(name: string): string {
  if (sourceName.test(name)) return name;
  throw new UsageProblem('setting.invalid', 'this text cannot name a source', {
    where: '--source',
    next: `write ${sourceForm}`,
  });
}

/** Checks the content of a mapping file. @throws Problem `mapping.invalid` with the position in the file */
export function requireValidMapping(content: unknown, file = 'mapping file'): ExportMapping {
  const result = mappingSchema.safeParse(content);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const place = issue.path.join('.');
  const shape = place === '' ? mappingSchema.shape : mappingSchema.shape.columns.unwrap().shape;
  const [what, next] =
    issue.code === 'unrecognized_keys'
      ? [`has an unknown key "${issue.keys[0]!}"`, `possible keys: ${Object.keys(shape).join(', ')}`]
      : [
          `is not understood: ${issue.message}`,
          'write for example {"columns": {"email": ["Work mail", "Private mail"], "contact_id": "Nr"}}; ' +
            'docs/guides/exports.md lists all fields',
        ];
  throw new UsageProblem('mapping.invalid', `the mapping file ${what}`, {
    where: place === '' ? file : `${file}, ${place}`,
    next,
  });
}
