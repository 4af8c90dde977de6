import { idHeaders, localHeaders } from '../../domain/crm/local-headers.ts';

/** Fields of a contact that a column can be taken for. */
export const singleFields = [
  'contact_id',
  'person_id',
  'hashed_email',
  'profile_url',
  'first_name',
  'last_name',
  'name',
  'organization_name',
  'domain',
] as const;
export type SingleField = (typeof singleFields)[number];
export type Field = SingleField | 'email' | 'opted_out' | 'opted_out_of_calls';

/** Column names in order of preference: the first that holds something is taken. Of emails, all are. */
export type FieldNames = Readonly<Partial<Record<SingleField | 'email', readonly string[]>>>;

export interface KnownExport {
  readonly source: string;
  /**
   * Alternatives, each a list of names that must all be there, in the letter case of the CRM. Inside a name `|` means
   * either, and `…` at its end any continuation.
   */
  readonly signatures: readonly (readonly string[])[];
  readonly fields: FieldNames;
}

/** In the order in which they are tried: what is more telling comes first. */
export const knownExports: readonly KnownExport[] = [
  {
    // The service's own export. Its contact id names the saved contact, not the person that `details.id` asks for.
    source: 'service',
    signatures: [['Apollo Contact Id', 'Company Name for Emails|Person Linkedin Url|Email']],
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
    signatures: [
      // No other CRM has this column. Exports to static worksheets lack those of checksum and time.
      ['(Do Not Modify) Contact'],
      ['(Nicht ändern) Kontakt'],
      ['(Ne pas modifier) Contact'],
      ['(No modificar) Contacto'],
      ['contactid', 'parentcustomerid|emailaddress1', 'firstname|lastname|fullname'],
    ],
    fields: {
      contact_id: [
        '(Do Not Modify) Contact',
        '(Nicht ändern) Kontakt',
        '(Ne pas modifier) Contact',
        '(No modificar) Contacto',
        'contactid',
      ],
      name: ['Full Name'],
      email: ['Email', 'emailaddress1', 'Email Address 2', 'Email Address 3'],
      organization_name: ['Company Name', 'parentcustomerid'],
    },
  },
  {
    source: 'pipedrive',
    signatures: [
      ['Person - Name', 'Person - Email…|Person - E-Mail…|Person - Phone…|Person - Telefon…'],
      ['Personne - Nom', 'Personne - E-mail…|Personne - Téléphone…'],
      ['Persona - Nombre', 'Persona - Correo…|Persona - Teléfono…'],
    ],
    fields: {
      contact_id: ['Person - ID', 'Person - Pipedrive System ID', 'Personne - ID', 'Persona - ID', 'ID'],
      name: ['Person - Name', 'Personne - Nom', 'Persona - Nombre'],
      first_name: ['Person - First name', 'Person - Vorname', 'Personne - Prénom'],
      last_name: [
        'Person - Last name',
        'Person - Nachname',
        'Personne - Nom de famille',
        'Persona - Apellido',
      ],
      email: [
        'Person - E-Mail - Arbeit',
        'Person - E-Mail',
        'Personne - E-mail - Travail',
        'Personne - E-mail',
        'Persona - Correo electrónico - Trabajo',
        'Persona - Correo electrónico',
        'Person - Email - Work',
        'Person - Email (Work)',
        'Person - Email',
        'Person - Email - Home',
        'Person - Email (Home)',
        'Person - Email - Other',
        'Person - Email (Other)',
      ],
      organization_name: [
        'Person - Organization',
        'Person - Organisation',
        'Personne - Organisation',
        'Persona - Organización',
        'Organization - Name',
        'Organization',
      ],
      domain: ['Organization - Website'],
      profile_url: ['Person - LinkedIn Page', 'Person - LinkedIn', 'Person - LinkedIn URL'],
    },
  },
  {
    source: 'zoho',
    signatures: [['Record Id', 'Contact Owner.id|Account Name.id|Contact Owner']],
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
      ['Record ID|Record ID - Contact', 'First Name', 'Last Name', 'Email'],
      ['Datensatz-ID', 'Vorname', 'Nachname', 'E-Mail|E-Mail-Adresse'],
      [
        "ID de fiche d'informations|ID d'enregistrement|ID de fiche",
        'Prénom',
        'Nom|Nom de famille',
        'E-mail|Adresse e-mail',
      ],
      ['ID de registro|ID. de registro', 'Nombre', 'Apellidos', 'Correo|Correo electrónico'],
      ['hs_object_id', 'firstname', 'lastname', 'email'],
      // As Fivetran replicates it.
      ['property_email', 'property_firstname', 'property_lastname|property_company'],
    ],
    fields: {
      contact_id: [
        'Record ID',
        'Record ID - Contact',
        'Contact ID',
        'hs_object_id',
        'property_hs_object_id',
        'id',
      ],
      first_name: ['property_firstname'],
      last_name: ['property_lastname'],
      email: [
        'Email',
        'Work email',
        'Additional email addresses',
        'hs_additional_emails',
        'property_email',
        'property_work_email',
        'property_hs_additional_emails',
        'Private e-mail address',
      ],
      organization_name: ['Company Name', 'Associated Company', 'company', 'property_company'],
      domain: [
        'Company domain name',
        'Domain name',
        'Email Domain',
        'hs_email_domain',
        'Website URL',
        'website',
        'property_website',
      ],
      profile_url: ['LinkedIn URL', 'LinkedIn', 'hs_linkedin_url', 'property_hs_linkedin_url'],
    },
  },
  {
    source: 'linkedin_connections',
    signatures: [
      ['First Name', 'Last Name', 'URL', 'Company', 'Position', 'Connected On'],
      ['Vorname', 'Nachname', 'URL', 'Unternehmen', 'Position'],
      ['Prénom', 'Nom', 'URL', 'Entreprise', 'Poste|Fonction'],
      ['Nombre', 'Apellidos', 'URL', 'Empresa', 'Cargo'],
    ],
    fields: { profile_url: ['URL'], email: ['Email Address'], organization_name: ['Company'] },
  },
  {
    source: 'google_contacts',
    signatures: [['Given Name|First Name', 'Family Name|Last Name', 'E-mail 1 - Value']],
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
      ['Id', 'AccountId', 'LastName', 'FirstName'],
      [
        'First Name',
        'Last Name',
        'Account Name',
        'Mailing City|Mailing State/Province|Account Owner|Contact ID',
      ],
      ['First Name', 'Last Name', 'Company / Account', 'Lead ID|Lead Owner|Lead Source|Lead Status'],
      ['Vorname', 'Nachname', 'Accountname|Account-Name', 'Kontakt-ID|Accountinhaber|Kontaktinhaber'],
      ['Prénom', 'Nom', 'Nom du compte', 'ID du contact|Propriétaire du compte'],
      ['Nombre', 'Apellidos', 'Nombre de la cuenta', 'Id. del contacto|Propietario de la cuenta'],
    ],
    fields: {
      contact_id: ['Contact ID', '18 Digit Contact ID', 'Id', 'Lead ID', 'Kontakt-ID', 'Id. del contacto'],
      email: ['Email', 'npe01__WorkEmail__c', 'npe01__AlternateEmail__c'],
      organization_name: ['Account Name', 'Account.Name', 'Company / Account', 'Company'],
      domain: ['Website', 'Account.Website'],
    },
  },
];

const listed = (names: string): string[] => names.split(', ');
const numbered = (name: string): string[] => [1, 2, 3, 4, 5].map((number) => `${name} ${number}`);

/**
 * Names that are understood in any export, after those of a recognised CRM. Spelling does not matter here:
 * `first_name`, `First Name` and `firstName` are one.
 */
export const commonNames: FieldNames = {
  contact_id: [
    ...listed('contact id, record id, crm id, lead id, external id, id, apollo contact id'),
    ...idHeaders,
    ...listed('kontakt-id, id du contact, id de contacto, contact-id, id do contato'),
  ],
  person_id: listed('apollo person id, apollo id, service person id'),
  email: [
    ...listed('email work, work email, work email address, business email, company email, corporate email'),
    ...listed(
      'professional email, primary email, email primary, email, e-mail, email address, e-mail address',
    ),
    ...numbered('email'),
    ...numbered('e-mail'),
    ...[1, 2, 3].flatMap((number) => [
      `e-mail ${number} address`,
      `e-mail ${number} adresse`,
      `email address ${number}`,
    ]),
    ...localHeaders.email,
    ...listed(
      'mailadresse, adresse de messagerie, courriel, adresse électronique, dirección de correo electrónico',
    ),
    ...listed(
      'contact1 personal email, contact1 work email, contact1 preferred email, contact1 alternate email',
    ),
    ...listed('secondary email, tertiary email, alternate email, email home, home email, personal email'),
    ...listed(
      'private email, email personal, email other, other email, additional email, additional emails, emails',
    ),
  ],
  hashed_email: listed('hashed email, email hash, email sha256, sha256 email, email md5, md5 email'),
  profile_url: [
    ...listed(
      'linkedin url, linkedin, linkedin profile, linkedin profile url, person linkedin url, person linkedin',
    ),
    ...listed(
      'linkedin page, linkedin link, contact linkedin url, profile url, linkedin url c, linked in url c, linked in url',
    ),
    ...localHeaders.linkedin_url,
  ],
  first_name: [
    ...listed('first name, given name, forename, contact first name, contact1 first name, fname'),
    ...localHeaders.first_name,
    'primer nombre',
  ],
  last_name: [
    ...listed('last name, family name, surname, contact last name, contact1 last name, lname'),
    ...localHeaders.last_name,
    'familienname',
  ],
  name: listed(
    'full name, contact name, person name, name, vollständiger name, nom complet, nombre completo, ' +
      'volledige naam, naam, nome completo, nome',
  ),
  organization_name: [
    ...listed('company name, organization name, organisation name, account name, employer, company'),
    ...listed('organization, organisation, current company, account, business name, household account name'),
    ...listed('accountname, account-name, nom du compte, nombre de la cuenta'),
    ...localHeaders.organization_name,
    ...listed('société, nom de l’entreprise, compañía'),
  ],
  domain: [
    ...listed(
      'company domain, company domain name, organization domain, organisation domain, domain, domain name',
    ),
    ...listed(
      'company website, organization website, account website, website, website url, company url, email domain',
    ),
  ],
};
