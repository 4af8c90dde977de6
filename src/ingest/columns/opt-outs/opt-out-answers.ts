import { comparisonForm, displayForm } from '../../../domain/identity/values/normalise.ts';
import { listed } from '../../../domain/text/listed.ts';
import type { OptOutPolarity } from './opt-out.ts';

/** What a cell of an opt-out column says. Who has an answer that is not understood is treated as opted out. */
export type OptOutAnswer = 'opted out' | 'not opted out' | 'not understood';

/** Text in the form in which answers are compared: folded letters, without punctuation. */
const formOf = (text: string): string => comparisonForm(text).normalize('NFC');
const answers = (text: string): ReadonlySet<string> =>
  new Set(
    listed(text).flatMap((word) => [word.normalize('NFC'), formOf(word)].filter((form) => form !== '')),
  );

/**
 * In each language, no abbreviation that means "yes" in another one: `e` is yes in Turkish and no in Finnish.
 * PostgreSQL writes `t` and `f`, also in the rows of `--from-table`.
 */
const yes = answers(`
  1, true, t, yes, y, on, x, checked, selected, ✓, ✔, ☑, ✅, ○, ◯, 〇, ◎, ●, ja, wahr, oui, vrai, si, sí, sì, verdadero,
  vero, sim, verdadeiro, waar, tak, prawda, ano, áno, pravda, igen, igaz, da, adevărat, evet, doğru, kyllä, tosi, sant,
  sann, sand, да, истина, правда, так, はい, オン, 真, 有, 是, 예, 네, 참`);
const no = answers(`
  0, false, no, n, f, off, unchecked, never, nein, keine, non, aucun, no, ninguno, nej, ingen, nee, geen, não, nao,
  nenhum,
  falsch, faux, falso, onwaar, nessuno, nie, brak, fałsz, ne, žádný, nepravda, nem, nincs, hamis, nu, niciunul, fals,
  hayır, yok, yanlış, ei, epätosi, nei, falskt, falsk, usant, usann, нет, ложь, ні, немає, неправда, いいえ, オフ, 偽,
  なし, 無, 無し, 否, 不, 无, 没有, 沒有, 假, 아니오, 아니요, 거짓, 없음`);
/** Nothing was answered. */
const none = answers(`
  none, null, nil, -, --, n/a, na, n.a., unknown, undefined, not set, not specified, not applicable, 未設定, 該当しない,
  未知, 不适用, 不適用, 해당 없음, nicht zutreffend, unbekannt, sans objet, non applicable, inconnu, no aplica,
  desconocido, non applicabile, sconosciuto, não aplicável, desconhecido, niet van toepassing, onbekend, nie dotyczy,
  nieznany, brak danych, ej tillämpligt, okänd, ikke relevant, ukendt, ukjent, ei sovellettavissa, ei tiedossa,
  uygulanamaz, bilinmiyor, neuvedeno, nevztahuje se, neznámý, nem alkalmazható, ismeretlen, nu se aplică, necunoscut,
  не применимо, неизвестно, не застосовується, невідомо`);
/** A consent, or that a refusal was not given. */
const consent = answers(`
  allow, allowed, subscribed, not opted out, not unsubscribed, opted in, opt-in, optin, zulassen, zugelassen, abonniert,
  autoriser, autorisé, abonné, permitir, permitido, suscrito, toestaan, toegestaan, ingeschreven, consenti, consentito,
  iscritto, zezwalaj, zapisany, tillåt, tillåten, prenumererar, salli, sallittu, tilattu, tillad, tilladt, tilmeldt,
  tillat, påmeldt, inscrito, subscrito, izin ver, izin verildi, abone, povolit, povoleno, povolené, engedélyezés,
  engedélyezve, engedélyezett, feliratkozott, se permite, permis, abonat, разрешить, разрешено, подписан, дозволити,
  дозволено, підписаний, 許可, 許可する, 配信可, 允许, 允許, 已订阅, 已訂閱, 未退订, 未拒绝, 허용, 동의, 구독, 구독 중`);

const atWord = (words: readonly string[]): RegExp => new RegExp(` (?:${words.join('|')})`, 'u');

const refusalWords = atWord([
  'unsubscri|opt(?:ed)? ?out|do ?no?t |not allow|withdr[ae]w|revoked|refused|declined|denied|rejected|objected',
  'archived',
  'no consent|widerruf|widersproch|abgelehnt|abgemeldet|gesperrt|unerwunscht|verboten',
  'ne pas |refuse|desinscri|desabonn|rechazad|revoca|geweigerd',
  'uitgeschreven|afgemeld|recusad|revogad|cancelad|descadastr|rifiut|negat|disiscri|annullat|brak zgody|wypisan|odmow',
  'wycofan|cofniet|odrzuc|zrezygn|aterkall|avregistr|avprenum|nekad|afmeldt|avmeldt|afvist|avvist|trukket|tilbage',
  'tilbake',
  'nektet|peru[ntu]|kielt|(?:izin )?verme(?:di)?(?= )|reddet|iptal|istemiyor|onaysiz',
  'ne(?:povol|souhlas|suhlas|udelen)|odhlas',
  'odmit|odvolan|zrusen|odmiet|leiratkoz|visszavon|elutasit|tiltva|megtagad|dezabon|refuzat|retras|respins|revocat',
  'отказ|отозван|отписа|запре[тщ]|отклон|відмов|відклик|відпис|заборон|відхил',
]);
/** The same in scripts whose words have no blanks between them. */
const refusalSigns = new RegExp(
  [
    '拒否|不可|停止|解除|除外|禁止|不要|しない|していない|未同意|不同意|オプトアウト|退订|退訂|取消|拒绝|拒絕|拒收',
    '不(?:允许|允許|接收|接受|发送|發送)|거부|미동의|안 ?함|하지 ?않|취소|해지|차단',
  ].join('|'),
  'u',
);
const negation = atWord([
  'not |nicht |kein|pas |non |no |niet |geen |nao |sem |senza |nie |bez |inte |ej |ikke |ingen |ala |ei |ne |nem ',
  'nu |fara ',
  'yok |degil |не |нет |без |ні |немає ',
]);
/** Signs that mean no, or that nothing is sent. */
const negativeSigns = new Set(['×', '✕', '✗', '✘', '☐', 'ng']);
/** "Not unsubscribed": two negations, which are not read. */
const doubleNegation = atWord([
  '(?:not|no|nicht|pas|non|niet|nao|nie|inte|ikke|ei|ne|nem|nu|не|ні) (?:\\S+ )?(?:unsubscri|opt(?:ed)? ?out|' +
    'abgemeld|desinscri|desabonn|disiscri|wypisan|odhlas|leiratk|dezabon|avregistr|afmeld|avmeld|отпис|відпис)',
]);
/** Words of a consent or of its legal basis. */
const consentWords = atWord([
  'allow|consent|opt(?:ed)? ?in|subscri|grant|confirm|accept|agree|approv|given|obtained|legitim|legal|contract|yes ',
  'zulass|erlaub|erwunscht|gestattet',
  'einwillig|zustimm|erteilt|bestatigt|berechtigt|vertrag|ja |autoris|accord|confirme|contrat|donne|oui ',
  'permit|otorgad|aceptad|confirmad|contrato|interes|si |toesta|toestemm|gegeven|bevestigd|gerechtvaardigd',
  'overeenkomst',
  'conced|aceit|sim |consens|acconsent|conferm|concess|fornit|contratto|zezwal|zgod|udziel|potwierdz|uzasadnion|umow',
  'tak ',
  'tillat|tillad|samtyck|samtykke|bekraft|bekreft|bekraeft|berattigat|berettiget|avtal|aftale|givet|givit|gitt|salli',
  'suostu|annettu|vahvist|oikeutettu|sopimu|kylla |izin ver|onay|mesru|verdi|verildi|sozlesme|evet |povol|souhlas',
  'suhlas',
  'udelen|potvrzen|potvrden|opravnen|smlouv|zmluv|ano |engedely|hozzajarul|megadva|megerosit|jogos|szerzod|igen ',
  'permite',
  'consimt|acord|da |соглас|разреш|подтвержд|законн|договор|получен|дан[оа]? |да |згод|дозвол|надан|підтвердж',
  'договір|так ',
]);
/** The same in scripts whose words have no blanks between them. */
const consentSigns =
  /同意|承諾|許可|可$|済|正当|契約|オプトイン|自由意思|允许|允許|接受|已(?:订阅|訂閱|确认|確認)|合法|正當|合同|合約|동의|허용|확인|정당|계약/u;
/** `2026-03-01`, `1.3.2026 10:00`, `2026年3月1日`, `1 Mar 2026`, a Unix time. */
const time =
  /^\d{1,4}[-./年] ?\d{1,2}[-./月] ?\d{1,4}|^\d{1,2}\.? \p{L}{3,12}\.? \d{4}|^\p{L}{3,12}\.? \d{1,2},? \d{4}|^\d{10,13}$/u;

/** The form in which the values of a mapping file are compared with cells. */
export function valueForm(text: string): string {
  return displayForm(text).toLowerCase();
}

/** A longer cell is a text, and its words are no answer. */
const longestAnswer = 200;

/**
 * What a cell says about opting out.
 *
 * @param values of the mapping file, by `valueForm`, that mean "opted out"; they replace the rule of the polarity
 */
export function optOutAnswer(
  cell: string,
  polarity: OptOutPolarity,
  values?: ReadonlySet<string>,
): OptOutAnswer {
  if (cell === '') return 'not opted out';
  const shown = valueForm(cell);
  if (shown === '') return 'not opted out';
  if (values) return values.has(shown) ? 'opted out' : 'not opted out';
  const said = shown.length > longestAnswer ? 'unclear' : statementOf(shown);
  switch (said) {
    case 'none':
    case 'consent':
      return 'not opted out';
    case 'refusal':
      return 'opted out';
    case 'yes':
    case 'time':
      return polarity === 'refusal' ? 'opted out' : 'not opted out';
    case 'no':
      return polarity === 'refusal' ? 'not opted out' : 'opted out';
    case 'negation':
      return polarity === 'refusal' ? 'not understood' : 'opted out';
    case 'words of consent':
      return polarity === 'refusal' ? 'not understood' : 'not opted out';
    case 'unclear':
      return polarity === 'basis' ? 'not opted out' : 'not understood';
  }
}

type Statement =
  | 'yes'
  | 'no'
  | 'none'
  | 'time'
  | 'refusal'
  | 'consent'
  | 'negation'
  | 'words of consent'
  | 'unclear';

function statementOf(shown: string): Statement {
  const form = formOf(shown);
  const isIn = (set: ReadonlySet<string>): boolean => set.has(shown) || (form !== '' && set.has(form));
  if (isIn(yes)) return 'yes';
  if (isIn(no)) return 'no';
  if (isIn(none)) return 'none';
  if (isIn(consent)) return 'consent';
  if (time.test(shown)) return 'time';
  const words = ` ${form} `;
  if (doubleNegation.test(words)) return 'unclear';
  if (refusalWords.test(words) || refusalSigns.test(form)) return 'refusal';
  const isConsent = consentWords.test(words) || consentSigns.test(form);
  if (negation.test(words)) return isConsent ? 'refusal' : 'negation';
  if (negativeSigns.has(shown)) return 'negation';
  return isConsent ? 'words of consent' : 'unclear';
}

/** Answers that say, in a column of any name, that the person has opted out. */
const optOuts = answers(`
  unsubscribed, opted out, opt-out, optout, opted-out, do not contact, do not email, do not mail, don't contact,
  do not contact (dnc), unsubscribe, abgemeldet, nicht kontaktieren, désabonné, désinscrit, ne pas contacter,
  no contactar,
  dado de baja, uitgeschreven, niet benaderen, niet mailen, disiscritto, non contattare, wypisany, nie kontaktować,
  avregistrerad, kontakta inte, kontakta ej, afmeldt, avmeldt, ikke kontakt, kontakt ikke, må ikke kontaktes,
  älä ota yhteyttä, descadastrado, não contatar, não contactar, iletişime geçme, abonelikten çıktı, odhlášen, odhlášeno,
  nekontaktovat, leiratkozott, dezabonat, nu contactați, отписан, отписался, не беспокоить, відписаний, не турбувати,
  配信停止, 連絡不可, メール不可, 退订, 已退订, 退訂, 已退訂, 请勿联系, 請勿聯絡, 수신거부, 수신 거부`);
const longestOptOut = 30;

/** Whether a cell says, in a column of any name, that the person has opted out. */
export function statesOptOut(cell: string): boolean {
  if (cell.length > longestOptOut) return false;
  const shown = displayForm(cell).toLowerCase();
  return optOuts.has(shown) || optOuts.has(formOf(shown));
}

/** Whether a cell is an answer, or possibly the time of one. */
export function isPlainAnswer(cell: string): boolean {
  const shown = displayForm(
    cell.length > longestAnswer ? cell.slice(0, longestAnswer + 1) : cell,
  ).toLowerCase();
  return /^\d/.test(shown) || (shown.length <= longestAnswer && statementOf(shown) !== 'unclear');
}
