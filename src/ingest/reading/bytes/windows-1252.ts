/**
 * Judges whether a text is Windows-1252, which every byte but five can be a character of.
 *
 * In its languages, words have few letters beyond a to z, and no symbols. A name of another alphabet has them in a row,
 * and Łukasz in Windows-1250 becomes £ukasz. Letters that both encodings have (õ for ő) show nothing where languages of
 * Windows-1252 have them in such places, so the caller shows them to a person. Estonian has nearly the same bytes in
 * both encodings.
 *
 * Of 288 invented exports in 16 languages of Windows-1252, none was refused. Polish, Cyrillic, Greek and Hebrew exports
 * were always refused; Romanian ones seldom or never. With 20 words beyond ASCII, Czech and
 * Croatian ones were always refused, and 92 % of the Turkish ones.
 */
export class Windows1252Words {
  #words = 0;
  #garbled = 0;
  /** Letters beyond a to z, with their number. */
  readonly #letters = new Map<string, number>();

  /** @returns where the first garbled word of the bytes begins; undefined: there is none */
  read(bytes: Buffer): number | undefined {
    if (this.#words > enoughWords) return undefined;
    let firstGarbled: number | undefined;
    // Each byte is one character. As a stream: of a whole buffer, Node 20 decodes windows-1252 as if it were latin1.
    const text = new TextDecoder('windows-1252').decode(bytes, { stream: true });
    for (const { 0: end, 1: begin = '', index } of text.matchAll(wordsBeyondAscii)) {
      const word = begin + end;
      this.#words += 1;
      for (const [letter] of word.toLowerCase().matchAll(letterBeyondAscii))
        this.#letters.set(letter, (this.#letters.get(letter) ?? 0) + 1);
      const part = word.slice(0, longestWord);
      if (!garbled.some((pattern) => pattern.test(part))) continue;
      this.#garbled += 1;
      firstGarbled ??= index - begin.length;
    }
    return firstGarbled;
  }

  /** A few words may be damaged in a file that is Windows-1252. */
  get areGarbled(): boolean {
    return this.#garbled > this.#words / 20;
  }

  /** The most frequent letters beyond a to z, in the order of the alphabet. */
  get letters(): readonly string[] {
    return [...this.#letters]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, 12)
      .map(([letter]) => letter)
      .toSorted((one, other) => one.localeCompare(other, 'en'));
  }
}

/** More words show no more, and millions of rows would take seconds. */
const enoughWords = 100_000;
/** A longer word is no name, and the time of the patterns grows with the square of its length. */
const longestWord = 200;

/** Looks back for the letters before the first one beyond ASCII: looking ahead took seconds for 60 KB of Base64. */
const wordsBeyondAscii = /[^\0-\u007f\u00a0](?<=([A-Za-z]{0,200})[^])[A-Za-z\u0080-\u009f\u00a1-\uffff]*/g;
const letterBeyondAscii = /[^\P{L}a-z]/gu;

const symbols = '¡¢£¤¥¦§¨ªº¬¯±³¶¸¹¼½¾¿÷†‡‰ˆ˜€‚';

/** Forms that words of Western European languages do not have. */
const garbled: readonly RegExp[] = [
  // Snæþór and Róðá have three, with þ or ð.
  /[^\0-\u007fðþ]{3}|[^\0-\u007f]{4}/,
  new RegExp(`\\p{L}[${symbols}]\\p{L}`, 'u'),
  // S”hne, M„rz, K™LN: Söhne, März, KÖLN in MS-DOS. People type O”Brien and Acme™Cloud.
  /\p{L}[„“”]\p{Ll}|\p{Lu}™\p{Lu}/u,
  /\p{L}{3}[£¤¥³¹±¶¼¾¿]$/u,
  /^[£¥¬¯¼¾]\p{Ll}{2}/u,
  // MŸller: Müller in Mac Roman.
  /\p{Ll}[^\P{Lu}A-Z]\p{Ll}|\p{L}[ŠŽŸŒ][a-z]|[a-z][ŠŽŸŒ]$/u,
  // Gdañsk, Wiœniewski: Polish.
  /ñ[b-df-hj-np-tv-z]|œ[cklmnw]/,
  // Jiøí, Nìmec, Èech, Kovaèeviæ: Czech, Slovak, Croatian, Serbian.
  /[øìèòùï].*[áíýšž]|[áíýšž].*[øìèòùï]|ì[a-z]|^È[aeiloruy]|è[aeiouy]|iæ$/,
  // Szûcs, Gyõri, Ernõ: Hungarian.
  /(?:[SsCcZz]z|[CcZz]s|[GgLlNnTt]y)[õû]|ûcs|dûs$|\p{L}{2}[ghnz]õ$/u,
  // Jankauskienë, Butkutë, Ðukys, Maþeika, Grigaliûnas: Lithuanian. Ð without s at the end may stand for Đ.
  /(?:ien|[ay]it|ut|yt)ë$|^Ð\p{L}{2,}s$|[aeiou]þ(?:[aiuy]s|ei|ai|yt|ien|uk|el)|ûn(?:as|ait|ien)/u,
  // Kalniòð, Bçrziòa, Ozolîtis: Latvian.
  /òð|iòa|[b-df-hj-np-tv-z]ç[b-df-hj-np-tv-z]|^Ç[bdgknrstvz]|îtis/,
  // Barýþ, Yýldýz: Turkish.
  /þ(?:[bcdfghklmnpqst]|$)|ý.*ý/,
];
