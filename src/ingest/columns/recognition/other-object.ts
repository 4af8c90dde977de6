import { headerKey } from '../../../domain/text/header-name.ts';
import { listed } from '../../../domain/text/listed.ts';

/** Columns that identify exports of other objects, in the languages of the CRMs. */
const otherObjects = {
  companies: listed(`
    company name, company owner, company domain name, account name, account owner, account type, account number,
    (do not modify) account, organization - name, organization - owner, industry, number of employees,
    no. of employees, employees, annual revenue, parent company, parent account, billing street, billing city,
    billingcity, billingstreet, billing country, numberofemployees, annualrevenue, sic code, ownership, year founded,
    unternehmensname, firmenname, branche, anzahl der mitarbeiter, jahresumsatz, zuständiger mitarbeiter,
    nom de l'entreprise, secteur, secteur d'activité, nombre d'employés, chiffre d'affaires annuel,
    nombre de la empresa, sector, número de empleados, ingresos anuales, bedrijfsnaam, aantal werknemers,
    nome da empresa, setor, número de funcionários`),
  deals: listed(`
    deal name, deal stage, deal owner, deal type, deal - title, deal - value, deal - stage, deal - owner, amount,
    close date, closedate, pipeline, opportunity name, opportunity owner, stage, stagename, probability,
    probability (%), expected revenue, forecast category, fiscal period, closing date, (do not modify) opportunity,
    topic, est. revenue, est. close date, potential customer, deal-name, deal-phase, betrag, abschlussdatum,
    opportunity-name, phase, wahrscheinlichkeit, nom de la transaction, phase de la transaction, montant,
    date de fermeture, étape, nombre del negocio, etapa del negocio, importe, valor, fecha de cierre, etapa, dealnaam,
    dealfase, bedrag, sluitingsdatum, nome do negócio, data de fechamento`),
};

/** Columns that only people have. */
const personal = listed(
  'title, job title, jobtitle, department, birthdate, birthday, salutation, reports to',
);

/** Number of such columns that an export must have: a file of contacts can have one of them. */
const enough = 2;

/** The kind of objects in an export, by its columns; undefined: it can be an export of contacts. */
export function otherObjectOf(header: readonly string[]): keyof typeof otherObjects | undefined {
  const keys = [...new Set(header.map(headerKey))];
  const count = (names: readonly string[]): number => {
    const known = new Set(names.map(headerKey));
    return keys.filter((key) => known.has(key)).length;
  };
  if (count(personal) > 0) return undefined;
  const [deals, companies] = [count(otherObjects.deals), count(otherObjects.companies)];
  if (Math.max(deals, companies) < enough) return undefined;
  return companies > deals ? 'companies' : 'deals';
}
