import { UsageProblem } from '../../../domain/problem.ts';

interface ForeignKind {
  readonly name: string;
  readonly matches: (head: Buffer, text: string) => boolean;
  readonly next: string;
}

const saveAsCsv = 'open it in a spreadsheet program and save it as "CSV UTF-8", then use that file';
const fromTheCrm = 'export the contacts as CSV from the CRM, then use that file';

/**
 * Files that people use by mistake in place of a CSV file. The beginning of the content identifies them, whatever their
 * name.
 */
const foreignKinds: readonly ForeignKind[] = [
  {
    name: 'a Word document (docx)',
    matches: (head) => startsWith(head, 'PK\u0003\u0004') && latin(head).includes('word/'),
    next: fromTheCrm,
  },
  {
    name: 'an OpenDocument file (ods, odt)',
    matches: (head) =>
      startsWith(head, 'PK\u0003\u0004') && latin(head).includes('application/vnd.oasis.opendocument'),
    next: saveAsCsv,
  },
  {
    name: 'an Excel workbook (xlsx)',
    matches: (head) =>
      startsWith(head, 'PK\u0003\u0004') && /\[Content_Types\]\.xml|xl\/|docProps/.test(latin(head)),
    next: saveAsCsv,
  },
  {
    name: 'a zip archive',
    matches: (head) =>
      ['PK\u0003\u0004', 'PK\u0005\u0006', 'PK\u0007\u0008'].some((magic) => startsWith(head, magic)),
    next: 'unpack it and use the CSV file inside',
  },
  {
    name: 'an old Excel workbook (xls)',
    matches: (head) => startsWith(head, '\u00d0\u00cf\u0011\u00e0'),
    next: saveAsCsv,
  },
  {
    name: 'a PDF',
    matches: (head) => startsWith(head, '%PDF'),
    next: fromTheCrm,
  },
  {
    name: 'an image',
    matches: (head) =>
      ['\u0089PNG', '\u00ff\u00d8\u00ff', 'GIF8', 'II*\0', 'MM\0*'].some((magic) =>
        startsWith(head, magic),
      ) || /^RIFF.{4}WEBP/s.test(latin(head)),
    next: fromTheCrm,
  },
  { name: 'a rich text document (RTF)', matches: (head) => startsWith(head, '{\\rtf'), next: fromTheCrm },
  {
    name: 'a file of contact cards (vCard)',
    matches: (_, text) => /^begin:vcard\b/i.test(text),
    next: fromTheCrm,
  },
  { name: 'an SQLite database', matches: (head) => startsWith(head, 'SQLite format 3\0'), next: fromTheCrm },
  {
    name: 'packed with bzip2, xz, zstd or 7-Zip',
    matches: (head) =>
      ['BZh', '\u00fd7zXZ', '(\u00b5/\u00fd', '7z\u00bc\u00af'].some((magic) => startsWith(head, magic)),
    next: 'unpack it first; gzip is read as it is',
  },
  { name: 'a Parquet file', matches: (head) => startsWith(head, 'PAR1'), next: fromTheCrm },
  {
    name: 'a web page (HTML)',
    matches: (_, text) => /^<(?:!doctype html|html|head|body|table)\b/i.test(text),
    next: 'this is often the log-in page of the CRM, saved under the name of the export: download the export again',
  },
  { name: 'XML', matches: (_, text) => /^<\?xml\b/i.test(text), next: saveAsCsv },
  {
    name: 'JSON',
    matches: (_, text) => /^(?:\{\s*["}]|\[\s*[{[\]"])/.test(text),
    next: fromTheCrm,
  },
];

/**
 * Refuses a file that is no delimited text.
 *
 * @param head the first kilobytes, unpacked
 * @throws Problem `export.not-csv`
 */
export function refuseForeignKind(path: string, head: Buffer): void {
  const text = latin(head).replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '');
  const kind = foreignKinds.find((candidate) => candidate.matches(head, text));
  if (!kind) return;
  throw new UsageProblem('export.not-csv', `this is no CSV file but ${kind.name}`, {
    where: path,
    next: kind.next,
  });
}

/**
 * Refuses a file as Markdown, if it begins with a sign of Markdown and has another one. Only for files without people:
 * a comment before the header of an export can also begin with "#".
 *
 * @param sample the beginning of the text
 * @throws Problem `export.not-csv`
 */
export function refuseMarkdown(path: string, sample: string): void {
  const text = sample.slice(0, 4_096);
  const signs = text.match(markdownSigns) ?? [];
  if (signs.length < 2 || !text.trimStart().startsWith(signs[0]!)) return;
  throw new UsageProblem('export.not-csv', 'this is no CSV file: it looks like Markdown', {
    where: path,
    next: fromTheCrm,
  });
}

/** A heading, fence, list, quote, rule, the first two lines of a table, or a link. */
const markdownSigns =
  /^(?:#{1,6} \S|```|[-*] \S|> \S|---$|\|[ :|-]+\|$|\|.*\|$(?=\n\|[ :|-]+\|$))|!?\[[^\]\n]*\]\([^)\n]+\)/gm;

function startsWith(head: Buffer, magic: string): boolean {
  return head.subarray(0, magic.length).equals(Buffer.from(magic, 'latin1'));
}

function latin(head: Buffer): string {
  return head.subarray(0, 4_096).toString('latin1');
}
