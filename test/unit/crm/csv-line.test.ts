import { expect, it } from 'vitest';
import { spreadsheetLine } from '../../../src/export/crm-import/write-import-files.ts';

it.each(['=1+1', "'=1", '+A1', '-1', '@x', ' =1', '\u00a0=1', '＝1+1', '＋A1', '－1', '＠x'])(
  'spreadsheetLine() writes an apostrophe before %j',
  (cell) => {
    expect(spreadsheetLine([cell]).replaceAll('"', '')).toBe(`'${cell}`);
  },
);

it.each(['+49 (30) 12-34', 'a=1', '', 'Ｊ'])('spreadsheetLine() leaves %j as it is', (cell) => {
  expect(spreadsheetLine([cell])).toBe(cell);
});
