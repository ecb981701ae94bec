/**
 * The package inside other programs. It is packed once for all suites.
 */
import { it } from "@effect/vitest"
import { PackedPackage } from "../support/project/PackedPackage.ts"
import { containerSuite } from "./ContainerSuite.ts"
import { packageSuite } from "./PackageSuite.ts"
import { programSuite } from "./ProgramSuite.ts"
import { publishedSuite } from "./PublishedSuite.ts"

it.layer(PackedPackage.layer, { timeout: "900 seconds", excludeTestServices: true })("the packed package", (it) => {
  packageSuite(it)
  publishedSuite(it)
  programSuite(it)
  containerSuite(it)
})
