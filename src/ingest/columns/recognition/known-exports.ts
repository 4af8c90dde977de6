import { importers } from '../../../domain/crm/importer.ts';
import {
  atHome,
  atWork,
  contactIdHeaders,
  elsewhere,
  firstOrWhole,
  headersOfPerson,
  idHeaders,
  lastOrWhole,
  localHeaders,
  partsOfNames,
} from '../../../domain/crm/local-headers.ts';
import { listed } from '../../../domain/text/listed.ts';
import type { FieldNames } from '../fields.ts';

/** Names are in the letter case of the CRM; `…` at the beginning or end of a name means any text. */
export interface KnownExport {
  readonly source: string;
  /**
   * Signatures of the CRM: alternatives, each a list of names that must all be in the header. `|` inside a name
   * separates alternatives.
   */
  readonly signatures: readonly (readonly string[])[];
  /** Names that no other known program writes. Two columns with such names are a signature too. */
  readonly ownNames?: readonly string[];
  /** The form of the CRM's record ids. */
  readonly idForm?: RegExp;
  /** The form of record ids that no other program writes. Ids of this form are a signature too. */
  readonly ownIdForm?: RegExp;
  readonly fields: FieldNames;
}

/** Data Loader may write API names in capitals. */
const orInCapitals = (names: readonly string[]): string[] =>
  names.flatMap((name) => [name, name.toUpperCase()]);

const idsOfDynamics = listed(`
  (Do Not Modify) Contact, (Nicht ändern) Kontakt, (Ne pas modifier) Contact, (No modificar) Contacto`);

/**
 * Names that distinguish HubSpot's record id from that of other programs. Some files of other programs have them too.
 */
const besideRecordIdOfHubSpot = listed(`
  Create Date, Last Modified Date, Lifecycle Stage, Lead Status, State/Region, Country/Region, Mobile Phone Number,
  Email Domain, Marketing contact status, Last Activity Date`);
/** The translations of some of these names: mobile phone, state and country. */
const besideTranslatedIdOfHubSpot = listed(`
  Mobiltelefonnummer, Bundesland/Region, Land/Region, Numéro de téléphone mobile, État/Région, Pays/Région,
  Número de teléfono móvil, Estado/Región, País/Región, Estado/Região, País/Região,
  携帯電話番号, 都道府県/地域, 国/地域, 国家/地区, 국가/지역`);
const ownNamesOfHubSpot = listed(`
  Record ID - Contact, Contact owner, Company domain name, Associated Company, Associated Company IDs,
  Primary Associated Company ID, WhatsApp Phone Number, Unsubscribed from all email, Opted out of email: …,
  Marketing email confirmation status, Legal basis for processing contact's data, Email hard bounce reason,
  Email Address Quarantined`);
const idsOfHubSpot = [...idHeaders, 'ID. de registro'];
/** HubSpot's record ids are shorter than Zoho's. */
const shortNumber = /^\d{1,13}$/;

const emailsOfPipedrive = ['Email', ...localHeaders.email];
const wholeNamesOfPipedrive = headersOfPerson([
  ...listed('Name, Naam, Namn, Navn, Nimi, Imię i nazwisko'),
  ...firstOrWhole,
  ...lastOrWhole,
]);
const firstNamesOfPipedrive = headersOfPerson(['First name', ...partsOfNames(localHeaders.first_name)]);
const lastNamesOfPipedrive = headersOfPerson(['Last name', ...partsOfNames(localHeaders.last_name)]);
const employersOfPipedrive = headersOfPerson(
  listed(`
    Organization, Organisation, Organización, Organização, Organizzazione, Organisatie, Organizacja, Organisasjon,
    Organisaatio`),
);

/** Names that Zoho shares with Salesforce or vtiger, and that distinguish its record id from that of other programs. */
const besideRecordIdOfZoho = listed(`
  Contact Owner, Lead Owner, Account Name, Created Time, Modified Time, Secondary Email, Email Opt Out,
  Mailing Street, Mailing City, Mailing State, Mailing Zip, Mailing Country`);
const ownNamesOfZoho = listed('Unsubscribed Mode, Unsubscribed Time, Enrich Status, Last Enriched Time');

const ownNamesOfSalesforce = [
  ...listed(`
    Mailing State/Province, Mailing Zip/Postal Code, Other State/Province, Other Zip/Postal Code, Company / Account,
    18 Digit Contact ID`),
  ...orInCapitals(
    listed(`
      Account.Name, MailingPostalCode, OtherPostalCode, HasOptedOutOfEmail, HasOptedOutOfFax, EmailBouncedReason,
      EmailBouncedDate, IsEmailBounced, MasterRecordId, IndividualId, SystemModstamp, …__c`),
  ),
];
/** API names that other programs have too. */
const apiNamesOfSalesforce = orInCapitals(
  listed(
    'AccountId, MailingStreet, MailingCity, MailingState, MailingCountry, DoNotCall, IsDeleted, OwnerId',
  ),
);

/** The order does not matter: a header that several CRMs could have written is not recognised. */
export const knownExports: readonly KnownExport[] = [
  {
    // The service's own export. Its contact id names the saved contact, not the person that `details.id` asks for.
    source: 'service',
    signatures: [['Apollo Contact Id']],
    ownNames: listed(`
      Apollo Account Id, Company Name for Emails, Primary Email Source, Secondary Email Source, Tertiary Email Source,
      Primary Email Catch-all Status, Primary Email Last Verified At, Email Confidence, Work Direct Phone,
      Corporate Phone, Person Linkedin Url, Company Linkedin Url, # Employees, Last Raised At,
      Number of Retail Locations`),
    fields: {
      contact_id: ['Apollo Contact Id'],
      email: ['Email', 'Secondary Email', 'Tertiary Email'],
      organization_name: ['Company Name', 'Company', 'Company Name for Emails'],
      domain: ['Website'],
      profile_url: ['Person Linkedin Url'],
    },
  },
  {
    source: 'dynamics365',
    // No other CRM has this column. Exports to static worksheets lack those of checksum and time.
    signatures: idsOfDynamics.map((name) => [name]),
    ownNames: listed(`
      (Do Not Modify) …, (Nicht ändern) …, (Ne pas modifier) …, (No modificar) …, Address 1: …, Address 2: …,
      Adresse 1: …, Adresse 2: …, Dirección 1: …, Dirección 2: …, Do not allow Emails, Do not allow Bulk Emails,
      Do not allow Phone Calls, Do not allow Faxes, contactid, parentcustomerid, emailaddress1, emailaddress2,
      telephone1, address1_…, donotemail, donotbulkemail, donotphone`),
    idForm: importers.dynamics.idPattern,
    fields: {
      contact_id: [...idsOfDynamics, 'contactid'],
      name: ['Full Name'],
      email: ['Email', 'emailaddress1', 'Email Address 2', 'Email Address 3'],
      organization_name: ['Company Name', 'parentcustomerid'],
    },
  },
  {
    source: 'pipedrive',
    signatures: [['Person - Pipedrive System ID'], ['Person - …', 'Organization - …|Deal - …']],
    ownNames: [
      ...listed(`
        Person - Title, Person - Job title, Person - LinkedIn…, Person - Owner, Person - Label…,
        Person - Person created, Person - Creation date, Person - Update time, Person - Marketing…,
        Person - Double opt-in`),
      ...wholeNamesOfPipedrive,
      ...firstNamesOfPipedrive,
      ...lastNamesOfPipedrive,
      ...employersOfPipedrive,
      ...headersOfPerson(['ID']),
      ...headersOfPerson([...emailsOfPipedrive, 'Phone', ...localHeaders.phone], ['…']),
    ],
    idForm: importers.pipedrive.idPattern,
    fields: {
      contact_id: ['Person - ID', 'Person - Pipedrive System ID', ...headersOfPerson(['ID']), 'ID'],
      name: wholeNamesOfPipedrive,
      first_name: firstNamesOfPipedrive,
      last_name: lastNamesOfPipedrive,
      email: [
        ...headersOfPerson(emailsOfPipedrive, ['', ...atWork, ' - Work', ' (Work)']),
        ...headersOfPerson(emailsOfPipedrive, [...atHome, ' - Home', ' (Home)']),
        ...headersOfPerson(emailsOfPipedrive, [...elsewhere, ' - Other', ' (Other)']),
      ],
      organization_name: [...employersOfPipedrive, 'Organization - Name', 'Organization'],
      domain: ['Organization - Website', 'Organisation - Website'],
      profile_url: ['Person - LinkedIn Page', 'Person - LinkedIn', 'Person - LinkedIn URL'],
    },
  },
  {
    source: 'zoho',
    signatures: [
      ['Record Id', [...besideRecordIdOfZoho, ...ownNamesOfZoho].join('|')],
      ['Record Id', 'First Name', 'Last Name', 'Email'],
      ['Contact Owner.id|Lead Owner.id|Account Name.id|Created By.id|Modified By.id'],
    ],
    ownNames: ownNamesOfZoho,
    // HubSpot's ids are shorter.
    idForm: /^(?:zcrm_\d+|\d{14,})$/,
    ownIdForm: /^zcrm_\d+$/,
    fields: {
      contact_id: ['Record Id', 'Contact Id'],
      name: ['Contact Name', 'Full Name'],
      email: ['Email', 'Secondary Email'],
      organization_name: ['Account Name', 'Company Name', 'Company'],
    },
  },
  {
    source: 'hubspot',
    signatures: [
      ['Record ID', [...besideRecordIdOfHubSpot, ...ownNamesOfHubSpot].join('|')],
      ['Record ID', 'First Name', 'Last Name', 'Email'],
      ['Record ID - Contact'],
      [idsOfHubSpot.join('|'), besideTranslatedIdOfHubSpot.join('|')],
      listed('Datensatz-ID, Vorname, Nachname, E-Mail|E-Mail-Adresse'),
      listed(`
        ID de fiche d'informations|ID d'enregistrement|ID de fiche, Prénom, Nom|Nom de famille,
        E-mail|Adresse e-mail`),
      listed('ID de registro|ID. de registro, Nombre, Apellidos, Correo|Correo electrónico'),
      ['レコードID|记录ID|記錄ID|레코드 ID', '姓|姓氏|성', '名|名字|이름'],
      ['hs_object_id'],
    ],
    ownNames: [...ownNamesOfHubSpot, 'hs_…'],
    idForm: shortNumber,
    fields: {
      contact_id: ['Record ID', 'Record ID - Contact', 'Contact ID', 'hs_object_id', ...idsOfHubSpot],
      email: listed(
        'Email, Work email, Additional email addresses, hs_additional_emails, Private e-mail address',
      ),
      organization_name: ['Company Name', 'Associated Company', 'company'],
      domain: listed('Company domain name, Domain name, Email Domain, hs_email_domain, Website URL, website'),
      profile_url: ['LinkedIn URL', 'LinkedIn', 'hs_linkedin_url'],
    },
  },
  {
    // As Fivetran replicates it.
    source: 'hubspot',
    signatures: [
      ['property_hs_object_id'],
      ['property_email', 'property_firstname', 'property_lastname|property_company'],
    ],
    ownNames: ['property_hs_…'],
    idForm: shortNumber,
    fields: {
      contact_id: ['property_hs_object_id', 'id'],
      first_name: ['property_firstname'],
      last_name: ['property_lastname'],
      email: ['property_email', 'property_work_email', 'property_hs_additional_emails'],
      organization_name: ['property_company'],
      domain: ['property_website'],
      profile_url: ['property_hs_linkedin_url'],
    },
  },
  {
    source: 'linkedin_connections',
    signatures: [
      ['Connected On', 'URL|Position'],
      ['Vorname', 'Nachname', 'URL', 'Unternehmen', 'Position'],
      ['Prénom', 'Nom', 'URL', 'Entreprise', 'Poste|Fonction'],
      ['Nombre', 'Apellidos', 'URL', 'Empresa', 'Cargo'],
    ],
    fields: { profile_url: ['URL'], email: ['Email Address'], organization_name: ['Company'] },
  },
  {
    source: 'google_contacts',
    signatures: [['E-mail 1 - Value|E-mail 2 - Value|E-mail 3 - Value']],
    ownNames: listed('Phone 1 - …, Organization 1 - …, Address 1 - …, Website 1 - …, Event 1 - …'),
    fields: {
      first_name: ['Given Name', 'First Name'],
      last_name: ['Family Name', 'Last Name'],
      email: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `E-mail ${number} - Value`),
      organization_name: ['Organization 1 - Name', 'Organization Name'],
    },
  },
  {
    source: 'salesforce',
    signatures: [
      ['ID', 'ACCOUNTID', 'LASTNAME', 'FIRSTNAME'],
      ['Id|ID', [...apiNamesOfSalesforce, ...ownNamesOfSalesforce].join('|')],
      ['Contact ID', `Account Name|Account ID|Account Owner|Mailing …|${ownNamesOfSalesforce.join('|')}`],
      ['Account Name', 'Account Owner', 'First Name|Last Name|Email'],
      ['First Name', 'Last Name', 'Account Name', 'Mailing State/Province'],
      ['First Name', 'Last Name', 'Company / Account', 'Lead ID|Lead Owner|Lead Source|Lead Status'],
      ['Vorname', 'Nachname', 'Accountname|Account-Name', 'Kontakt-ID|Accountinhaber|Kontaktinhaber'],
      ['Kontakt-ID', 'Accountname|Account-Name|Accountinhaber'],
      ['Accountname|Account-Name', 'Accountinhaber', 'Vorname|Nachname|E-Mail'],
      ['Prénom', 'Nom', 'Nom du compte', 'ID du contact|Propriétaire du compte'],
      ['ID du contact', 'Nom du compte|Propriétaire du compte'],
      ['Nom du compte', 'Propriétaire du compte', 'Prénom|Nom|E-mail'],
      ['Nombre', 'Apellidos', 'Nombre de la cuenta', 'Id. del contacto|Propietario de la cuenta'],
      ['Id. del contacto', 'Nombre de la cuenta|Propietario de la cuenta'],
      ['Nombre de la cuenta', 'Propietario de la cuenta', 'Nombre|Apellidos|Correo electrónico'],
    ],
    ownNames: ownNamesOfSalesforce,
    // Of contacts and leads.
    idForm: /^00[3Q][A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?$/,
    ownIdForm: /^00[3Q](?=.*[A-Za-z])[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?$/,
    fields: {
      contact_id: [
        'Contact ID',
        'Contact: Contact ID',
        '18 Digit Contact ID',
        'Id',
        'Lead ID',
        ...contactIdHeaders,
      ],
      email: ['Email', 'Contact: Email', 'npe01__WorkEmail__c', 'npe01__AlternateEmail__c'],
      name: ['Contact: Full Name'],
      organization_name: [
        ...listed('Account Name, Account: Account Name, Account Name: Account Name'),
        ...listed('Account.Name, Company / Account, Company'),
      ],
      domain: ['Website', 'Account: Website', 'Account.Website'],
    },
  },
];
