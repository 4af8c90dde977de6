import { headerKey } from '../../domain/text/header-name.ts';

const listed = (names: string): readonly string[] => names.split(', ').map(headerKey);

/** Columns by which exports of other objects are known, in the languages of the CRMs. */
const otherObjects = {
  companies: [
    ...listed('company name, company owner, company domain name, account name, account owner, account type'),
    ...listed('account number, (do not modify) account, organization - name, organization - owner, industry'),
    ...listed(
      'number of employees, no. of employees, employees, annual revenue, parent company, parent account',
    ),
    ...listed(
      'billing street, billing city, billingcity, billingstreet, billing country, numberofemployees, annualrevenue',
    ),
    ...listed('sic code, ownership, year founded'),
    ...listed(
      'unternehmensname, firmenname, branche, anzahl der mitarbeiter, jahresumsatz, zuständiger mitarbeiter',
    ),
    ...listed(
      "nom de l'entreprise, secteur, secteur d'activité, nombre d'employés, chiffre d'affaires annuel",
    ),
    ...listed('nombre de la empresa, sector, número de empleados, ingresos anuales'),
    ...listed('bedrijfsnaam, branche, aantal werknemers, nome da empresa, setor, número de funcionários'),
  ],
  deals: [
    ...listed(
      'deal name, deal stage, deal owner, deal type, deal - title, deal - value, deal - stage, deal - owner',
    ),
    ...listed(
      'amount, close date, closedate, pipeline, opportunity name, opportunity owner, stage, stagename',
    ),
    ...listed(
      'probability, probability (%), expected revenue, forecast category, fiscal period, closing date',
    ),
    ...listed('(do not modify) opportunity, topic, est. revenue, est. close date, potential customer'),
    ...listed('deal-name, deal-phase, betrag, abschlussdatum, opportunity-name, phase, wahrscheinlichkeit'),
    ...listed('nom de la transaction, phase de la transaction, montant, date de fermeture, étape'),
    ...listed('nombre del negocio, etapa del negocio, importe, valor, fecha de cierre, etapa'),
    ...listed('dealnaam, dealfase, bedrag, sluitingsdatum, nome do negócio, data de fechamento'),
  ],
} as const;

/** Columns that only people have. */
const personal = listed(
  'title, job title, jobtitle, department, birthdate, birthday, salutation, reports to',
);

/** Columns that such an export needs: one name alone can stand in a file of contacts. */
const enough = 2;

/** What an export holds in place of contacts, by its columns; undefined where it could be contacts. */
export function otherObjectOf(header: readonly string[]): keyof typeof otherObjects | undefined {
  const keys = new Set(header.map(headerKey));
  if (personal.some((name) => keys.has(name))) return undefined;
  const found = (['deals', 'companies'] as const).map((object) => ({
    object,
    columns: otherObjects[object].filter((name) => keys.has(name)).length,
  }));
  const [best] = found.sort((one, other) => other.columns - one.columns);
  return best && best.columns >= enough ? best.object : undefined;
}
