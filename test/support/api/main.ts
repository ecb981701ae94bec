/**
 * Writes docs/api.md, test/README.md and client/Contract.ts.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../PlantedProject.ts"
import { apiDocument } from "./ApiDocument.ts"
import { clientContract } from "./ClientContract.ts"
import { supportIndex } from "./SupportIndex.ts"

writeFileSync(join(projectRoot, "docs/api.md"), apiDocument())
writeFileSync(join(projectRoot, "test/README.md"), supportIndex())
writeFileSync(join(projectRoot, "client/Contract.ts"), await clientContract())
