import { visible } from '../../domain/text/visible.ts';

/**
 * Styled text has a Unicode noncharacter for each style until the text is written. By then `visible` has escaped the
 * control characters of foreign text, so that foreign text cannot style the terminal.
 */
const styles = {
  dim: ['\ufdd1', '2'],
  red: ['\ufdd2', '31'],
  yellow: ['\ufdd3', '33'],
} as const;
const end = '\ufdd0';
const marks = /([\ufdd0-\ufdd3])/g;

export type Style = keyof typeof styles;

const codes = new Map<string, string>([[end, '0'], ...Object.values(styles)]);

/** Styles a text for streams that show styles. Makes control characters visible. */
export function paint(style: Style, text: string): string {
  return `${styles[style][0]}${visible(text)}${end}`;
}

/** Width of a text in columns, without its styles. */
export function widthOf(text: string): number {
  return text.replace(marks, '').length;
}

/**
 * Makes a text ready to write: control characters visible, styles as escape sequences or removed.
 *
 * @param shows whether the stream shows styles
 */
export function rendered(text: string, shows: boolean): string {
  return text
    .split(marks)
    .map((part) => {
      const code = codes.get(part);
      if (code === undefined) return visible(part);
      return shows ? `\u001b[${code}m` : '';
    })
    .join('');
}

/** Whether a stream shows styles: a terminal does, unless NO_COLOR is set. */
export function showsStyles(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR: refused = '', TERM: terminal } = process.env;
  return stream.isTTY && refused === '' && terminal !== 'dumb';
}
