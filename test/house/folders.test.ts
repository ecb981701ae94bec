/**
 * The README's list of the repository names every folder of the domain and of the adapters, and no folder has more files than a
 * reader keeps in mind.
 */
import { assert, it } from "@effect/vitest"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { projectRoot } from "../support/project/PlantedProject.ts"

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

const FILES_MAX = 25

/** Folders with more files. */
const crowded = (files: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...Map.groupBy(files, dirname)].filter(([, inside]) => inside.length > FILES_MAX).map(([folder]) => folder)

it("keeps at most 25 files in a folder", () => {
  const files = globSync("{domain,adapters,src,client,testing,migrations,test}/**/*.ts", { cwd: projectRoot })
  assert.isAbove(files.length, 1_000)
  assert.deepStrictEqual(crowded(files), [])
  const planted = Array.from({ length: FILES_MAX + 1 }, (_, n) => `domain/planted/Part${n}.ts`)
  assert.deepStrictEqual(crowded([...files, ...planted]), ["domain/planted"])
})
