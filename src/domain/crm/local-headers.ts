import { listed } from '../text/listed.ts';

/**
 * Headers of contact fields in other languages than English, as CRMs export them. Words that name another field in
 * another language are missing: `Kraj` is a country in Polish and a region in Czech, `Titel` a job in Swedish and an
 * academic title in German.
 */
export const localHeaders = {
  first_name: listed(`
    Vorname, Prénom, Nombre, Voornaam, Primeiro nome, 名, 名前, 名字, 이름,
    Nome, Nome próprio, Imię, Förnamn, Etunimi, Fornavn, Ad, Adı, İsim, Jméno, Křestní jméno, Keresztnév, Utónév,
    Prenume, Имя, Ім'я`),
  last_name: listed(`
    Nachname, Nom, Nom de famille, Apellidos, Apellido, Achternaam, Sobrenome, Apelido, 姓, 姓氏, 苗字, 성,
    Cognome, Último nome, Nazwisko, Efternamn, Sukunimi, Efternavn, Etternavn, Soyad, Soyadı, Soyisim, Příjmení,
    Vezetéknév, Nume, Nume de familie, Фамилия, Прізвище`),
  title: listed(`
    Jobtitel, Job-Titel, Berufsbezeichnung, Stellenbezeichnung, Position, Intitulé du poste, Poste, Fonction, Cargo,
    Puesto, Puesto de trabajo, Functie, Functietitel, 役職, 職位, 职位, 职务, 職務, 직책, 직함,
    Qualifica, Funzione, Posizione lavorativa, Stanowisko, Jobbtitel, Befattning, Tehtävänimike, Ammattinimike,
    Stilling, Stillingsbetegnelse, Jobbtittel, Unvan, Pracovní pozice, Beosztás, Funcție, Должность, Посада, 役職名, 职称,
    職稱, 직위`),
  email: listed(`
    E-Mail, E-Mail-Adresse, E-mail, Adresse e-mail, Correo, Correo electrónico, E-mailadres, Endereço de e-mail,
    メール, Eメール, メールアドレス, 電子メール, 邮箱, 邮件, 电子邮件, 电子邮箱, 邮箱地址, 電子郵件, 電子信箱, 이메일, 이메일 주소, 전자 메일,
    Indirizzo e-mail, Indirizzo email, Adres e-mail, E-post, E-postadress, Mailadress, Sähköposti, Sähköpostiosoite,
    E-mailadresse, E-postadresse, E-posta, E-posta adresi, Eposta, E-mailová adresa, E-mail cím, Adresă de e-mail,
    Adresa email, Эл. почта, Электронная почта, Адрес электронной почты, E-mail-адрес, Ел. пошта, Електронна пошта,
    Адреса Email, Емейл, 电子邮件地址, 電子郵件地址`),
  phone: listed(`
    Telefonnummer, Telefon, Geschäftstelefon, Numéro de téléphone, Téléphone, Téléphone professionnel,
    Número de teléfono, Teléfono, Teléfono empresarial, Telefoonnummer, Telefoon, Número de telefone, Telefone,
    電話, 電話番号, 勤務先電話, 电话, 电话号码, 電話號碼, 전화, 전화번호,
    Telefono, Telefono ufficio, Numero di telefono, Numer telefonu, Telefon służbowy, Kontorstelefon, Puhelin,
    Puhelinnumero, Arbejdstelefon, İş telefonu, Ofis telefonu, Telefon numarası, Telefonní číslo, Telefon do práce,
    Telefonszám, Munkahelyi telefon, Număr de telefon, Telefon birou, Телефон, Номер телефона, Рабочий телефон,
    Номер телефону, 会社電話, 勤務先電話番号, 办公室电话, 工作电话, 辦公室電話, 사무실 전화번호`),
  mobile_phone: listed(`
    Mobiltelefonnummer, Mobiltelefon, Handynummer, Mobil, Numéro de téléphone mobile, Téléphone mobile, Mobile,
    Número de teléfono móvil, Teléfono móvil, Móvil, Mobiel nummer, Mobiel, Celular,
    携帯, 携帯電話, 携帯電話番号, 手机, 手机号码, 移动电话, 手機, 휴대폰, 휴대전화, 휴대폰 번호,
    Cellulare, Telefono cellulare, Telefon komórkowy, Mobilnummer, Matkapuhelin, Matkapuhelinnumero,
    Mobiltelefonnummer, Cep telefonu, Telemóvel, Mobilní telefon, Telefon mobil, Мобильный телефон, Мобільний телефон,
    モバイル, 行動電話, 휴대 전화번호`),
  city: listed(`
    Stadt, Ort, Ville, Ciudad, Plaats, Stad, Cidade, 市区町村, 城市, 도시,
    Città, Comune, Miasto, Kaupunki, By, Şehir, Město, Város, Oraș, Город, Місто, 市/县, 시`),
  state: listed(`
    Bundesland, Bundesland/Region, Bundesland/Kanton, État/Région, État/Province, Etat/Province, Région,
    Estado/Región, Estado/Provincia, Provincie, Estado/Região, 都道府県, 都道府県/地域, 省份, 省/市/自治区, 시/도,
    Provincia, Regione, Stato/Regione, Województwo, Län, Osavaltio, Eyalet, Область, 省, 省/市`),
  country: listed(`
    Land, Land/Region, Pays, Pays/Région, País, País/Región, País/Região, 国, 国/地域, 国家, 国家/地区, 國家, 국가, 국가/지역,
    Paese, Nazione, Kraj/region, Maa, Maa/alue, Ülke, Ülke/Bölge, Země, Ország, Țară, Страна, Країна, 國家/地區`),
  organization_name: listed(`
    Unternehmensname, Name des Unternehmens, Unternehmen, Firma, Firmenname, Nom de l'entreprise, Entreprise,
    Nombre de la empresa, Nombre de la compañía, Empresa, Bedrijfsnaam, Bedrijf, Nome da empresa,
    会社, 会社名, 企業名, 勤務先, 取引先名, 公司, 公司名称, 企业名称, 单位名称, 公司名稱, 회사, 회사명, 회사 이름, 계정 이름,
    Azienda, Nome azienda, Ragione sociale, Società, Nazwa firmy, Nazwa kontrahenta, Företag, Företagsnamn,
    Organisationsnamn, Yritys, Yrityksen nimi, Virksomhed, Virksomhedsnavn, Firmanavn, Bedrift, Bedriftsnavn, Selskap,
    Şirket, Şirket adı, Firma adı, Společnost, Název společnosti, Cég, Cégnév, Companie, Nume companie, Firmă, Компания,
    Название компании, Организация, Контрагент, Компанія, Назва компанії, Організація, 取引先, 账户名称, 帳戶名稱, 거래처명`),
  linkedin_url: listed(`
    LinkedIn-URL, URL LinkedIn, URL de LinkedIn,
    Profilo LinkedIn, Profil LinkedIn, LinkedIn-profil, LinkedIn-profiili, LinkedIn profili, Профиль LinkedIn`),
};

/** Labels of the time at which a CRM last changed a record. */
export const localModifiedHeaders = listed(`
  Letztes Änderungsdatum, Datum der letzten Änderung, Zuletzt geändert am, Geändert am, (Nicht ändern) Geändert am,
  Date de dernière modification, Date de la dernière modification, Fecha de última modificación,
  Fecha de la última modificación, Data dell'ultima modifica, Data da última modificação, Datum laatste wijziging`);

/** HubSpot's labels of the record id. */
export const idHeaders = listed(`
  Datensatz-ID, ID de fiche d'informations, ID d'enregistrement, ID de fiche, ID de registro, レコードID, 记录ID,
  記錄ID, 레코드 ID`);

/** Names of columns with the ids of contacts. */
export const contactIdHeaders = listed(`
  Kontakt-ID, ID du contact, ID contact, Identifiant du contact, Identifiant contact, Id. del contacto, ID de contacto,
  ID contacto, Identificador del contacto, Identificador de contacto, ID do contato, ID contato, ID do contacto,
  Identificador do contato, ID contatto, ID del contatto, Identificativo contatto, ID referente, Contact-ID,
  Contactpersoon-ID, ID kontaktu, Identyfikator kontaktu, Kontaktperson-ID, Yhteyshenkilön tunnus, id контакта,
  取引先責任者 ID, 顧客担当者ID, コンタクトID, 連絡先ID, 联系人 ID, 聯絡人 ID, 연락처 ID`);

/** The kinds of addresses and numbers in headers of Pipedrive. */
export const atWork = behind(
  'Arbeit, Büro, Travail, Trabajo, Trabalho, Lavoro, Werk, Praca, Arbete, Arbejde, Jobb, Työ',
);
export const atHome = behind('Privat, Domicile, Residencial, Casa, Thuis, Dom, Hem, Hjem, Koti');
export const elsewhere = behind(
  'Sonstiger, Autre, Otro, Outros, Altro, Overig, Inne, Övrigt, Andet, Annet, Muu',
);
export const mobile = behind('Mobil, Handy, Mobile, Portable, Móvil, Celular, Cellulare, Mobiel, Komórka');

function behind(names: string): string[] {
  return listed(names).map((name) => ` - ${name}`);
}

/** Names of columns that hold first names beside a column of last names, and otherwise whole names. */
export const firstOrWhole = listed("Nombre, Nome, Ad, Adı, İsim, Jméno, Имя, Ім'я, 名前, 名字, 이름");
/** Names of columns that hold last names beside a column of first names, and otherwise whole names. */
export const lastOrWhole = listed('Nom, Nume');

/** Without names that Pipedrive gives to columns of whole names: `Persona - Nombre`, `Personne - Nom`. */
export function partsOfNames(names: readonly string[]): string[] {
  return names.filter((name) => !firstOrWhole.includes(name) && !lastOrWhole.includes(name));
}

/** Pipedrive's headers begin with the name of the record, and may end with the kind of the value. */
export function headersOfPerson(names: readonly string[], kinds: readonly string[] = ['']): string[] {
  const records = ['Person', 'Personne', 'Persona', 'Pessoa', 'Persoon', 'Osoba', 'Henkilö'];
  return records.flatMap((record) =>
    names.flatMap((name) => kinds.map((kind) => `${record} - ${name}${kind}`)),
  );
}

/** The headers of Dynamics 365 name the address. */
export function addressHeaders(names: readonly string[]): string[] {
  return listed('Adresse 1, Dirección 1, Indirizzo 1, Endereço 1, Adress 1, Adres 1, 住所 1, 地址 1').flatMap(
    (address) => names.map((name) => `${address}: ${name}`),
  );
}
