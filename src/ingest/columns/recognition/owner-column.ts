import { comparisonForm } from '../../../domain/identity/values/normalise.ts';

/** Words for colleagues who work on a record, in CRMs and exports. */
const ownerWords = [
  'owner|rep|representative|salesperson|sales (?:person|manager|agent)|seller|csm',
  'assignee|assigned (?:to|user)',
  '(?:account|success|relationship|customer success) (?:manager|executive)|(?:created|modified|changed|updated) by',
  'besitzer|eigentumer|betreuer|kundenbetreuer',
  'zustandig(?:er|e)?|verantwortlich(?:er|e)?|bearbeiter',
  'erstellt von|geandert von|vertriebler|vertriebsmitarbeiter',
  'proprietaire|responsable|cree par|modifie par|propietario',
  'creado por|asignado a|eigenaar|aangemaakt door|proprietario|responsavel|criado por',
].join('|');
const ownerName = new RegExp(`(?:^| )(?:${ownerWords})(?: |$)`);

/** Whether a column names the colleague who owns, made or works on the record: `Owner Email`, `dealOwner`. */
export function isOwnerColumn(name: string): boolean {
  const words = name.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').replace(/[^\p{L}\p{N}]+/gu, ' ');
  return ownerName.test(comparisonForm(words));
}
