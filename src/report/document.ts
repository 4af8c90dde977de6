/** The report as unescaped text, tables and bars, from which every format except JSON is rendered. */
export interface ReportDocument {
  readonly title: string;
  readonly subtitle: string;
  readonly headline: readonly { readonly label: string; readonly value: string; readonly note: string }[];
  readonly actions: readonly { readonly what: string; readonly next: string }[];
  readonly sections: readonly Section[];
  readonly footer: string;
}

export interface Section {
  readonly id: 'run' | 'outcomes' | 'coverage' | 'credits' | 'calls' | 'late-results' | 'truth';
  readonly title: string;
  /** Empty: none. */
  readonly lead: string;
  readonly tables: readonly Table[];
}

/** A table whose first column names the row. Documents leave out tables without rows. */
export interface Table {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

export interface Column {
  readonly title: string;
  readonly numeric?: true;
}

/** A table whose columns after the first have numbers. */
export function tableOfNumbers(
  caption: string,
  [name = '', ...numbers]: readonly string[],
  rows: Table['rows'],
): Table {
  return { caption, columns: [{ title: name }, ...numberColumns(...numbers)], rows };
}

export function numberColumns(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ title, numeric: true }));
}
