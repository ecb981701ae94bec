/**
 * Writes docs/api.md and client/Contract.ts, which are not committed, and with `--index` also what is:
 * test/README.md, and the table of docs/settings.md.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../project/PlantedProject.ts"
import { apiDocument } from "./ApiDocument.ts"
import { clientContract } from "./ClientContract.ts"
import { withSettingsTable } from "./SettingsTable.ts"
import { supportIndex } from "./SupportIndex.ts"

writeFileSync(join(projectRoot, "client/Contract.ts"), await clientContract())
// It describes what the contract exports.
writeFileSync(join(projectRoot, "docs/api.md"), apiDocument())
if (process.argv.includes("--index")) {
  writeFileSync(join(projectRoot, "test/README.md"), supportIndex())
  const settings = join(projectRoot, "docs/settings.md")
  writeFileSync(settings, withSettingsTable(readFileSync(settings, "utf8")))
}
