import { UsageProblem, type Problem } from '../problem.ts';
import { defaultPolicies, fieldPolicies, type FieldPolicy } from './field-policy.ts';
import { importFields, type ImportField } from './importer.ts';

export type FieldPolicies = Readonly<Record<ImportField, FieldPolicy>>;

/**
 * Reads a user's policies and adds the defaults of the other fields.
 *
 * @param chosen field → policy, such as the content of a policy file
 * @param where the file or flag, for the error
 * @throws Problem `policy.invalid`
 */
export function readPolicies(
  chosen: unknown,
  where: string,
  defaults: FieldPolicies = defaultPolicies,
): FieldPolicies {
  if (typeof chosen !== 'object' || chosen === null || Array.isArray(chosen))
    throw invalid('the policies are not an object of fields', where);
  const entries = Object.entries(chosen).map(([name, value]): [ImportField, FieldPolicy] => {
    const field = importFields.find((each) => each === name);
    if (field === undefined) throw invalid(`"${name}" is not a field`, where);
    const policy = fieldPolicies.find((each) => each === value);
    if (policy === undefined)
      throw invalid(`"${String(value)}" is not a policy for the field ${field}`, where);
    return [field, policy];
  });
  return { ...defaults, ...Object.fromEntries(entries) };
}

/**
 * Reads the policies of `--policy`, such as `title=fill,email=never`.
 *
 * @throws Problem `policy.invalid`
 */
export function readPolicyPairs(text: string, defaults?: FieldPolicies): FieldPolicies {
  const where = '--policy';
  const pairs = text.split(',').map((pair) => {
    const [field, value, ...more] = pair.split('=').map((part) => part.trim());
    if (!field || !value || more.length > 0)
      throw invalid(`"${pair.trim()}" is not FIELD=POLICY, such as title=fill`, where);
    return [field, value];
  });
  return readPolicies(Object.fromEntries(pairs), where, defaults);
}

function invalid(what: string, where: string): Problem {
  return new UsageProblem('policy.invalid', what, {
    where,
    next: `fields: ${importFields.join(', ')}; policies: ${fieldPolicies.join(', ')}`,
  });
}
