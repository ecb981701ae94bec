/**
 * Writes docs/api.md and client/Contract.ts, which are not committed, and with `--index` also test/README.md, which is.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../PlantedProject.ts"
import { apiDocument } from "./ApiDocument.ts"
import { clientContract } from "./ClientContract.ts"
import { supportIndex } from "./SupportIndex.ts"

writeFileSync(join(projectRoot, "client/Contract.ts"), await clientContract())
// It describes what the contract exports.
writeFileSync(join(projectRoot, "docs/api.md"), apiDocument())
if (process.argv.includes("--index")) writeFileSync(join(projectRoot, "test/README.md"), supportIndex())
