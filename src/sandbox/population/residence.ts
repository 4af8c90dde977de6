/**
 * A person's place of residence, and whether the GDPR or a similar law (EEA, United Kingdom, Switzerland)
 * applies there.
 */
export interface Residence {
  readonly city: string;
  readonly state: string;
  readonly country: string;
  readonly isRegulated: boolean;
}

const places: readonly Residence[] = [
  { city: 'Havenbruk', state: 'Region Nord', country: 'Norway', isRegulated: true },
  { city: 'Little Marsh', state: 'Ontario', country: 'Canada', isRegulated: false },
  { city: 'Steinfurt am See', state: 'Hessen', country: 'Germany', isRegulated: true },
  { city: 'Cedar Falls Point', state: 'Oregon', country: 'United States', isRegulated: false },
  { city: 'Porto Claro', state: 'Bahia', country: 'Brazil', isRegulated: false },
  { city: 'Ballinmore', state: 'County Clare', country: 'Ireland', isRegulated: true },
];

/**
 * The residence of a person, always the same.
 *
 * @param personId hexadecimal
 */
export function residenceOf(personId: string): Residence {
  return places[Number.parseInt(personId.slice(-6), 16) % places.length]!;
}
