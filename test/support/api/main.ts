/**
 * Writes docs/api.md anew.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../PlantedProject.ts"
import { apiDocument } from "./ApiDocument.ts"

writeFileSync(join(projectRoot, "docs/api.md"), apiDocument())
