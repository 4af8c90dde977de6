import { z } from 'zod';
import { nearestText } from '../../../domain/text/nearest-text.ts';
import { UsageProblem } from '../../../domain/problem.ts';

/** A column by its name in the header or by its position from 1. */
const column = z.union([z.string().min(1).max(2_000), z.int().min(1, 'columns are numbered from 1')]);
const columns = z.union(
  [column, z.array(column)],
  'must be the name or number of a column, or a list of these',
);
const optOutColumn = z.strictObject({ column, values: z.array(z.string().min(1)).min(1) });
const optOutColumns = z.union(
  [column, optOutColumn, z.array(z.union([column, optOutColumn]))],
  'must be a column, or a column with its values such as {"column": "Status", "values": ["left"]}, or a list',
);

/** The form of names of sources: Temporal shows them, and `SOURCE/ID` names a contact. */
export const sourceName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
const sourceForm = 'a short name of letters, digits, "_", "-" and "."';

const mappingSchema = z.strictObject({
  source: z.string().regex(sourceName, `must be ${sourceForm}`).optional(),
  encoding: z.string().optional(),
  delimiter: z
    .string()
    .regex(/^[^"\r\n\ufeff]$/, 'must be one character')
    .optional(),
  /** For files whose quotes are ordinary characters, such as `5" pipe`. */
  quotes: z.literal('none').optional(),
  /** Rows that lack their last cells are filled with empty ones. */
  short_rows: z.literal('fill').optional(),
  columns: z
    .strictObject({
      contact_id: columns,
      person_id: columns,
      email: columns,
      hashed_email: columns,
      profile_url: columns,
      first_name: columns,
      last_name: columns,
      name: columns,
      organization_name: columns,
      domain: columns,
      opted_out: optOutColumns,
      opted_out_of_calls: optOutColumns,
    })
    .partial()
    .optional(),
  ignore: columns.optional(),
});

/** The content of a mapping file (`--mapping FILE`). */
export type ExportMapping = z.infer<typeof mappingSchema>;
export type ColumnReference = z.infer<typeof column>;

/** The name of `--source` unchanged. @throws Problem `setting.invalid` */
export function checkedSource(name: string): string {
  if (sourceName.test(name)) return name;
  throw new UsageProblem('setting.invalid', 'this text cannot name a source', {
    where: '--source',
    next: `write ${sourceForm}`,
  });
}

/**
 * Checks the content of a mapping file.
 *
 * @param file names the file in an error
 * @throws Problem `mapping.invalid`, which names the place in the file
 */
export function checkedMapping(content: unknown, file = 'mapping file'): ExportMapping {
  const result = mappingSchema.safeParse(content);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const place = issue.path.join('.');
  const where = place === '' ? file : `${file}, ${place}`;
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    throw new UsageProblem('mapping.invalid', `the mapping file has an unknown key "${key}"`, {
      where,
      next: place === '' ? afterUnknownKey(key) : afterUnknownField(key, content),
    });
  }
  throw new UsageProblem('mapping.invalid', `the mapping file is not understood: ${issue.message}`, {
    where,
    next:
      'write for example {"columns": {"email": ["Work mail", "Private mail"], "contact_id": "Nr"}}; ' +
      'docs/exports.md lists all fields',
  });
}

const fields = Object.keys(mappingSchema.shape.columns.unwrap().shape);

function afterUnknownKey(key: string): string {
  return fields.includes(key)
    ? `write it under "columns": {"columns": {"${key}": …}}`
    : nearestOf(key, Object.keys(mappingSchema.shape));
}

/** @param content content of the file, whose `columns` has the key */
function afterUnknownField(key: string, content: unknown): string {
  const { columns: given } = content as { columns: Readonly<Record<string, unknown>> };
  const value = given[key];
  return typeof value === 'string' && fields.includes(value)
    ? `write the field before its column: {"columns": {"${value}": "${key}"}}`
    : nearestOf(key, fields);
}

function nearestOf(key: string, known: readonly string[]): string {
  const nearest = nearestText(key, known);
  return nearest === undefined ? `possible keys: ${known.join(', ')}` : `did you mean "${nearest}"?`;
}
