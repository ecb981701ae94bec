/**
 * The data of the demo provider's lookup: the chemical elements up to krypton, with the abridged standard atomic weights of
 * IUPAC.
 */
export interface ChemicalElement {
  readonly atomic_number: number
  readonly symbol: string
  readonly name: string
  readonly atomic_weight: number
}

const ROWS = `H Hydrogen 1.008;He Helium 4.0026;Li Lithium 6.94;Be Beryllium 9.0122;B Boron 10.81;C Carbon 12.011;
  N Nitrogen 14.007;O Oxygen 15.999;F Fluorine 18.998;Ne Neon 20.18;Na Sodium 22.99;Mg Magnesium 24.305;Al Aluminum 26.982;
  Si Silicon 28.085;P Phosphorus 30.974;S Sulfur 32.06;Cl Chlorine 35.45;Ar Argon 39.95;K Potassium 39.098;
  Ca Calcium 40.078;Sc Scandium 44.956;Ti Titanium 47.867;V Vanadium 50.942;Cr Chromium 51.996;Mn Manganese 54.938;
  Fe Iron 55.845;Co Cobalt 58.933;Ni Nickel 58.693;Cu Copper 63.546;Zn Zinc 65.38;Ga Gallium 69.723;Ge Germanium 72.63;
  As Arsenic 74.922;Se Selenium 78.971;Br Bromine 79.904;Kr Krypton 83.798`

export const chemicalElements: ReadonlyArray<ChemicalElement> = ROWS.split(";").map((row, index) => {
  const [symbol = "", name = "", weight = ""] = row.trim().split(" ")
  return { atomic_number: index + 1, symbol, name, atomic_weight: Number(weight) }
})

/** By symbol, name or atomic number, in any case. */
export const elementNamed = (text: string): ChemicalElement | undefined => {
  const wanted = text.trim().toLowerCase()
  return chemicalElements.find(
    ({ atomic_number, name, symbol }) =>
      symbol.toLowerCase() === wanted || name.toLowerCase() === wanted || String(atomic_number) === wanted
  )
}
