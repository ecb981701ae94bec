/**
 * The opaque cursor: the end of a page, in base64url. A list with another sort order rejects it.
 */
import { Effect, Option, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { type Page, PAGE_LIMIT_DEFAULT, type PageRequest, type Position } from "../../../domain/shared/Page.ts"
import { BadRequest } from "./Failures.ts"

const Stored = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String]))
const decode = Schema.decodeUnknownOption(Stored)

export const encodeCursor = (list: string, position: Position): string =>
  Base64Url.encode(JSON.stringify([list, position.key, position.id]))

export const decodeCursor = (list: string, cursor: string): Effect.Effect<Position, BadRequest> => {
  const text = Base64Url.decodeString(cursor)
  const stored = Result.isSuccess(text) ? decode(text.success) : Option.none()
  if (Option.isNone(stored) || stored.value[0] !== list) {
    return Effect.fail(new BadRequest({ reason: "`cursor` must be the `next_cursor` of this same list." }))
  }
  return Effect.succeed({ key: stored.value[1], id: stored.value[2] })
}

export const pageRequest = (
  list: string,
  query: {
    readonly limit?: number | undefined
    readonly offset?: number | undefined
    readonly cursor?: string | undefined
  }
): Effect.Effect<PageRequest, BadRequest> => {
  const limit = query.limit ?? PAGE_LIMIT_DEFAULT
  const offset = query.offset ?? 0
  if (query.cursor === undefined) return Effect.succeed({ limit, offset, after: undefined })
  if (query.offset !== undefined) {
    return Effect.fail(new BadRequest({ reason: "Send either `cursor` or `offset`, not both." }))
  }
  return Effect.map(decodeCursor(list, query.cursor), (after) => ({ limit, offset, after }))
}

export const pageFields = <A>(list: string, request: PageRequest, page: Page<A>) => ({
  total: page.total,
  limit: request.limit,
  offset: request.offset,
  next_cursor: page.next === undefined ? null : encodeCursor(list, page.next)
})
