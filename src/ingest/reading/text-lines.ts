import { countCharacter, lineBreakOf, type Dialect } from './dialect.ts';

/** The lines of a text. A line is what stands before a line break, also inside of quotes. */
export class TextLines {
  readonly lineBreak: '\r' | '\n';

  constructor(dialect: Dialect) {
    this.lineBreak = lineBreakOf(dialect);
  }

  countBreaks(text: string): number {
    return countCharacter(text, this.lineBreak);
  }

  /** The position behind so many lines. */
  endOf(text: string, start: number, lines: number): number {
    let end = start;
    for (let line = 0; line < lines; line += 1) {
      const at = text.indexOf(this.lineBreak, end);
      if (at === -1) return text.length;
      end = at + 1;
    }
    return end;
  }

  /** The lines without their line ends. */
  split(text: string): string[] {
    const lines = text.split(this.lineBreak);
    if (lines.at(-1) === '') lines.pop();
    return this.lineBreak === '\n' ? lines.map((line) => line.replace(/\r$/, '')) : lines;
  }
}
