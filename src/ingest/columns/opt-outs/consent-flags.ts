import { headerKey, shownHeader } from '../../../domain/text/header-name.ts';
import type { Columns } from '../columns.ts';
import { headerWords } from '../recognition/header-words.ts';
import { optOutOf } from './opt-out.ts';
import { statesOptOut } from './opt-out-answers.ts';
import { isDetail, isFaxOrLetters } from './opt-out-headers.ts';
import type { FirstRows } from '../fields.ts';

/** Beginnings of words about consent, opting out and privacy laws, in names that do not say what a value means. */
const stems = new RegExp(
  ` (?:${[
    'opt (?:in|out|status)|optin|optout|opted|unsub|subscribed|subscriber(?= )|permission|contactable|mailable',
    'do not (?!modify )|dont ',
    'gdpr|dsgvo|ds gvo|rgpd|rodo(?= )|kvkk|lgpd|ccpa|pdpa|pipl(?= )|privacy|datenschutz|personvern|tietosuoja',
    'adatvedel',
    'adatkezel|confidentialite|privacidad|prywatno|ochrona danych|ochrana osob|ochrana udaj|iys(?= )',
    'персональн\\S* дан',
    'werbe|werbung|einverst|gesperrt(?= )|sperr (?:kz|kennz)|sperr(?:vermerk|kennz|kz|grund|status|flag|code|datum)',
    // Any block, except one of orders, payments or the like.
    '(?!\\S*(?:liefer|auftrag|bestell|zahl|mahn|kredit|buchung|rechnung|faktura|versand|weg))\\S*sperre(?= )',
    'blockier|erlaub|erwunscht(?= )|toegestaan(?= )|autorise(?= )',
    'dnc(?= )|dne(?= )|(?:is )?blocked(?= )|bloque|bloccat|geblokkeerd|accepts? |accepte |acepta |accetta ',
    'deceased|verstorben|decede|overleden|fallecid|decedut|falecid|zmarl|avliden|afdod(?= )|liste rouge|lista roja',
    'abonnie|abonne(?= )|suscrit|subscri[tc]o|(?:inscrit|iscritt)\\S* (?:\\S+ )?newsletter',
    'abbonato|subskryb|prenumerera|tilmeldt|pameldt|abone(?= )|izin(?= )|onay(?= )|feliratk|abonat(?= )',
    'odber (?:novin|newsl|obch|e ?mail)|kontakt (?:ok|ja|erlaubt|tillat)|mozno poslat|lze (?:kontakt|zas|pos)',
    'far (?:kontaktas|ringas|mailas)|(?:ma|kan) (?:kontaktes|ringes|mailes)|tillater |tillader |godkanner |godtar ',
    'accepter(?:ar|er) |sparrad|spaerret|sperret|saa (?:ottaa|soitta|lahetta)|sallittu|akceptuj|zablokovan|zablokowan',
    'kontakt dozwol|prijima |permite |aceita |pode ser contat|aranabilir|engellen|keresheto|hivhato',
    'accepta |blocat(?= )|poate fi contact',
    'mozna (?:wysyl|kontakt|dzwon)|puo essere contatt|peut etre contact|puede ser contact|persetujuan|berhenti|dong y',
    'tu choi',
    'sutik|atsisak|nesius|piekris|atteik|noustum|nousolek|loobu|odjav|pristanek|privol|soglas',
    'mos (?:kontakt|lajm|dergo)',
    'donat de baixa|подписан на|подписк|підписан на|підписк|рассыл|розсил|стоп(?= )|съглас|отпис|сагласн|одјав',
    'συναιν|συγκαταθ|διαγραφ|μην |הסכמ|הסר|לא ל|موافق|الغاء|إلغاء|رفض|رضایت|انصراف',
  ].join('|')})`,
  'u',
);
/** The same in scripts without blanks between words. */
const signs = new RegExp(
  [
    'プライバシー|個人情報|配信|購読|メルマガ(?:可|希望)|营销(?:许可|邮件)|订阅|訂閱|隐私|隱私|退出|个人信息|個資',
    '개인정보|구독|수신|ยินยอม|ยกเลิก|ไม่รับ|सहमति',
  ].join('|'),
  'u',
);

/** A column with more different cells is no flag. */
const mostAnswers = 4;
const longestAnswer = 40;

/**
 * Columns that are not understood, and in which people could have opted out: their names have a word of consent or of a
 * privacy law, and their cells are those of a flag or mostly empty; or a cell says that the person has opted out.
 *
 * @returns positions from 0
 */
export function unreadFlags(columns: Columns, { header, rows }: FirstRows): number[] {
  return [...header.keys()].filter((column) => {
    if (!columns.isFree(column) || optOutOf(header[column]!) !== undefined) return false;
    const cells = rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
    return (isNamedFlag(header[column]!) && isFlag(cells, rows.length)) || cells.some(statesOptOut);
  });
}

function isNamedFlag(header: string): boolean {
  const words = headerWords(header);
  const key = headerKey(words);
  return (stems.test(words) || signs.test(key)) && !isDetail(key, words) && !isFaxOrLetters(key, words);
}

function isFlag(cells: readonly string[], rows: number): boolean {
  if (cells.length * 2 <= rows) return true;
  const answers = new Set(cells);
  return answers.size <= mostAnswers && [...answers].every((answer) => answer.length <= longestAnswer);
}

/** A warning for each such column. @param flags positions from 0 */
export function flagWarnings(header: readonly string[], flags: readonly number[]): string[] {
  return flags.map(
    (column) =>
      `column "${shownHeader(header[column]!)}" seems to say who has consented or opted out, and is not used: the ` +
      'run may pay for people who have opted out; list the values that mean "opted out": --mapping FILE with ' +
      `{"columns": {"opted_out": {"column": ${column + 1}, "values": ["…"]}}}; or ignore the column: ` +
      `{"ignore": [${column + 1}]}`,
  );
}
