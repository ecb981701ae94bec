/**
 * Instants on the wire and in signed bytes: ISO 8601, UTC, milliseconds, `Z`.
 */
import { DateTime, Schema } from "effect"

export const Timestamp = Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u)).pipe(
  Schema.annotateEncoded({ format: "date-time" })
)

export const format = (instant: DateTime.Utc): string => DateTime.formatIso(instant)
