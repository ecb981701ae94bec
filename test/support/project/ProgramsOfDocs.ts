/**
 * The programs of docs/embedding.md, docs/clients.md and docs/testing.md, by their names: each starts with a comment that names its file.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "./PlantedProject.ts"

const PROGRAM = /^```ts\n\/\/ (\S+)\n(.*?)^```$/gmsu

const programsOf = (page: string): ReadonlyArray<readonly [string, string]> =>
  [...readFileSync(join(projectRoot, page), "utf8").matchAll(PROGRAM)].map(([, name, text]) => [name!, text!])

export const programs: ReadonlyMap<string, string> = new Map(
  ["docs/embedding.md", "docs/clients.md", "docs/testing.md"].flatMap(programsOf)
)
