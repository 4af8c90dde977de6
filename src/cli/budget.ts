import { Command } from 'commander';
import { print, table } from './output.ts';
import { withSession } from './session.ts';
import { settingsOf, withSettings } from './settings.ts';

interface BudgetRow {
  readonly budget: string;
  readonly limit: string | null;
  readonly settled: string;
  readonly reserved: string;
}

/** `enrich budget show` */
export function budgetCommand(): Command {
  const show = withSettings(new Command('show'))
    .description('limits, what is settled and what is reserved, of the newest days, months and runs')
    .option('--json', 'as a JSON array')
    .addHelpText('after', '\nExample:\n  enrich budget show')
    .action(async (options: { json?: boolean }) => {
      const config = settingsOf(options);
      await withSession(config, { temporal: false, service: false }, async ({ warehouse }) => {
        const { rows } = await warehouse.pool.query<BudgetRow>(`
          select budget_id as budget, trim_scale(credits_limit)::text as "limit", trim_scale(settled)::text as settled,
            trim_scale(reserved)::text as reserved
          from (select *, row_number() over (partition by split_part(budget_id, ':', 1) order by budget_id desc) as age from budgets
            where not exists (select 1 from runs where budget_id = 'run:' || run_id and run_key like 'plan %')) b
          where age <= 10 order by split_part(budget_id, ':', 1), budget_id desc`);
        if (options.json === true) return print(JSON.stringify(rows));
        print(
          table([
            ['budget', 'limit', 'settled', 'reserved'],
            ...rows.map((row) => [row.budget, row.limit ?? 'none', row.settled, row.reserved]),
          ]),
        );
      });
    });
  return new Command('budget').description('credits: what may be spent, and what was').addCommand(show);
}
