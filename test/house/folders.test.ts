/**
 * The README's list of the repository names every folder of the domain and of the adapters.
 */
import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/PlantedProject.ts"

const readme = readFileSync(join(projectRoot, "README.md"), "utf8")
const list = readme.slice(readme.indexOf("## Repository"), readme.indexOf("## Limitations"))

/** Names below a folder, which are indented; a line can have several. */
const listedBelow = (folder: string): ReadonlyArray<string> => {
  const lines = list.split("\n")
  const start = lines.findIndex((line) => line.startsWith(`${folder}/`))
  const below = lines.slice(start + 1)
  const own = below.slice(
    0,
    below.findIndex((line) => !line.startsWith("  "))
  )
  return own.flatMap((line) => [...line.matchAll(/(?<=^ *|\/ )[a-z]+(?=\/)/gu)].map(([name]) => name))
}

for (const folder of ["domain", "adapters"]) {
  it(`lists the folders of ${folder}/, and no others`, () => {
    const folders = readdirSync(join(projectRoot, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    assert.sameMembers([...listedBelow(folder)], folders)
  })
}
