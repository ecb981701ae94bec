/**
 * The whole schema in two parts. The lane part holds everything that one call reads or writes; the main part holds the
 * rest. No foreign key leads from one part to the other.
 */
import { Effect } from "effect"
import { lanePart } from "./LanePart.ts"
import { mainPart } from "./MainPart.ts"

export default Effect.andThen(mainPart, lanePart)
