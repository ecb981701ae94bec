/**
 * Writes docs/api.md and test/README.md.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../PlantedProject.ts"
import { apiDocument } from "./ApiDocument.ts"
import { supportIndex } from "./SupportIndex.ts"

writeFileSync(join(projectRoot, "docs/api.md"), apiDocument())
writeFileSync(join(projectRoot, "test/README.md"), supportIndex())
