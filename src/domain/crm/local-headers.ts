import { listed } from '../text/listed.ts';

/** Headers of contact fields in German, French, Spanish, Dutch and Portuguese, as CRMs export them. */
export const localHeaders = {
  first_name: listed('Vorname, Prénom, Nombre, Voornaam, Primeiro nome'),
  last_name: listed('Nachname, Nom, Nom de famille, Apellidos, Apellido, Achternaam, Sobrenome, Apelido'),
  title: listed(`
    Jobtitel, Job-Titel, Berufsbezeichnung, Stellenbezeichnung, Position, Intitulé du poste, Poste, Fonction, Cargo,
    Puesto, Puesto de trabajo, Functie, Functietitel`),
  email: listed(`
    E-Mail, E-Mail-Adresse, E-mail, Adresse e-mail, Correo, Correo electrónico, E-mailadres, Endereço de e-mail`),
  phone: listed(`
    Telefonnummer, Telefon, Geschäftstelefon, Numéro de téléphone, Téléphone, Téléphone professionnel,
    Número de teléfono, Teléfono, Teléfono empresarial, Telefoonnummer, Telefoon, Número de telefone, Telefone`),
  mobile_phone: listed(`
    Mobiltelefonnummer, Mobiltelefon, Handynummer, Mobil, Numéro de téléphone mobile, Téléphone mobile, Mobile,
    Número de teléfono móvil, Teléfono móvil, Móvil, Mobiel nummer, Mobiel, Celular`),
  city: listed('Stadt, Ort, Ville, Ciudad, Plaats, Stad, Cidade'),
  state: listed(`
    Bundesland, Bundesland/Region, Bundesland/Kanton, État/Région, État/Province, Etat/Province, Région,
    Estado/Región, Estado/Provincia, Provincie, Estado/Região`),
  country: listed('Land, Land/Region, Pays, Pays/Région, País, País/Región, País/Região'),
  organization_name: listed(`
    Unternehmensname, Name des Unternehmens, Unternehmen, Firma, Firmenname, Nom de l'entreprise, Entreprise,
    Nombre de la empresa, Nombre de la compañía, Empresa, Bedrijfsnaam, Bedrijf, Nome da empresa`),
  linkedin_url: listed('LinkedIn-URL, URL LinkedIn, URL de LinkedIn'),
};

/** HubSpot's labels of the record id. */
export const idHeaders = listed(
  "Datensatz-ID, ID de fiche d'informations, ID d'enregistrement, ID de fiche, ID de registro",
);

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
