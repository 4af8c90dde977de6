import { widthOf } from './style.ts';

/** The width of lines on a terminal, in columns. Lines in files and pipes have no limit. */
export function terminalWidth(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * Breaks long lines of a text between words, and indents the continuation by two more columns. A long word, such as an
 * address, stays whole, so that a person can copy it.
 */
export function wrapLines(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  return text
    .split('\n')
    .map((line) => {
      if (widthOf(line) <= width) return line;
      const indent = /^ */.exec(line)![0];
      const hanging = `${indent}  `;
      return brokenLines(line.slice(indent.length).split(' '), width - hanging.length)
        .map((each, at) => (at === 0 ? indent : hanging) + each)
        .join('\n');
    })
    .join('\n');
}

/**
 * Breaks the paragraphs of a help text that do not fit a width. Indented lines, such as examples and options, stay as
 * they are.
 */
export function wrapHelp(text: string, width: number): string {
  const lines: string[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    const fits = paragraph.every((line) => widthOf(line) <= width);
    lines.push(...(fits ? paragraph : brokenLines(paragraph.join(' ').split(' '), width)));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    if (line !== '' && !line.startsWith(' ')) paragraph.push(line);
    else {
      endParagraph();
      lines.push(line);
    }
  }
  endParagraph();
  return lines.join('\n');
}

/** Breaks a text between words into lines of a width. Words that are too long lose their middle. */
export function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  return brokenLines(
    text.split(' ').map((word) => shortened(word, width)),
    width,
  );
}

function brokenLines(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Shortens a word in the middle: its ends identify it, such as the kind and the last part of an id. */
function shortened(word: string, width: number): string {
  if (widthOf(word) <= width) return word;
  const head = Math.ceil((width - 1) / 2);
  return `${word.slice(0, head)}…${word.slice(word.length - (width - 1 - head))}`;
}
