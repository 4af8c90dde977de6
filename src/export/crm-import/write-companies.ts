import { companyFields, type AccountImporter, type CompanyField } from '../../domain/crm/crm.ts';
import { parseDomain } from '../../domain/identity/values/email-address.ts';
import { organizationComparisonForm } from '../../domain/identity/values/normalise.ts';
import type { Warehouse } from '../../db/database.ts';
import type { ImportManifest } from './import-manifest.ts';
import type { CompanyKey } from './read-contacts-to-import.ts';
import { csvLine, createPartWriter } from './write-import-files.ts';

type Company = Readonly<Record<CompanyField, string | null>>;

type Written = Pick<ImportManifest, 'companies' | 'companies_instruction' | 'companies_left_out'>;

/** Writes employers for the CRM's importer, only to add missing companies, because the CRM's values are unknown. */
export async function writeCompanies(
  warehouse: Warehouse,
  keys: readonly CompanyKey[],
  { companies: importer, lineEnd, byteOrderMark, maxRows, maxBytes }: AccountImporter,
  folder: string,
): Promise<Written> {
  if (importer === undefined) return { companies: [], companies_left_out: 0 };
  const fields = companyFields.filter((field) => importer.columns[field]);
  const header = fields.map((field) => importer.columns[field]!.header);
  const most = { rows: maxRows, bytes: maxBytes };
  const writer = createPartWriter({ folder, name: 'companies', header, lineEnd, byteOrderMark, most });
  const known = await readCompanies(warehouse, keys);
  const written = known.filter(isDistinct(known, importer.key)).map((company) =>
    fields.map((field) => {
      const value = company[field] ?? '';
      return value.length > (importer.columns[field]!.longest ?? value.length) ? '' : value;
    }),
  );
  const rows = written.filter((cells) => cells[fields.indexOf(importer.key)] !== '');
  for (const cells of rows) writer.write(csvLine(cells));
  return {
    companies: [...writer.end()],
    companies_instruction: importer.instruction,
    companies_left_out: known.length - rows.length,
  };
}

/** Reads companies. If two ids have the same domain and name, they are one company, and the newest is kept. */
async function readCompanies({ pool }: Warehouse, keys: readonly CompanyKey[]): Promise<Company[]> {
  const { rows } = await pool.query<Company>(
    `select ${companyFields.map((field) => `o.${field}::text`).join(', ')}
     from organizations o
     where (o.service, o.organization_key) in (select * from unnest($1::text[], $2::text[]))
     order by o.observed_at desc, o.organization_key`,
    [keys.map(({ service }) => service), keys.map(({ key }) => key)],
  );
  const companies = rows.map((company) => ({
    ...company,
    domain: parseDomain(company.domain ?? '') ?? null,
  }));
  const newest = new Map<string, Company>();
  for (const company of companies) {
    const same = JSON.stringify([company.domain, organizationComparisonForm(company.name ?? '')]);
    if (!newest.has(same)) newest.set(same, company);
  }
  return [...newest.values()].toSorted((one, other) =>
    formsOf(one).domain < formsOf(other).domain ? -1 : 1,
  );
}

/** Tests that no other company has the key, because importers merge equal ones. Companies without a domain fail too. */
function isDistinct(companies: readonly Company[], key: 'domain' | 'name'): (company: Company) => boolean {
  const counts = new Map<string, number>();
  for (const company of companies) {
    const form = formsOf(company)[key];
    counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  return (company) => company.domain !== null && counts.get(formsOf(company)[key]) === 1;
}

const formsOf = ({ domain, name }: Company) => ({
  domain: domain ?? '',
  name: organizationComparisonForm(name ?? ''),
});
