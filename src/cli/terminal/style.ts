import { visible } from '../../domain/text/visible.ts';

/**
 * Each style stands in text as a character that no exchanged text holds, until it is written: foreign text is made
 * visible by then, and cannot bring a sequence of its own.
 */
const styles = {
  bold: ['\ufdd1', '1'],
  dim: ['\ufdd2', '2'],
  red: ['\ufdd3', '31'],
  green: ['\ufdd4', '32'],
  yellow: ['\ufdd5', '33'],
} as const;
const end = '\ufdd0';
const marks = /[\ufdd0-\ufdd5]/g;

export type Style = keyof typeof styles;

const codes = new Map<string, string>([
  [end, '0'],
  ...Object.values(styles).map(([mark, code]): [string, string] => [mark, code]),
]);

/** Text in a style, where the stream that it is written to shows styles. Other control characters are made visible. */
export function paint(style: Style, text: string): string {
  return `${styles[style][0]}${visible(text)}${end}`;
}

/** How many columns a text takes, without its styles. */
export function widthOf(text: string): number {
  return text.replace(marks, '').length;
}

/** Makes text visible that may hold styles. */
export function visibleStyled(text: string, show: (text: string) => string = visible): string {
  return text
    .split(/([\ufdd0-\ufdd5])/)
    .map((part) => (codes.has(part) ? part : show(part)))
    .join('');
}

/**
 * A text as it is written: control characters visible, styles as sequences or left out.
 *
 * @param shows the stream is a terminal that may be coloured
 */
export function rendered(text: string, shows: boolean): string {
  return visibleStyled(text).replace(marks, (mark) => (shows ? `\u001b[${codes.get(mark)!}m` : ''));
}

/** Colours are for terminals, and not where NO_COLOR is set. */
export function showsStyles(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR: refused = '', TERM: terminal } = process.env;
  return stream.isTTY && refused === '' && terminal !== 'dumb';
}
