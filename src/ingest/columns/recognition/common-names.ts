import { contactIdHeaders, idHeaders, localHeaders } from '../../../domain/crm/local-headers.ts';
import { listed } from '../../../domain/text/listed.ts';
import type { FieldNames } from '../fields.ts';

/** A second surname continues the last name in the columns before it. */
export const secondSurnames = listed(
  'segundo apellido, apellido materno, apellido 2, 2º apellido, 2do apellido, segundo sobrenome',
);

const numbered = (name: string): string[] => [1, 2, 3, 4, 5].map((number) => `${name} ${number}`);

/** Salesforce has no field of its own for a profile, and the name of each custom field ends in `__c`. */
const profiles = listed(`
  linkedin url, linkedin, linkedin profile, linkedin profile url, person linkedin url, person linkedin, linkedin page,
  linkedin link, contact linkedin url, profile url, linked in url, linked in, linked in profile`);

/**
 * Names that are recognised in any export, after the names of a recognised CRM. Spelling does not matter: `first_name`,
 * `First Name` and `firstName` are one name.
 */
export const commonNames: FieldNames = {
  contact_id: [
    ...listed('contact id, record id, crm id, lead id, external id, id, apollo contact id'),
    ...idHeaders,
    ...contactIdHeaders,
    ...listed('id do registro, id record, id rekordu, identyfikator rekordu, tietueen tunnus'),
  ],
  person_id: listed('apollo person id, apollo id, service person id'),
  email: [
    ...listed(`
      email work, work email, work email address, business email, company email, corporate email, professional email,
      primary email, email primary, email, e-mail, email address, e-mail address`),
    ...numbered('email'),
    ...numbered('e-mail'),
    ...[1, 2, 3].flatMap((number) => [
      `e-mail ${number} address`,
      `e-mail ${number} adresse`,
      `email address ${number}`,
    ]),
    ...localHeaders.email,
    ...listed(`
      mailadresse, adresse de messagerie, courriel, courrier électronique, adresse électronique,
      dirección de correo electrónico,
      電子メール アドレス, sekundäre e-mail, adresse e-mail secondaire, e-mail secondaire, correo electrónico secundario,
      correo secundario, e-mail secundário, e-mail secondaria, e-mail geschäftlich, geschäftliche e-mail,
      e-mail dienstlich, dienstliche e-mail, e-mail-adresse geschäftlich, e-mail-adresse dienstlich, e-mail firma,
      e-mail professionnel, email pro, courriel professionnel, adresse e-mail professionnelle, correo corporativo,
      correo electrónico corporativo, correo electrónico laboral, correo laboral, correo profesional, e-mail aziendale,
      e-mail corporativo, e-mail profissional, zakelijk e-mailadres, zakelijke e-mail, 会社メールアドレス, 会社メール,
      勤務先メールアドレス, 勤務先メール, mail,
      e-mail di lavoro, zakelijk e-mail, e-mail służbowy, służbowy adres e-mail, työsähköposti, secundair e-mailadres,
      dodatkowy adres e-mail, sekundär e-post, sekundær e-mail, sekundær e-post, toissijainen sähköposti,
      indirizzo e-mail secondario, メール(予備), 予備メールアドレス,
      contact1 personal email, contact1 work email, contact1 preferred email, contact1 alternate email,
      person email work, person email, person email home, person email other, secondary email, tertiary email,
      alternate email, email home, home email, personal email, private email, email personal, email other,
      other email, additional email, additional emails, emails, email addresses, e-mail addresses,
      adresse de messagerie 2, adresse de messagerie 3,
      電子メール 2 アドレス, 電子メール 3 アドレス, e-mail privat, e-mail-adresse privat, e-mail privé, e-mail privée,
      e-mail personnel, email perso, correo personal, correo electrónico personal, e-mail personale, e-mail pessoal`),
  ],
  hashed_email: listed('hashed email, email hash, email sha256, sha256 email, email md5, md5 email'),
  profile_url: [...profiles, ...localHeaders.linkedin_url, ...profiles.map((name) => `${name} c`)],
  first_name: [
    ...listed('first name, given name, forename, contact first name, contact1 first name, fname'),
    ...localHeaders.first_name,
    ...listed('primer nombre, nombre s, nombre de pila, roepnaam, 名 漢字'),
  ],
  last_name: [
    ...listed('last name, family name, surname, contact last name, contact1 last name, lname'),
    ...localHeaders.last_name,
    ...listed('familienname, zuname, primer apellido, apellido paterno, apellido 1, 姓 漢字'),
    ...secondSurnames,
  ],
  name: listed(`
    full name, contact name, person name, name, vollständiger name, nom complet, nombre completo, volledige naam, naam,
    nome completo, imię i nazwisko, namn, nimi, koko nimi, navn, fullt navn, fulde navn, ad soyad, adı soyadı,
    jméno a příjmení, celé jméno, név, teljes név, nume complet, фио, полное имя, піб, vor- und nachname,
    nom et prénom, prénom et nom, nombre y apellidos, nome e cognome, nome e sobrenome, voor- en achternaam,
    för- och efternamn, fullständigt namn, for- og efternavn, fuldt navn,
    nom du contact, nombre del contacto, nombre de contacto, nome contatto, nome do contato, naam contactpersoon,
    氏名, お名前, 姓名, 担当者名, 联系人, 联系人姓名, 聯絡人, 성명, 담당자명`),
  organization_name: [
    ...listed(`
      company name, organization name, organisation name, account name, employer, company, organization, organisation,
      current company, account, business name, household account name, accountname, account-name, nom du compte,
      nombre de la cuenta, nombre de cuenta, nome account, nome da conta, accountnaam, nazwa konta, kontonamn,
      kontonavn, tilin nimi, firma account, société compte, compañía cuenta, società account, empresa conta`),
    ...localHeaders.organization_name,
    ...listed(`
      société, nom de l’entreprise, compañía, arbeitgeber, employeur, raison sociale, razón social, razão social,
      貴社名, nom de la société, nom de société, nombre de compañía, nome società, nome dell'azienda, selskapsnavn,
      organización, organização, organizzazione, organisatie, organizacja, organisasjon, organisaatio`),
  ],
  domain: listed(`
    company domain, company domain name, organization domain, organisation domain, domain, domain name,
    domainname des unternehmens, unternehmensdomain, firmendomain, nom de domaine de l'entreprise,
    domaine de l'entreprise, nombre de dominio de la empresa, dominio de la empresa, nome dominio azienda,
    dominio aziendale, nome do domínio da empresa, nome de domínio da empresa, domínio da empresa, domeinnaam bedrijf,
    domena firmy, nazwa domeny firmy, företagets domännamn, virksomhedens domænenavn, company website,
    organization website, account website, website, website url, company url, email domain, webseite, sitio web,
    site web, sito web, strona internetowa, webbplats, verkkosivusto, hjemmeside, nettsted, web sitesi,
    webové stránky, weboldal, сайт, веб-сайт, 会社のドメイン名, ウェブサイト, 网站, 網站, 웹사이트,
    url du site web, url del sitio web, url del sito web, url do site, ウェブサイトURL`),
};
