import { displayForm } from '../../domain/identity/normalise.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { listed } from '../../domain/text/listed.ts';

/**
 * How a column states an opt-out.
 *
 * - `refusal`: the column states a refusal ("Email Opt Out", "Do not allow Emails", "Unsubscribed Time", "IsDeleted"):
 * every value except a plain no means opted out.
 * - `consent`: the column states a consent ("Allow Emails?", "Marketing status"): only a plain no or a word of refusal
 * means opted out.
 *
 * An empty cell means neither.
 */
export type OptOutPolarity = 'refusal' | 'consent';

/** What an opt-out forbids: any lookup of the contact (`processing`), or asking for phone numbers (`calls`). */
export type OptOutScope = 'processing' | 'calls';

export interface OptOutMeaning {
  readonly polarity: OptOutPolarity;
  readonly scope: OptOutScope;
}

const refusalHeader = new RegExp(
  [
    'opt(?:ed)?out|unsubscri|suppress|blacklist|blocklist|gdprdelete|^isdeleted$|^fivetrandeleted$|^masterrecordid$',
    'dono?t(?:contact|e?mail|bulk|call|phone|fax|post|sms|text|allow|enrich|process|market|sell|track)',
    'abgemeldet|abmeldung|widerspr[uo]ch|(?:kontakt|werbe|mail|anruf)sperre',
    '(?:keine?|nicht)(?:e?mail|werb|kontakt|anruf|telefon|fax|anschreib|mailen)',
    'desabonn|desinscri|opposition|nepas(?:contacter|appeler|envoyer|solliciter|autoriser|telephoner)',
    'no(?:contactar|llamar|enviar|permitir)|dado?debaja|cancel.*(?:suscri|inscri|assinatura)',
    'uitgeschreven|afgemeld|niet(?:bellen|mailen|benaderen|contacteren|toestaan)|geen(?:e?mail|contact|telefoon)',
    'naocontat|naoligar|naoenviar|naopermitir|descadastr',
    'オプトアウト|許可しない|希望しない|(?:送信|配信|受信|連絡|電話|メール|マーケティング|営業|利用).*(?:除外|停止|拒否|不可|禁止|解除|不要)',
    '(?:購読|登録)解除|退会|ブラックリスト|削除(?:済|フラグ)|お断り',
    '退订|退訂|取消订阅|取消訂閱|拒收|拒绝|拒絕|拒接|勿扰|勿擾|免打扰|免打擾|请勿|請勿|选择退出|選擇退出|黑名单|黑名單',
    '不(?:允许|允許|接收|接受|同意|要联系|要聯絡)|禁止|已删除|已刪除',
    '수신거부|수신해지|구독취소|구독해지|거부|차단|옵트아웃|블랙리스트|허용안함|금지|탈퇴|미동의|삭제(?:됨|여부)',
  ].join('|'),
  'u',
);
const consentHeader = new RegExp(
  [
    'consent|legalbasis|^allow|marketing(?:email)?(?:confirmation)?status|einwilligung|zustimmung|toestemming',
    'doubleoptin|^opt(?:ed)?in$|(?:mail|contact|phone|call|sms)s?opt(?:ed)?in',
    'opt(?:ed)?in(?:to)?(?:e?mail|contact|phone|call|sms)',
    '同意|承諾|許諾|許可|オプトイン|(?:配信|受信|連絡|送信)(?:可否|希望|設定|状況|ステータス)',
    '允许|允許|接收(?:邮件|郵件)|(?:订阅|訂閱)(?:状态|狀態)|동의|허용|수신(?:여부|상태)|구독상태|옵트인',
  ].join('|'),
);

const aboutEmail = /email|courriel|correo|mailen|メール|メルマガ|邮件|邮箱|郵件|信箱|이메일|메일/;
const aboutCalls = new RegExp(
  [
    'phone|donotcall|(?:allow|consent)\\w*calls?|calls?(?:opt|$)|sms|textmessage|whatsapp|anruf|telefo|appel|llama',
    'bellen|ligar|chamada|電話|ショートメッセージ|电话|致[电電]|短信|簡訊|전화|문자',
  ].join('|'),
);
/** Dynamics calls letters "Mails". */
const aboutPost =
  /ファックス|ファクス|郵送|郵便|传真|傳真|邮寄|郵寄|信件|팩스|우편|fax|postal|donotpost|letter|directmail|donotallow(?:bulk)?mails?$/;

/**
 * What a column states about opting out, by its name. If the name does not say what was refused, the opt-out forbids
 * processing.
 *
 * @returns undefined if the column is about something else, or about fax or letters, which the product never sends
 */
export function optOutOf(header: string): OptOutMeaning | undefined {
  const key = headerKey(header);
  const polarity = refusalHeader.test(key) ? 'refusal' : consentHeader.test(key) ? 'consent' : undefined;
  if (polarity === undefined) return undefined;
  if (aboutEmail.test(key)) return { polarity, scope: 'processing' };
  if (aboutCalls.test(key)) return { polarity, scope: 'calls' };
  return aboutPost.test(key) ? undefined : { polarity, scope: 'processing' };
}

const plainRefusal = new Set(
  listed(`
    0, false, no, n, f, off, nein, non, nej, nee, não, nao, falsch, faux, falso, onwaar, いいえ, オフ, 偽, 否, 不, 无,
    假, 아니오, 아니요, 거짓`),
);

/** Words that mean that there is no refusal. */
const plainNo = new Set([
  ...plainRefusal,
  ...listed(`
    none, unchecked, never, null, -, allow, allowed, subscribed, not opted out, zulassen, autoriser, permitir,
    toestaan, なし, 無, 無し, 未設定, 許可, 許可する, 允许, 允許, 没有, 沒有, 未退订, 未拒绝, 없음, 허용, 동의`),
]);

const refusalWords = new RegExp(
  [
    "unsubscri|opt(?:ed)?[ -]?out|do ?n[o']t|not allow|withdr[ae]w|revoked|refused|declined|denied|rejected|objected",
    'no[ _]consent|archived|nicht zulassen|widerrufen|abgelehnt|abgemeldet|ne pas|refusé|désinscri|désabonn',
    'no permitir|rechazad|revocad|niet toestaan|geweigerd|não permitir|recusad|revogad',
    '拒否|不可|停止|解除|除外|禁止|不要|しない|していない|未同意|不同意|オプトアウト|退订|退訂|取消|拒绝|拒絕|拒收|不允许|不允許',
    '不接[收受]|거부|미동의|안 ?함|하지 ?않|취소|해지|차단|^[×✕✗✘]$|^ng$',
  ].join('|'),
  'u',
);

/** Whether a cell is a word of refusal, a plain no, or possibly the time of a refusal. */
export function isPlainAnswer(cell: string): boolean {
  const value = displayForm(cell).toLowerCase();
  return plainNo.has(value) || refusalWords.test(value) || /^\d/.test(value);
}

/**
 * Whether a cell says that the contact has opted out.
 *
 * @param values of the mapping file, in lower case, that mean "opted out"; they replace the rule of the polarity
 */
export function isOptedOut(cell: string, polarity: OptOutPolarity, values?: ReadonlySet<string>): boolean {
  if (cell === '') return false;
  const value = displayForm(cell).toLowerCase();
  if (value === '') return false;
  if (values) return values.has(value);
  if (polarity === 'refusal') return !plainNo.has(value);
  return plainRefusal.has(value) || refusalWords.test(value);
}
