/** The headers and record ids that a CRM writes into an export. */
export interface WrittenExport {
  readonly title: string;
  readonly source: string;
  readonly idColumn?: string;
  /** A record id in the CRM's format; empty: any text can be one. */
  readonly id: string;
  readonly columns: readonly string[];
  /** The CRM is recognised only with its column of record ids, because its other columns have common names. */
  readonly needsId?: true;
}

const listed = (names: string): string[] => names.split(', ');
const capitals = (names: readonly string[]): string[] => names.map((name) => name.toUpperCase());

const salesforceApi = [
  ...listed(
    'FirstName, LastName, Name, Email, Phone, MobilePhone, Account.Name, AccountId, Title, Department',
  ),
  ...listed(
    'MailingStreet, MailingCity, MailingState, MailingPostalCode, MailingCountry, OwnerId, IsDeleted',
  ),
  ...listed('HasOptedOutOfEmail, DoNotCall, EmailBouncedReason, MasterRecordId, Region__c'),
];

const translated = (source: 'hubspot' | 'salesforce', language: string, names: string): WrittenExport => ({
  title: `${source} in ${language}`,
  source,
  idColumn: listed(names)[0]!,
  id: source === 'hubspot' ? '100400123456' : '0035e00000AbCdE',
  columns: listed(names),
  needsId: true,
});

/** Columns of the CRMs' exports of contacts. */
export const writtenExports: readonly WrittenExport[] = [
  translated(
    'hubspot',
    'German',
    'Datensatz-ID, Vorname, Nachname, E-Mail, Mobiltelefonnummer, Bundesland/Region, Land/Region, Firmenname',
  ),
  translated(
    'hubspot',
    'French',
    "ID d'enregistrement, Prénom, Nom, E-mail, Numéro de téléphone mobile, État/Région, Pays/Région, Ville",
  ),
  translated(
    'hubspot',
    'Spanish',
    'ID de registro, Nombre, Apellidos, Correo, Número de teléfono móvil, Estado/Región, País/Región, Ciudad',
  ),
  translated('salesforce', 'German', 'Kontakt-ID, Vorname, Nachname, E-Mail, Accountname, Accountinhaber'),
  translated(
    'salesforce',
    'French',
    'ID du contact, Prénom, Nom, E-mail, Nom du compte, Propriétaire du compte',
  ),
  translated(
    'salesforce',
    'Spanish',
    'Id. del contacto, Nombre, Apellidos, Correo electrónico, Nombre de la cuenta, Propietario de la cuenta',
  ),
  {
    title: 'HubSpot',
    source: 'hubspot',
    idColumn: 'Record ID',
    id: '100400123456',
    columns: [
      ...listed('Record ID, First Name, Last Name, Email, Phone Number, Mobile Phone Number, Company Name'),
      ...listed('Associated Company, Primary Associated Company ID, Company domain name, Website URL'),
      ...listed('Job Title, City, State/Region, Postal Code, Country/Region, LinkedIn URL, Contact owner'),
      ...listed('Create Date, Last Modified Date, Unsubscribed from all email, Email hard bounce reason'),
    ],
  },
  {
    title: "HubSpot's interface",
    source: 'hubspot',
    idColumn: 'hs_object_id',
    id: '401',
    columns: [
      ...listed('hs_object_id, firstname, lastname, email, phone, mobilephone, company, jobtitle, website'),
      ...listed('hs_additional_emails, hs_email_domain, hs_linkedin_url'),
    ],
  },
  {
    title: 'a report of Salesforce',
    source: 'salesforce',
    idColumn: 'Contact ID',
    id: '0035e00000AbCdE',
    columns: [
      ...listed('Contact ID, First Name, Last Name, Email, Phone, Mobile, Account Name, Account ID, Title'),
      ...listed('Department, Mailing Street, Mailing City, Mailing State/Province, Mailing Zip/Postal Code'),
      ...listed('Mailing Country, Account Owner, Contact Owner, Email Opt Out, Do Not Call, Website'),
    ],
  },
  {
    title: "Salesforce's interface",
    source: 'salesforce',
    idColumn: 'Id',
    id: '0035e00000AbCdEAAV',
    columns: ['Id', ...salesforceApi],
  },
  {
    title: "Salesforce's Data Loader",
    source: 'salesforce',
    idColumn: 'ID',
    id: '0035e00000AbCdEAAV',
    columns: ['ID', ...capitals(salesforceApi)],
  },
  {
    title: 'Pipedrive',
    source: 'pipedrive',
    idColumn: 'Person - ID',
    id: '17',
    columns: [
      ...listed('Person - ID, Person - Name, Person - First name, Person - Last name, Person - Email - Work'),
      ...listed(
        'Person - Email - Home, Person - Phone - Work, Person - Phone - Mobile, Person - Organization',
      ),
      ...listed('Organization - Website, Person - Owner, Person - Person created, Person - Labels'),
      ...listed('Person - Marketing status, Person - Job title'),
    ],
  },
  {
    title: 'Zoho',
    source: 'zoho',
    idColumn: 'Record Id',
    id: '410888000000698006',
    columns: [
      ...listed('Record Id, Contact Owner.id, Contact Owner, First Name, Last Name, Account Name.id'),
      ...listed('Account Name, Email, Secondary Email, Title, Department, Phone, Mobile, Home Phone'),
      ...listed('Mailing Street, Mailing City, Mailing State, Mailing Zip, Mailing Country, Created Time'),
      ...listed('Modified Time, Email Opt Out, Unsubscribed Mode, Unsubscribed Time, Full Name'),
    ],
  },
  {
    title: 'Dynamics 365',
    source: 'dynamics365',
    idColumn: '(Do Not Modify) Contact',
    id: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
    columns: [
      ...listed('(Do Not Modify) Contact, (Do Not Modify) Row Checksum, (Do Not Modify) Modified On'),
      ...listed('Full Name, First Name, Last Name, Email, Email Address 2, Company Name, Job Title'),
      ...listed('Business Phone, Mobile Phone, Address 1: City, Address 1: State/Province'),
      ...listed('Address 1: Country/Region, Do not allow Emails, Do not allow Phone Calls'),
    ],
  },
  {
    title: "Dynamics 365's interface",
    source: 'dynamics365',
    idColumn: 'contactid',
    id: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
    columns: [
      ...listed('contactid, firstname, lastname, emailaddress1, telephone1, mobilephone, parentcustomerid'),
      ...listed('jobtitle, donotemail, donotbulkemail'),
    ],
  },
  {
    title: 'the service',
    source: 'service',
    idColumn: 'Apollo Contact Id',
    id: '',
    columns: [
      ...listed('First Name, Last Name, Title, Company, Company Name, Company Name for Emails, Email'),
      ...listed('Email Status, Contact Owner, Account Owner, Work Direct Phone, Mobile Phone, Stage'),
      ...listed('# Employees, Person Linkedin Url, Website, City, State, Country, Apollo Contact Id'),
      ...listed('Apollo Account Id, Secondary Email, Secondary Email Source'),
    ],
  },
  {
    title: 'the professional network',
    source: 'linkedin_connections',
    id: '',
    columns: listed('First Name, Last Name, URL, Email Address, Company, Position, Connected On'),
  },
  {
    title: 'Google Contacts',
    source: 'google_contacts',
    id: '',
    columns: [
      ...listed('Name, Given Name, Additional Name, Family Name, E-mail 1 - Value, E-mail 2 - Value'),
      ...listed('Phone 1 - Value, Organization 1 - Name, Organization 1 - Title'),
    ],
  },
];
