/**
 * Converts instants between rows and the domain. PostgreSQL keeps milliseconds, so a round trip is exact.
 */
import { DateTime } from "effect"

export const toDate = (instant: DateTime.Utc): Date => DateTime.toDate(instant)

export const toDateOrNull = (instant: DateTime.Utc | undefined): Date | null =>
  instant === undefined ? null : DateTime.toDate(instant)

export const toInstant = (date: Date): DateTime.Utc => DateTime.makeUnsafe(date.getTime())

export const toInstantOrUndefined = (date: Date | null): DateTime.Utc | undefined =>
  date === null ? undefined : toInstant(date)
