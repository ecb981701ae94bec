/**
 * A second build of the service: a copy of its sources with one more migration, as the next release has.
 */
import { Effect } from "effect"
import { cp, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { projectRoot } from "./PlantedProject.ts"
import { temporaryFolder } from "./ServiceProcess.ts"

const FOLDERS = ["adapters", "client", "docs", "domain", "migrations", "src"]

/** The path of its `main.ts`. `statements` are the SQL of the migration. */
export const nextBuild = Effect.fnUntraced(function* (name: string, statements: ReadonlyArray<string>) {
  const folder = yield* temporaryFolder
  yield* Effect.promise(async () => {
    for (const each of [...FOLDERS, "package.json"]) {
      await cp(join(projectRoot, each), join(folder, each), { recursive: true })
    }
    await symlink(join(projectRoot, "node_modules"), join(folder, "node_modules"), "junction")
    await writeFile(join(folder, "migrations/0002_next.ts"), migrationOf(statements))
    const index = join(folder, "migrations/index.ts")
    const text = await readFile(index, "utf8")
    const changed = text
      .replace('import baseline from "./0001_baseline.ts"', '$&\nimport next from "./0002_next.ts"')
      .replace("]: baseline\n", `]: baseline,\n  "0002_${name}": next\n`)
    if (!changed.includes(`0002_${name}`) || !changed.includes("import next")) {
      throw new Error("migrations/index.ts is not as expected")
    }
    await writeFile(index, changed)
  })
  return join(folder, "src/main.ts")
})

const migrationOf = (statements: ReadonlyArray<string>): string =>
  [
    'import { Effect } from "effect"',
    'import { SqlClient } from "effect/sql"',
    "export default Effect.flatMap(SqlClient.SqlClient, (sql) =>",
    `  Effect.forEach(${JSON.stringify(statements)}, (statement) => sql.unsafe(statement))`,
    ")",
    ""
  ].join("\n")
