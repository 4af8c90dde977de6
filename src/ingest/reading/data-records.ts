import { decodeText, encodeText, type ByteText } from './bytes/byte-text.ts';
import type { OpenedExport } from './open-export.ts';
import { isOwnExport, mixedSources } from '../columns/recognition/own-file.ts';
import { createRecordCheck, createRowReader } from '../columns/rows/read-row.ts';
import { createHeaderCheck } from '../columns/recognition/repeated-header.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { withoutApostrophe } from '../../domain/text/formula.ts';
import { FooterSearch, isTotal, type ReportLine } from './footer.ts';
import { isBlank, leftOut } from './layout.ts';
import { readRecords, type RecordBatch } from './records.ts';

/**
 * The records of contacts in an export, each with the reason why it cannot be read, if there is one. Leaves out lines
 * above the header, the header, blank lines, and the footer of a report.
 *
 * The end of a footer identifies it, so lines with a single cell are held back until the next lines are known. A line
 * that identifies a person is a contact wherever it is.
 *
 * @param onWarning called at the end with what was left out, and whether the end of the file may be missing
 * @throws Problem `export.*`
 */
export async function* readDataRecords(
  opened: OpenedExport,
  onWarning: (warning: string) => void,
  signal?: AbortSignal,
): AsyncGenerator<DataRecords> {
  const { survey, layout, shape } = opened;
  const hasApostrophes = isOwnExport(layout.header);
  const faultOf = createFaultCheck(opened);
  const couldBeFooter = createFooterCheck(opened);
  let before = layout.recordsBefore + 1;
  let rows = 0;
  let isBehindBlank = false;
  let endsInLine = false;
  const search = new FooterSearch(opened.layout.header.length);
  for await (const batch of readRecords(survey, layout, shape, signal)) {
    endsInLine = batch.endsInLine ?? false;
    const passed: ReportLine[] = [];
    for (const [index, read] of batch.records.entries()) {
      if (before > 0) {
        before -= 1;
        continue;
      }
      const record = hasApostrophes ? read.map(withoutFormulaApostrophe) : read;
      if (isBlank(record)) {
        isBehindBlank = true;
        continue;
      }
      rows += 1;
      const fault = faultOf(record, index, batch);
      const line = (): number => batch.lineOf(index);
      search.add({ record, fault, line, isBehindBlank }, couldBeFooter(record), passed);
      isBehindBlank = record.every((cell) => cell.trim() === '');
    }
    if (passed.length > 0) yield batchOf(passed);
  }
  const last = search.end();
  if (last.rows.length > 0) yield batchOf(last.rows);
  if (last.footer.length > 0) onWarning(leftOut(last.footer.length, 'below the table'));
  else if (endsInLine && rows > 0)
    onWarning(`the last line has no line end: if the file was cut off, row ${rows} is not whole`);
}

/** @returns a check that says why a record cannot be read, and throws if the file is not one table of one source */
function createFaultCheck({
  survey,
  layout,
  shape,
  columns: { source, sourceColumn },
}: OpenedExport): (record: ByteText[], index: number, batch: RecordBatch) => string | undefined {
  const malformed = createRecordCheck(layout.header.length, shape.width);
  const headerIn = createHeaderCheck(layout.header);
  const isOfSource = (record: ByteText[]): boolean =>
    sourceColumn === undefined || decodeText(record[sourceColumn]!).trim() === source;
  return (record, index, batch) => {
    const repeated = headerIn(record);
    if (repeated === 'other') throw secondHeader(survey.path, batch.lineOf(index));
    if (repeated === 'same') return 'the header once more';
    const fault = batch.faults.get(index) ?? malformed(record);
    if (fault === undefined && !isOfSource(record)) throw mixedSources(survey.path);
    return fault;
  };
}

function createFooterCheck({ layout, columns }: OpenedExport): (record: ByteText[]) => boolean {
  const readRow = createRowReader(columns);
  const columnCount = layout.header.length;
  return (record) =>
    (isAlone(record, columnCount) || isTotal(record, columnCount)) &&
    readRow(record, 0, undefined).keys.length === 0;
}

export type DataRecords = Pick<RecordBatch, 'records' | 'faults' | 'lineOf'>;

/** Only a cell with an apostrophe is decoded: a full-width sign is three bytes. */
function withoutFormulaApostrophe(cell: ByteText): ByteText {
  return cell.startsWith("'") ? encodeText(withoutApostrophe(decodeText(cell))) : cell;
}

function batchOf(lines: readonly ReportLine[]): DataRecords {
  const faults = lines.flatMap(({ fault }, index) => (fault === undefined ? [] : [[index, fault] as const]));
  return {
    records: lines.map(({ record }) => record),
    faults: new Map(faults),
    lineOf: (index) => lines[index]!.line(),
  };
}

/** One cell with text and nothing beside it, in a table of several columns. */
function isAlone(record: readonly ByteText[], columns: number): boolean {
  if (columns === 1 || record[0] === '' || (record.length > 1 && record[1] !== '')) return false;
  return record.every((cell, index) => index === 0 || cell === '');
}

function secondHeader(path: string, line: number): Problem {
  return new UsageProblem('export.second-header', 'the file has a second header, with other columns', {
    where: `${path}, line ${line}`,
    next: 'split the file there into two, and run each of them',
  });
}
