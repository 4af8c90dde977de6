/**
 * Words in the names of columns that say who has opted out or consented, without accents (`headerKey`, `headerWords`).
 *
 * `anywhere` matches in the name without blanks: compounds, names of interfaces, and scripts without blanks. `words`
 * match at the beginning of a word, because a short word such as "ring inte" is within others ("catering interest").
 */
interface Wording {
  readonly anywhere: readonly string[];
  readonly words: readonly string[];
}

/** The column states a refusal. */
const refusals: Wording = {
  anywhere: [
    'opt(?:ed)?out|unsubscri|suppress|blacklist|blocklist|gdprdelete|^isdeleted$|^fivetrandeleted$|^masterrecordid$',
    '^noconsent|withoutconsent|consentwithdr|consentrevo|withdrawnconsent|revokedconsent|keineeinwilligung|widerruf',
    'sansconsentement|consentementret|consentementrev|sinconsentimiento|consentimientorev|geentoestemming',
    'dono?t(?:contact|e?mail|bulk|call|phone|fax|post|sms|text|allow|enrich|process|market|sell|track|send)',
    'dono?t(?:disturb|solicit)|(?:cannot|maynot|mustnot)(?:be)?(?:contact|e?mail|call|text)|^nomarketing|^deleted$',
    '(?:e?mails?|sms|marketing|contact|phone|calls?)not(?:allowed|permitted)$|righttobeforgotten|^rtbf$',
    'erasurerequest|restrict(?:ion|ed)?(?:of)?processing|processingrestrict',
    'losch(?:kennzeichen|vormerkung|markierung|flag)|^(?:ist)?geloscht$',
    'abgemeldet|abmeldung|abbestell|widerspr[uo]ch|sperrliste',
    '(?:kontakt|werbe|mail(?:ing)?|anruf|telefon|newsletter|marketing|akquise|ansprache|verarbeitungs|auskunfts)sperre',
    '(?:keine?|nicht)(?:e?mail|werb|kontakt|anruf|telefon|fax|anschreib|mailen|angerufen|angeschrieben)',
    'nicht(?:erlaubt|erwunscht|gestattet)|(?:kontakt|werbe|anruf)verbot|unerwunscht',
    'desabonn|desinscri|opposition|nepas(?:contacter|appeler|envoyer|solliciter|autoriser|telephoner|demarcher)',
    '(?:refus|exclusion)(?:e|de|des|du|la|le|les)*(?:demarchage|prospection|contact|e?mail|courri|publicit|marketing)',
    '(?:refus|exclusion)(?:e|de|des|du|la|le|les)*(?:appel|communication)|^stoppub|bloctel',
    '(?:rechaz|exclusion|cancelacion|anulacion|renuncia|baja)o?(?:voluntaria)?(?:a|al|de|del|los)*(?:correo|e?mail)',
    '(?:rechaz|exclusion|cancelacion|anulacion|renuncia|baja)o?(?:voluntaria)?(?:a|de|las)*(?:llamada|comunicacion)',
    'noparticipa|darsedebaja|(?:recusa|cancelamento|exclusao)(?:de|do|da|dos|das)*(?:e?mail|contat|chamada|comunica)',
    'rifiut[aio](?:di|della|delle|la|le)*(?:e?mail|posta|contatt|chiamat|comunicaz)',
    'no(?:contactar|llamar|enviar|permitir|permite|acepta)|dado?debaja|cancel.*(?:suscri|inscri|assinatura)',
    'uitgeschreven|afgemeld|niet(?:bellen|mailen|benaderen|contacteren|toestaan|gebeld|gemaild|benaderd|toegestaan)',
    'belmeniet|geen(?:e?mail|contact|telefoon)',
    'naocontat|naoligar|naoenviar|naopermitir|descadastr',
    'オプトアウト|許可しない|希望しない|(?:購読|登録)解除|退会|ブラックリスト|削除(?:済|フラグ)|お断り',
    '(?:送信|発信|配信|受信|連絡|電話|架電|メール|案内|マーケティング|営業|利用).*(?:除外|停止|拒否|不可|禁止|解除|不要)',
    '退订|退訂|取消订阅|取消訂閱|拒收|拒绝|拒絕|拒接|谢绝|謝絕|切勿|勿扰|勿擾|免打扰|免打擾|请勿|請勿|选择退出|選擇退出',
    '不(?:允许|允許|接收|接受|同意|要联系|要聯絡|电联|電聯|发送|發送|再联系|再聯絡)|禁止|已删除|已刪除|黑名单|黑名單',
    '退出(?:电子)?邮件|退出(?:電子)?郵件|邮件退出|郵件退出',
    '수신거부|수신해지|구독취소|구독해지|거부|차단|옵트아웃|블랙리스트|허용안함|금지|탈퇴|미동의|삭제(?:됨|여부)',
    '(?:발신|연락|전화)(?:이|가)?(?:제한|불가)|수신안함|받지않',
  ],
  words: [
    // Italian
    'non (?:contatt|chiam|telefon|invi|consent|disturb|scriver|desider|vuole|autorizz|accett)|rinunci|disiscri',
    'esclusion',
    'senza consenso|consenso (?:revoc|negat|ritir)',
    '(?:annull|cancell)\\S* (?:(?:la|dalla|della|dal) )?l?(?:iscrizion|abbonament|sottoscrizion)|dalliscrizion',
    'iscrizione (?:a tutte le (?:e ?mail|email) )?(?:annull|cancell)|opposizion|lista nera',
    // Polish
    'nie (?:dzwo|kontaktow|wysyl|zezwal|zezwol|przetwarz|wyraz|zycz|mailow|chce)|wypisan|wypisal|odsubskryb',
    'z?rezygn\\S* ze? |sprzeciw|(?:wycof|cofn)\\S* zgod|zgoda (?:wycof|cofn)|zakaz(?= )|czarna lista',
    '(?:brak|bez) zgody',
    // Swedish, Danish, Norwegian
    '(?:ring|kontakta|skicka|maila|mejla|tillat) (?:inte|ej)(?= )',
    'inte (?:ringa|kontakta|skicka|maila|mejla|tillat)(?= )',
    '(?:onskar|vill) (?:inte|ej)(?= )|avregistrer|avprenumer|avanmal|avboj|avsagt|svartlist|nix(?= )',
    '(?:ej|inga) (?:mail|mejl|e ?post|utskick|samtal|telefon)|far (?:ej|inte) (?:kontakt|ring|mail|mejl)',
    '(?:ring|kontakt|send|mail|skriv|tillad|tillat) ikke(?= )',
    'ikke (?:ringe?|sende?|maile?|kontakte?s?|tillad|tillat)(?= )',
    'onsker ikke|ma ikke (?:kontaktes|ringes|mailes|sendes)|ikke forstyrr|afmeld|framel|fravalg|fravaelg|robinson(?= )',
    'sortlist|svartelist|avmeld|reserv\\S* (?:seg )?mot(?= )|(?:utan|uten|uden) samtyck|(?:utan|uten|uden) samtykk',
    'samtyck\\S* aterkall|aterkall\\S* samtyck|samtykke\\S* (?:trukk|tilbag|tilbak)|tilbagekald\\S* samtykk',
    // Finnish
    'ala (?:soita|ota|laheta|salli|kasittele)|ei (?:laheteta|saa|soiteta|sallita|halua|sahkoposti|markkinoi|puhelu)',
    'per(?:uut|un)\\S* (?:\\S+ ){0,3}(?:tilau|suostu|markkin|uutiskir)|suostumus per|estolista|mustalista|kieltay',
    'kieltany|\\S*(?:markkinointi|sahkoposti|puhelin|soitto)kielto',
    // Portuguese and Spanish
    'nao (?:contat|contact|ligar|telefon|envi|permit|autoriz|deseja|quer|fazer chamad|perturb|receb|mand)|dessubscri',
    'nao (?:aceita|pode ser contat)',
    '(?:anul|cancel)\\S* (?:(?:a|la) )?(?:su[bs]*cri|inscri|assinatura)|(?:assinatura|inscricao|subscricao) cancel',
    'oposic|lista negra|no (?:contact|llam|molest|desea|quiere|autoriz)',
    // Turkish
    'arama yapma|aramay|aranmas|iletisime? (?:gecme|kurma)|\\S+ gonderme|izin (?:verme|yok)|izni yok|liste disi',
    'aboneli[kg]\\S* (?:cik|ayril|iptal)|kara liste|istemiyor|rahatsiz etme|onay\\S* (?:vermedi|yok)',
    // Czech and Slovak
    'nevola|nekontakt|nezasil|neposil|neposiel|nepovol|nesouhlas|nesuhlas|odhlas|zakaz(?:an\\S*)?(?= )',
    'cerna listina|cierna listina|namitka|bez s[ou]*hlasu|zrus\\S* odber',
    '(?:odmit|odmiet)\\S* (?:e ?mail|kontakt|komunik|s[ou]*hlas)',
    's[ou]*hlas odvolan|odvola\\S* s[ou]*hlas',
    // Hungarian
    'ne (?:hivj|kuld|keres|zavar|engedely)|nem (?:szabad|hivhato|kuldheto|ker|engedely|jarul|kivan|kereshet)|leiratkoz',
    'visszavon|tiltva|tiltott|tilto?lista|tiltas|feketelist|(?:e ?mail|hirlevel)\\S* elutasit',
    // Romanian
    'nu (?:sun|contact|trimit|se permit|permit|apel|dorest|doreste|deranj|accept)|dezabon|dezinscri|e ?mail respins',
    'lista neagra',
    'fara (?:consimt|acord)|retras\\S* consimt|opozit',
    // Russian
    'не (?:звон|писать|пишите|беспоко|отправля|присыла|связыва|рассыла|контактир|разреша|обзван|хочет|соглас)|отпис',
    'отказ\\S* от|отозв|отзыв соглас|запре[тщ]|черныи список|без (?:рассыл|звонк|соглас)',
    // Ukrainian
    'не (?:дзвон|писати|пишіть|турбув|надсила|розсила|контакт|дозволя|хоче|бажа|погодж)|відпис|відмов\\S* від|відклик',
    'заборон|чорнии список|без (?:розсил|дзвінк|згоди)',
  ],
};

/** The column states a consent. */
const consents: Wording = {
  anywhere: [
    'consent|legalbasis|^allow(?:s|ed)?(?:e?mail|bulk|phone|call|sms|text|contact|fax|post|market|enrich|process)',
    'marketing(?:email)?(?:confirmation)?status|einwilligung|zustimmung|toestemming',
    'doubleoptin|^opt(?:ed)?in$|(?:mail|contact|phone|call|sms)s?opt(?:ed)?in',
    '^accepts?(?:e?mail|sms|marketing|calls?)|^(?:can|may)(?:be)?(?:contact|e?mail|call|text)',
    '^oka?y?to(?:e?mail|call|text)',
    '^(?:e?mails?|sms|marketing|contact|phone|calls?)(?:is|are)?(?:allowed|permitted)$',
    '(?:werbung|e?mails?|kontakt(?:aufnahme)?|anrufe?|telefon|marketing|mailings?|sms)(?:erlaubt|erwunscht|gestattet)',
    'darf(?:kontaktiert|angeschrieben|angerufen|beworben)|(?:werbe|mail|kontakt|marketing)erlaubnis|erlaubnise?mail',
    'accepte(?:de|les?|la|des|recevoir)*(?:e?mail|courriel|prospection|publicit|sms|demarchage|communication)',
    '(?:demarchage|prospection)autorise|autorise(?:le|la|les)?(?:contact|demarchage|prospection|e?mail|sms|appel)',
    'accord(?:de|pour|la)*(?:prospection|marketing|e?mail)',
    'acepta(?:recibir)?(?:publicidad|comunicacion|marketing|correo|e?mail|llamad|sms)',
    'permi(?:te|so)(?:de|para)?(?:contact|e?mail|correo|llamad|comunic|marketing)',
    '^mag(?:gebeld|gemaild|benaderd|gecontacteerd)|(?:marketing|e?mail|contact)toegestaan',
    'opt(?:ed)?in(?:to)?(?:e?mail|contact|phone|call|sms)|rechtsgrundlage|baselegale|basesjuridique',
    '同意|承諾|許諾|許可(?!番号|証|業|年月日)|オプトイン|法的根拠|(?:配信|受信|連絡|送信)(?:可否|希望|設定|状況|ステータス)',
    '允许|允許|接收(?:邮件|郵件)|(?:订阅|訂閱)(?:状态|狀態)|法律依据|法律依據',
    '동의|허용|수신(?:여부|상태)|구독상태|옵트인|법적근거',
  ],
  words: [
    'accett\\S* (?:comunicaz|marketing|e ?mail|contatt|sms|pubblicit)|contattabil',
    'consens[oi](?= )|autorizz\\S* (?:\\S+ )?(?:tratt|contatt|marketing|invio|e ?mail|comunic)|acconsent',
    'base giuridica',
    'zgod[aye](?= )|zezwol\\S* na|zezwalaj|podstawa prawna|samtyck|samtykke|medgiv|tillat(?= )',
    '(?:tilladelse|tillatelse) til',
    'rattslig grund|retsgrundlag|rettslig grunnlag|juridisk grunnlag|suostu',
    '\\S*(?:markkinointi|sahkoposti|yhteydenotto|puhelin|soitto|tekstiviesti)lupa|oikeusperuste',
    'autoriz\\S* (?:\\S+ )?(?:contat|contact|trat|marketing|envio|e ?mail|comunic|uso)',
    'permissao (?:de|para) (?:contat|contact|e ?mail)',
    'aceita (?:receb|contat|contact|e ?mail)|base (?:legal|juridica)',
    '(?:acik )?riza(?:si)?(?= )|izni(?= )|\\S*(?:e posta|email|sms|arama|iletisim|pazarlama|kvkk) (?:izin|onay)',
    'souhlas|suhlas|povolit(?= )|pravni zaklad|hozzajarul|beleegyez|jogalap',
    '(?:e ?mail|sms|telefon|hirlevel)\\S* engedelyez',
    'consimt|temei\\S* (?:juridic|legal)',
    'acord(?:ul)? (?:gdpr|marketing|e ?mail|email|de marketing|prelucr|comunic)',
    'соглас(?:ие|ия|ен|на)(?= )|разрешить(?= )|разрешен\\S* (?:на )?(?:рассыл|звон|контакт|e ?mail|обраб)',
    'правовое основание',
    'згод[аиу](?= )|дозвол\\S* (?:на )?(?:розсил|дзвін|контакт|e ?mail|обробк)|правова підстава',
  ],
};

const details: Wording = {
  anywhere: [
    'legalbasis|rechtsgrundlage|baselegale|basesjuridique|法的根拠|法律依据|法律依據|법적근거|^masterrecordid$',
    '日時|日付|年月日|日$|時刻|時間|方法|経路|理由|日期|时间|来源|來源|原因|날짜|일자|일시|시간|사유|출처|경로',
  ],
  words: [
    '(?:date|datum|fecha|dato|tarihi?|timestamp|time)(?= )',
    '(?:source|quelle|zrodlo|fonte|fuente|kilde|kalla|lahde|zdroj|forras)(?= )',
    '(?:sursa|reason|grund|motivo?|raison|motif|powod|arsag|arsak|syy|duvod|indok|nedeni?|ip|url|version|mode)(?= )',
    '(?:дата|время|источник|причина|джерело|час)(?= )|data (?:di|da|do|de|del|della|udziel|zgod|wypis|rezygn|wycof)',
    'base (?:legal|juridica|giuridica)|podstawa prawna|rattslig grund|retsgrundlag|rettslig grunnlag|juridisk grunnlag',
    'oikeusperuste|pravni zaklad|jogalap|temei|правовое основание|правова підстава',
  ],
};

/** Whether a column is about addresses, calls, or fax and letters. */
const subjects = {
  email: {
    anywhere: [
      'email|courriel|correo|mailen|メール|メルマガ|邮件|邮箱|郵件|信箱|이메일|메일|почт|пошт|емеил',
    ],
    words: ['e ?post(?:a|aya|e|en)?(?= )|posta elettronica|sahkopost|e ?posta|писем|письм'],
  },
  calls: {
    anywhere: [
      'phone|donotcall|(?:allow|consent|accept)\\w*calls?|^(?:can|may|oka?y?to|cannot|maynot)(?:be)?call',
      'calls?(?:opt|are|is|not|allow|permit|$)|sms|textmessage|whatsapp|anruf|telefo|appel|llama',
      'gebeld|belmeniet|bloctel|angerufen',
      'bellen|ligar|chamada|電話|発信|架電|ショートメッセージ|电话|致[电電]|来电|來電|电联|電聯|通话|通話|短信|簡訊|전화|발신|문자',
    ],
    words: [
      'chiam|dzwon|ring(?:a|e|es)?(?= )|opkald|oppring|samtal|soita|soitto|puhel|tekstiviesti|ligac|arama|aranma',
      'aramay|tel (?:ile|ara)|hivj|hivhat|hivas|felhiv|sun(?:a|ati|at)?(?= )|suna|apel|звон|дзвін|дзвон|телефон|смс',
      'обзван',
      'nevola|vola[tn]',
    ],
  },
  post: {
    anywhere: [
      'ファックス|ファクス|郵送|郵便|传真|傳真|邮寄|郵寄|信件|팩스|우편|fax|postal|donotpost|(?<!news)letter|directmail|телефакс',
    ],
    words: ['faks|telefaks|факс|brevpost|letterpost'],
  },
  /** Dynamics calls letters "Mails", 邮件 in Chinese. */
  letters: {
    anywhere: ['donotallow(?:bulk)?mails?$|^不(?:允许|允許)使用(?:批量|大量)?(?:邮件|郵件)$'],
    words: [],
  },
} as const satisfies Record<string, Wording>;

function reader({ anywhere, words }: Wording): (key: string, words: string) => boolean {
  const inKey = new RegExp(anywhere.join('|'), 'u');
  const atWord = words.length === 0 ? undefined : new RegExp(` (?:${words.join('|')})`, 'u');
  return (key, text) => inKey.test(key) || (atWord?.test(text) ?? false);
}

/** Each says whether a name has such a word. @param key by `headerKey` @param words by `headerWords` */
export const isRefusal = reader(refusals);
export const isConsent = reader(consents);
export const isAboutEmail = reader(subjects.email);
export const isAboutCalls = reader(subjects.calls);
export const isAboutLetters = reader(subjects.letters);
/** Both are never sent. */
export const isFaxOrLetters = reader({
  anywhere: [...subjects.post.anywhere, ...subjects.letters.anywhere],
  words: subjects.post.words,
});
/** The column describes a refusal or a consent: its date, source or reason. Its cells are no answers. */
export const isDetail = reader(details);
