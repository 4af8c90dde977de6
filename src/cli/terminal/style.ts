import { visible } from '../../domain/text/visible.ts';

/**
 * Styled text has a Unicode noncharacter for each style until the text is written. By then `visible` has escaped the
 * control characters of foreign text, so that foreign text cannot style the terminal.
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

/** Styles a text for streams that show styles. Makes control characters visible. */
export function paint(style: Style, text: string): string {
  return `${styles[style][0]}${visible(text)}${end}`;
}

/** Width of a text in columns, without its styles. */
export function widthOf(text: string): number {
  return text.replace(marks, '').length;
}

/** Makes control characters visible, and keeps the styles of `paint`. */
export function visibleStyled(text: string, show: (text: string) => string = visible): string {
  return text
    .split(/([\ufdd0-\ufdd5])/)
    .map((part) => (codes.has(part) ? part : show(part)))
    .join('');
}

/**
 * Makes a text ready to write: control characters visible, styles as escape sequences or removed.
 *
 * @param shows whether the stream shows styles
 */
export function rendered(text: string, shows: boolean): string {
  return visibleStyled(text).replace(marks, (mark) => (shows ? `\u001b[${codes.get(mark)!}m` : ''));
}

/** Whether a stream shows styles: a terminal does, unless NO_COLOR is set. */
export function showsStyles(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR: refused = '', TERM: terminal } = process.env;
  return stream.isTTY && refused === '' && terminal !== 'dumb';
}
