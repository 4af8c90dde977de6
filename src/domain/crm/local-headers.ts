import { listed } from '../text/listed.ts';

/**
 * Headers of contact fields in German, French, Spanish, Dutch, Portuguese, Japanese, Chinese and Korean, as CRMs export
 * them.
 */
export const localHeaders = {
  first_name: listed(`
    Vorname, Prénom, Nombre, Voornaam, Primeiro nome, 名, 名前, 名字, 이름`),
  last_name: listed(`
    Nachname, Nom, Nom de famille, Apellidos, Apellido, Achternaam, Sobrenome, Apelido, 姓, 姓氏, 苗字, 성`),
  title: listed(`
    Jobtitel, Job-Titel, Berufsbezeichnung, Stellenbezeichnung, Position, Intitulé du poste, Poste, Fonction, Cargo,
    Puesto, Puesto de trabajo, Functie, Functietitel, 役職, 職位, 职位, 职务, 職務, 직책, 직함`),
  email: listed(`
    E-Mail, E-Mail-Adresse, E-mail, Adresse e-mail, Correo, Correo electrónico, E-mailadres, Endereço de e-mail,
    メール, Eメール, メールアドレス, 電子メール, 邮箱, 邮件, 电子邮件, 电子邮箱, 邮箱地址, 電子郵件, 電子信箱, 이메일, 이메일 주소, 전자 메일`),
  phone: listed(`
    Telefonnummer, Telefon, Geschäftstelefon, Numéro de téléphone, Téléphone, Téléphone professionnel,
    Número de teléfono, Teléfono, Teléfono empresarial, Telefoonnummer, Telefoon, Número de telefone, Telefone,
    電話, 電話番号, 勤務先電話, 电话, 电话号码, 電話號碼, 전화, 전화번호`),
  mobile_phone: listed(`
    Mobiltelefonnummer, Mobiltelefon, Handynummer, Mobil, Numéro de téléphone mobile, Téléphone mobile, Mobile,
    Número de teléfono móvil, Teléfono móvil, Móvil, Mobiel nummer, Mobiel, Celular,
    携帯, 携帯電話, 携帯電話番号, 手机, 手机号码, 移动电话, 手機, 휴대폰, 휴대전화, 휴대폰 번호`),
  city: listed(`
    Stadt, Ort, Ville, Ciudad, Plaats, Stad, Cidade, 市区町村, 城市, 도시`),
  state: listed(`
    Bundesland, Bundesland/Region, Bundesland/Kanton, État/Région, État/Province, Etat/Province, Région,
    Estado/Región, Estado/Provincia, Provincie, Estado/Região, 都道府県, 都道府県/地域, 省份, 省/市/自治区, 시/도`),
  country: listed(`
    Land, Land/Region, Pays, Pays/Région, País, País/Región, País/Região, 国, 国/地域, 国家, 国家/地区, 國家, 국가, 국가/지역`),
  organization_name: listed(`
    Unternehmensname, Name des Unternehmens, Unternehmen, Firma, Firmenname, Nom de l'entreprise, Entreprise,
    Nombre de la empresa, Nombre de la compañía, Empresa, Bedrijfsnaam, Bedrijf, Nome da empresa,
    会社, 会社名, 企業名, 勤務先, 取引先名, 公司, 公司名称, 企业名称, 单位名称, 公司名稱, 회사, 회사명, 회사 이름, 계정 이름`),
  linkedin_url: listed('LinkedIn-URL, URL LinkedIn, URL de LinkedIn'),
};

/** HubSpot's labels of the record id. */
export const idHeaders = listed(`
  Datensatz-ID, ID de fiche d'informations, ID d'enregistrement, ID de fiche, ID de registro, レコードID, 记录ID,
  記錄ID, 레코드 ID`);

/** The kinds of addresses and numbers in headers of Pipedrive. */
export const atWork = ['', ' - Arbeit', ' - Büro', ' - Travail', ' - Trabajo', ' - Trabalho'] as const;
export const atHome = [' - Privat', ' - Domicile', ' - Residencial'] as const;
export const elsewhere = [' - Sonstiger', ' - Autre', ' - Otro', ' - Outros'] as const;
export const mobile = [' - Mobil', ' - Handy', ' - Mobile', ' - Portable', ' - Móvil', ' - Celular'] as const;

/** Pipedrive's headers begin with the name of the record, and may end with the kind of the value. */
export function headersOfPerson(names: readonly string[], kinds: readonly string[] = ['']): string[] {
  const records = ['Person', 'Personne', 'Persona', 'Pessoa'];
  return records.flatMap((record) =>
    names.flatMap((name) => kinds.map((kind) => `${record} - ${name}${kind}`)),
  );
}

/** The headers of Dynamics 365 name the address. */
export function addressHeaders(names: readonly string[]): string[] {
  return ['Adresse 1', 'Dirección 1'].flatMap((address) => names.map((name) => `${address}: ${name}`));
}
