import { describe, expect, it } from 'vitest';
import { listed } from '../../../src/domain/text/listed.ts';
import { mapColumns } from '../../../src/ingest/columns/column-map.ts';
import { checkedMapping } from '../../../src/ingest/columns/mapping/mapping-file.ts';
import { isPlainAnswer, optOutAnswer } from '../../../src/ingest/columns/opt-outs/opt-out-answers.ts';
import { optOutOf } from '../../../src/ingest/columns/opt-outs/opt-out.ts';
import { createOptOutReader } from '../../../src/ingest/columns/opt-outs/read-opt-outs.ts';

/** Labels of CRMs in each language, in capitals and without accents too. */
const labels = {
  'English and others': {
    'refusal/processing': [
      ...listed(`
        Unsubscribed from all email, Opted out of email: Newsletter, HasOptedOutOfEmail,
        Do not allow Bulk Emails, donotbulkemail, Do Not Contact, Unsubscribed Time, Newsletter opt-out,
        IsDeleted, Von allen E-Mails abgemeldet, Löschkennzeichen, Werbesperre, Kontaktsperre, Mailsperre,
        Mailing-Sperre, Marketingsperre, Verarbeitungssperre, Auskunftssperre, Sperrliste,
        Désabonné de tous les e-mails, No contactar, Cancelou a inscrição, Uitgeschreven, メール送信除外, メール配信停止,
        Eメールの配信登録を解除, 電子メールを許可しない, 連絡不可, 邮件退订, 不允许使用电子邮件, 电子邮件选择退出, 이메일 수신 거부`),
      'Do not contact by e-mail, phone or fax',
    ],
    'consent/processing': listed(`
      Allow Emails?, Person - Marketing status, Person - Double opt-in, Email Opt In, Opted in to email,
      メール配信可否, 個人情報の取り扱いに同意, 同意接收邮件, 마케팅 수신 동의`),
    'consent/calls': ['SMS Opt-In', 'Allow Phone Calls?'],
    'basis/processing': ["Legal basis for processing contact's data"],
    'refusal/calls': listed(`
      Telefonsperre, DoNotCall, Do Not Call, Do not allow Phone Calls, Opted out of SMS,
      Keine Telefonanrufe zulassen, Ne pas appeler, No llamar, Niet bellen, Não ligar, 電話拒否, 請勿致電, 请勿致电,
      전화 허용 안 함`),
  },
  'permissions in plain words': {
    'consent/processing': listed(`
      Accepts Marketing, accepts_email_marketing, Marketing allowed, Can be contacted, OK to email,
      Werbung erlaubt, Kontaktaufnahme erwünscht, Darf kontaktiert werden, E-Mail-Erlaubnis,
      Accepte la prospection, Autorise le contact, Acepta publicidad, Permiso de contacto,
      Mag gemaild worden, Marketing toegestaan, Accetta comunicazioni, Contattabile`),
    'consent/calls': ['Accepts SMS Marketing', 'Okay to call', 'Anruf erlaubt', 'Mag gebeld worden'],
    'refusal/processing': listed(`
      Cannot be contacted, Marketing not allowed, No marketing, Do-Not-Solicit, Deleted,
      Right to be forgotten, Restriction of processing, Werbung nicht erlaubt, Werbung unerwünscht,
      Kontaktverbot, Darf nicht angeschrieben werden, Ne pas démarcher, Refuse la prospection,
      No acepta publicidad, No permite contacto, Marketing niet toegestaan, Non accetta marketing,
      Não aceita marketing, Får inte kontaktas`),
    'refusal/calls': ['Bloctel', 'Bel-me-niet', 'Mag niet gebeld worden', 'Darf nicht angerufen werden'],
  },
  'Nouns of refusal': {
    'refusal/processing': listed(`
      Newsletter abbestellt, Refus des e-mails, Refus du courrier électronique, Exclusion des e-mails,
      Rechazo de correo electrónico, Exclusión voluntaria de correo electrónico,
      Opción de exclusión de correo electrónico, No participación en correo electrónico,
      Cancelación de correo electrónico, Baja de correo, Anulación de comunicaciones,
      Renuncia al correo electrónico, Correo electrónico: darse de baja, Recusa de e-mail,
      Cancelamento de e-mail, Exclusão de e-mail, Rifiuto e-mail`),
    'refusal/calls': ['Refus des appels', 'Exclusión de llamadas', 'Recusa de chamadas'],
  },
  Italian: {
    'refusal/calls': ['Non chiamare'],
    'refusal/processing': [
      'Scelta esclusione email',
      'Rinuncia e-mail',
      'Non consentire e-mail',
      'NON CONTATTARE',
    ],
    'consent/processing': ['Consenso marketing', 'Autorizzazione al trattamento'],
    'basis/processing': ['Base giuridica per il trattamento dei dati'],
  },
  Polish: {
    'refusal/calls': ['Nie dzwonić', 'Nie Dzwoń'],
    'refusal/processing': ['Wypisanie adresu e-mail', 'Nie zezwalaj na wiadomości e-mail', 'Zgoda wycofana'],
    'consent/processing': ['Zgoda marketingowa', 'Zgoda RODO'],
    'basis/processing': ['Podstawa prawna przetwarzania danych kontaktu', 'Data udzielenia zgody'],
  },
  Swedish: {
    'refusal/calls': ['Ring inte'],
    'refusal/processing': ['Önskar ej utskick', 'ONSKAR EJ UTSKICK', 'Tillåt inte e-post', 'Kontakta ej'],
    'consent/processing': ['Samtycke'],
  },
  Finnish: {
    'refusal/calls': ['Älä soita'],
    'refusal/processing': ['Ei lähetetä sähköpostia', 'Älä salli sähköpostia', 'Suoramarkkinointikielto'],
    'consent/processing': ['Suostumus', 'Markkinointilupa'],
  },
  Danish: {
    'refusal/calls': ['Ring ikke'],
    'refusal/processing': ['Fravælg e-mail', 'Afmeldt alle e-mails', 'Må ikke kontaktes'],
    'consent/processing': ['Samtykke'],
  },
  Norwegian: {
    'refusal/calls': ['Ikke ring'],
    'refusal/processing': ['Har avsagt seg e-post', 'Ikke forstyrr!', 'Reservert mot markedsføring'],
    'consent/processing': ['Samtykke til markedsføring'],
  },
  Portuguese: {
    'refusal/calls': ['Não fazer chamada', 'Não Telefonar'],
    'refusal/processing': ['Não Deseja receber E-mails', 'Nao contatar', 'Não permitir e-mails'],
    'consent/processing': ['Consentimento LGPD'],
  },
  Turkish: {
    'refusal/calls': ['Tel. İle Aramayın', 'Arama Yapma'],
    'refusal/processing': ['Liste Dışı E-Posta', 'İLETİŞİME GEÇME', 'Tüm e-postaların aboneliğinden çıktı'],
    'consent/processing': ['E-POSTA İZNİ', 'Açık rıza', 'KVKK onayı'],
  },
  Czech: {
    'refusal/calls': ['Nevolat'],
    'refusal/processing': [
      'Nepovolit e-maily',
      'Odhlášen ze všech e-mailů'.normalize('NFD'),
      'Nekontaktovat',
    ],
    'consent/processing': ['Souhlas se zpracováním osobních údajů'],
  },
  Hungarian: {
    'refusal/calls': ['Nem szabad felhívni', 'Ne hívj'],
    'refusal/processing': ['Leiratkozva az emailről', 'Ne engedélyezzen e-maileket'],
    'consent/processing': ['Adatkezelési hozzájárulás'],
  },
  Romanian: {
    'refusal/calls': ['Nu sunați', 'Nu sunati'],
    'refusal/processing': ['Opțiune Email Respinsă', 'Nu contactați', 'Dezabonat de la toate e-mailurile'],
    'consent/processing': ['Consimțământ marketing', 'Acord GDPR'],
  },
  Russian: {
    'refusal/calls': ['Не звонить'],
    'refusal/processing': ['Не писать на E-mail', 'Отказался от рассылки', 'Не беспокоить'],
    'consent/processing': ['Согласие на обработку персональных данных'],
  },
  Ukrainian: {
    'refusal/calls': ['Не дзвонити'],
    'refusal/processing': ['Відмова від отримання Email-повідомлень', 'Відписаний від усіх листів'],
    'consent/processing': ['Згода на розсилку'],
  },
  Korean: {
    'refusal/calls': ['발신 제한됨'],
    'refusal/processing': ['이메일 수신거부', '연락 금지', '이메일 수신거부'.normalize('NFD')],
  },
  Japanese: {
    'refusal/calls': ['電話不可', '発信禁止'],
    'refusal/processing': ['Ｅメール送信除外', '全てのEメールの配信登録を解除'],
    'basis/processing': ['コンタクトのデータを処理するための法的根拠'],
  },
  Chinese: {
    'refusal/calls': ['谢绝来电', '不允许电话联络', '切勿通話', '不電聯'],
    'refusal/processing': ['退出电子邮件', '電子郵件退出', '取消訂閱所有電子郵件'],
  },
};
const known = Object.entries(labels).flatMap(([language, meanings]) =>
  Object.entries(meanings).flatMap(([meaning, names]) =>
    names.map((name) => [language, name, ...meaning.split('/')]),
  ),
);

describe('columns of opt-outs', () => {
  it.each(known)('%s: the column %j states a %s of %s', (_, name, polarity, scope) => {
    expect(optOutOf(name)).toEqual({ polarity, scope });
  });

  it.each(
    listed(`
    Fax Opt Out, HasOptedOutOfFax, Do not allow Faxes, donotpostalmail, FAX送信除外, 不允许使用传真, 우편 수신 거부, 取引先名,
    最終活動日, 邮箱, Do not allow Mails, Email, has_newsletter, Newsletter opt-in, Opt-in date, Account Name,
    Catering interest, Allowance, Emails allowed per month, Contact Allowance, Acceptance date, Deleted by,
    Cancelled, Maybe, Werbungskosten, Accord-cadre, Permiso de trabajo, Magento ID, Withdrawal amount,
    Rejection reason, Authorized signatory, Zákazník, Zákazka, Povolání, Důvod odmítnutí, Zgodność,
    Data rezygnacji, Zezwolenie, Ej kontaktad, Ikke kontaktet, Godkännandestatus (möten), Toimilupa, Leírás,
    Motivo de cancelación, Motivo de rechazo, Fecha de baja, Cancelación de contrato, Date de refus,
    Motif du refus, Correo electrónico secundario, Prioridad baja, Cancelamento de pedido, Bestellt,
    Elutasítás oka, Firmatario autorizzato, Autorización de crédito, Причина отказа, Согласован, Подпись,
    許可番号, Nie zezwalaj na faksy, Tillåt inte fax, Älä salli faksia, 不允许使用邮件, 不允许使用批量邮件`),
  )('the column %j states no opt-out', (name) => {
    expect(optOutOf(name)).toBeUndefined();
  });

  it('a name of 300,000 characters is read in the time of a test', () => {
    expect(optOutOf('cancel '.repeat(50_000))).toBeUndefined();
  });
});

describe('answers about opting out', () => {
  it.each(
    listed(`
    true, Yes, Do Not Allow, 2026-03-01 10:00, TRUE, ｔｒｕｅ, Ja, Sì, Tak, Kyllä, Igen, Evet, Да, 네, 是, 1, x,
    ✓, İptal`),
  )('%j refuses in a column of refusals', (cell) => {
    expect(optOutAnswer(cell, 'refusal')).toBe('opted out');
  });

  it.each([
    ...listed(`
      false, 0, No, Allow, いいえ, 否, 許可, Nie, Nej, Ei, HAYIR, Nem, Nu, Нет, Ні, 아니요, Consenti, Zezwalaj,
      Tillåt, Salli`),
    '',
    ' ',
  ])('%j refuses nothing in a column of refusals', (cell) => {
    expect(optOutAnswer(cell, 'refusal')).toBe('not opted out');
  });

  it.each(
    listed(`
    Do Not Allow, no, FALSE, 0, Unsubscribed, no_consent, Withdrawn, archived, nicht erlaubt, unerwünscht,
    配信停止, 不同意, 미동의, ×, Nie, Nej, Ei, Hayır, Нет, 無, brak, Nie zezwalaj, Älä salli, İzin Verme, Не разрешать`),
  )('%j refuses in a column of consents', (cell) => {
    expect(optOutAnswer(cell, 'consent')).toBe('opted out');
  });

  it.each([
    ...listed(`
      Allow, yes, subscribed, Legitimate interest – existing customer, 2026-03-01, 配信可, 同意, 동의, ○, Tak,
      udzielona, Подтверждено, İzin Ver, 契約の履行, x, Erlaubt, erwünscht, 3. března 2026, 2026年3月1日, n/a, t`),
    '',
  ])('%j consents, or says nothing, in a column of consents', (cell) => {
    expect(optOutAnswer(cell, 'consent')).toBe('not opted out');
  });

  it.each(['maybe', 'whatever', 'pending', '3', 'E', 'Nicht abgemeldet'])(
    '%j is not understood in columns of refusals and consents, and counts as opted out',
    (cell) => {
      expect(optOutAnswer(cell, 'refusal')).toBe('not understood');
      expect(optOutAnswer(cell, 'consent')).toBe('not understood');
    },
  );

  it('a text that describes a consent is no refusal', () => {
    expect(optOutAnswer('Web form, Graz', 'basis')).toBe('not opted out');
    expect(optOutAnswer('withdrawn', 'basis')).toBe('opted out');
  });

  it('a mapping file lists the values that mean opted out', () => {
    const values = new Set(['unsubscribed']);
    expect(optOutAnswer('Unsubscribed', 'consent', values)).toBe('opted out');
    expect(optOutAnswer('no_consent', 'consent', values)).toBe('not opted out');
  });

  it.each(['Ne plus  contacter ', 'ABMELDUNG\u00a0', 'De\u0301sabonne\u0301'])(
    'a value of a mapping file means opted out in whatever spelling the file and the cell have: %j',
    (value) => {
      const mapping = checkedMapping({ columns: { opted_out: { column: 'State', values: [value] } } });
      const layout = { header: ['Email', 'State'], recognised: true, rows: [] };
      const { optOuts } = mapColumns('file.csv', layout, { mapping });
      const cell = value.trim().normalize('NFC').replaceAll('  ', ' ').toLowerCase();
      expect(optOuts.map((column) => createOptOutReader(column)(['', cell]))).toEqual(['opted out']);
    },
  );

  it('a cell of a million characters is no answer, and is read in one pass', () => {
    const cell = 'não '.repeat(250_000);
    expect(optOutAnswer(cell, 'refusal')).toBe('not understood');
    expect(isPlainAnswer(cell)).toBe(false);
  });
});

describe('a column that looks like a consent and is not understood', () => {
  const warnings = (name: string, cells: string[], mapping?: Record<string, unknown>): readonly string[] =>
    mapColumns(
      'contacts.csv',
      {
        header: ['Email', name, 'Email Opt Out'],
        recognised: true,
        rows: cells.map((cell, row) => [`ann${row}@acme.example`, cell, '']),
      },
      { mapping: mapping && checkedMapping(mapping) },
    ).warnings;

  it.each([
    ['RODO', ['TAK', '', 'NIE']],
    ['KVKK', ['', '', '']],
    ['Možno poslat email', ['1', '0', '1']],
    ['Privacy', ['x', '', '']],
    ['İzin', ['E', 'H', 'E']],
    ['Newsletter opt-in', ['false', 'true', 'false']],
    ['Werbung', ['ja', 'nein', '']],
    ['Newsletter erlaubt', ['ja', 'nein', '']],
    ['Får kontaktas', ['ja', 'nej', '']],
    ['Må ringes', ['ja', 'nej', '']],
    ['Markkinointi sallittu', ['kyllä', 'ei', '']],
    ['Można dzwonić', ['tak', 'nie', '']],
    ['Pode ser contatado', ['sim', 'não', '']],
    ['Aranabilir', ['evet', 'hayır', '']],
    ['Hívható', ['igen', 'nem', '']],
    ['Poate fi contactat', ['da', 'nu', '']],
    ['DNC', ['yes', '', '']],
    ['Liste rouge', ['Oui', 'Non', '']],
    ['Verstorben', ['', 'X', '']],
    ['Deceased', ['true', 'false', '']],
    ['Gesperrt', ['', 'x', '']],
    ['Sperrkennzeichen', ['', 'X', '']],
    ['Sperr-KZ', ['0', '1', '0']],
    ['Sperrgrund', ['', 'Wunsch', '']],
    ['Kundensperre', ['', '', 'X']],
    ['Zentrale Sperre', ['', 'X', '']],
    ['Blockiert', ['nein', 'ja', 'nein']],
    ['Подписка на новости', ['да', 'нет', '']],
    ['Status', ['Customer', 'Do not contact', 'Lead']],
    ['Stav', ['nový', 'odhlášen', 'nový']],
  ])('the column %s has a warning that names the column and the next step', (name, cells) => {
    expect(warnings(name, cells)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^column "${name}" seems to say who has consented or opted out, and is not used.*` +
            '"opted_out": \\{"column": 2, "values".*\\{"ignore": \\[2\\]\\}$',
        ),
      ),
    ]);
  });

  it.each([
    ['Abonnement', ['Gold', 'Silver', 'Gold']],
    ['Subscription plan', ['', '', 'Gold']],
    ['Optional field', ['', '', 'x']],
    ['Персональный менеджер', ['Да', '', '']],
    ['Подпись', ['да', '', '']],
    ['Fax permission', ['yes', 'no', '']],
    ['Liefersperre', ['', 'X', '']],
    ['Zentrale Auftragssperre', ['', 'X', '']],
    ['Faxsperre', ['', 'X', '']],
    ['Sperrgut', ['', 'X', '']],
    ['Opt-in date', ['', '', '2026-03-01']],
    ['GDPR statement', ['shown on the form', 'sent by letter', 'read out', 'in the shop', 'by phone']],
    ['Notes', ['asked us what "unsubscribed" means', '', '']],
    ['has_newsletter', ['true', 'false', '']],
    ['(Do Not Modify) Modified On', ['2026-03-01', '', '']],
  ])('the column %s has no warning', (name, cells) => {
    expect(warnings(name, cells)).toEqual([]);
  });

  it('a mapping file that names or ignores the column ends the warning', () => {
    expect(warnings('RODO', ['TAK'], { ignore: ['RODO'] })).toEqual([]);
    expect(
      warnings('RODO', ['TAK'], { columns: { opted_out: { column: 'RODO', values: ['NIE'] } } }),
    ).toEqual([]);
  });
});
