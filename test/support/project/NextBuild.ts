/**
 * A second build of the service: a copy of its sources with one more migration, as the next release has.
 */
import { Effect } from "effect"
import { cp, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { latestVersion } from "../../../migrations/index.ts"
import { projectRoot } from "./PlantedProject.ts"
import { temporaryFolder } from "../servers/ServiceProcess.ts"

const FOLDERS = ["adapters", "client", "docs", "domain", "migrations", "src"]

/** The path of its `main.ts`. `statements` are the SQL of the migration. */
export const nextBuild = Effect.fnUntraced(function* (name: string, statements: ReadonlyArray<string>) {
  const folder = yield* temporaryFolder
  yield* Effect.promise(async () => {
    for (const each of [...FOLDERS, "CHANGELOG.md", "package.json"]) {
      await cp(join(projectRoot, each), join(folder, each), { recursive: true })
    }
    await symlink(join(projectRoot, "node_modules"), join(folder, "node_modules"), "junction")
    const number = String(latestVersion + 1).padStart(4, "0")
    await writeFile(join(folder, `migrations/${number}_next.ts`), migrationOf(statements))
    const index = join(folder, "migrations/index.ts")
    const text = await readFile(index, "utf8")
    const changed = text
      .replace('import baseline from "./0001_baseline.ts"', `$&\nimport next from "./${number}_next.ts"`)
      .replace("const migrations = {", `$&\n  "${number}_${name}": next,`)
    if (!changed.includes(`${number}_${name}`) || !changed.includes("import next")) {
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
