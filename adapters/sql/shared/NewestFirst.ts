/**
 * Pages of SQL lists, newest first, and totals that do not read a whole table. A cursor comes from the client: an invalid
 * one starts at the beginning.
 */
import { DateTime, Option, Schema } from "effect"
import { Uuid } from "../../../domain/shared/Ids.ts"
import type { PageRequest } from "../../../domain/shared/Page.ts"

const NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
const LATEST = DateTime.toDate(DateTime.makeUnsafe("9999-12-31T00:00:00.000Z"))

const uuidIn = Schema.decodeUnknownOption(Uuid)

/** In the order of ids that grow with time: the id before which a page begins. */
export const beginsBefore = ({ after }: PageRequest): string => Option.getOrElse(uuidIn(after?.id), () => NEWEST)

/** In the order of times: the time and the id before which a page begins. */
export const beginsBeforeTime = (page: PageRequest): { readonly at: Date; readonly id: string } => {
  const at = timeIn(page)
  return at === undefined ? { at: LATEST, id: NEWEST } : { at, id: beginsBefore(page) }
}

/** Undefined without a valid cursor. */
export const timeIn = ({ after }: PageRequest): Date | undefined => {
  const at = Option.getOrUndefined(Option.map(DateTime.make(after?.key ?? ""), DateTime.toDate))
  return at === undefined || at > LATEST || at.getUTCFullYear() < 1 ? undefined : at
}
