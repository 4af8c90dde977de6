import { UsageProblem } from '../../../domain/problem.ts';

const saveAsCsv = 'open it in a spreadsheet program and save it as "CSV UTF-8", then use that file';
const fromTheCrm = 'export the contacts as CSV from the CRM, then use that file';

/**
 * Files that people use by mistake in place of a CSV file. The beginning of the content identifies them, whatever their
 * name. Each byte is one character.
 */
const foreignKinds: readonly (readonly [name: string, beginning: RegExp, next: string])[] = [
  ['a Word document (docx)', /^PK[^\P{Cc}\s]{2}[^]*word\//u, fromTheCrm],
  ['an OpenDocument file (ods, odt)', /^PK[^\P{Cc}\s]{2}[^]*vnd\.oasis\.opendocument/u, saveAsCsv],
  ['an Excel workbook (xlsx)', /^PK[^\P{Cc}\s]{2}[^]*(?:\[Content_Types\]\.xml|xl\/|docProps)/u, saveAsCsv],
  ['a zip archive', /^PK[^\P{Cc}\s]{2}/u, 'unpack it and use the CSV file inside'],
  ['an old Excel workbook (xls)', /^\u00d0\u00cf.\u00e0/, saveAsCsv],
  ['a PDF', /^%PDF/, fromTheCrm],
  ['a rich text document (RTF)', /^\{\\rtf/, fromTheCrm],
  ['a file of contact cards (vCard)', /^begin:vcard\b/i, fromTheCrm],
  [
    'packed with bzip2, xz, zstd or 7-Zip',
    /^(?:BZh|\u00fd7zXZ|\(\u00b5\/\u00fd|7z\u00bc\u00af)/,
    'unpack it first; gzip is read as it is',
  ],
  ['a Parquet file', /^PAR1/, fromTheCrm],
  [
    'a web page (HTML)',
    /^<(?:!doctype html|html|head|body|table)\b/i,
    'this is often the log-in page of the CRM, saved under the name of the export: download the export again',
  ],
  ['XML', /^<\?xml\b/i, saveAsCsv],
  ['JSON', /^(?:\{\s*["}]|\[\s*[{[\]"])/, fromTheCrm],
];

/**
 * Refuses a file that is no delimited text.
 *
 * @param head the first kilobytes, unpacked
 * @throws Problem `export.not-csv`
 */
export function refuseForeignKind(path: string, head: Buffer): void {
  const text = head
    .subarray(0, 4_096)
    .toString('latin1')
    .replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '');
  const kind = foreignKinds.find(([, beginning]) => beginning.test(text));
  if (!kind) return;
  const [name, , next] = kind;
  throw new UsageProblem('export.not-csv', `this is no CSV file but ${name}`, { where: path, next });
}
