import { displayForm } from './normalise.ts';

/** What Windows-1252 reads from the bytes 0xa1 to 0xbf and 0x80 to 0x9b, without letters, quotes and dashes. */
const laterByte = '[¡-¿€‚„…†‡ˆ‰‹•˜™›]';

const lost = new RegExp(
  [
    '�',
    // M?ller, ?ukasz
    '(?:^|[ \\p{L}])\\?\\p{L}',
    // MÃ¼ller, Å‚ukasz: UTF-8 that was read as Windows-1252
    `[ÂÃÄÅÎÏÐÑ×ØÙ]${laterByte}|[à-ï]${laterByte}{2}`,
  ].join('|'),
  'u',
);

/** Whether a program has lost or misread letters of a name, because of an encoding. */
export function hasLostLetters(name: string): boolean {
  return lost.test(displayForm(name));
}
