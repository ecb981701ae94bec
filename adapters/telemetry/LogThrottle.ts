/**
 * Limits warnings and errors with the same text: in an outage every request and every job fails, and thousands of equal
 * lines would hide the one that states the cause.
 */
import { Logger } from "effect"

const LINES_PER_TEXT_MAX = 3
const WINDOW_MS = 30_000
/** Texts are fixed, some with a name or a number in them. */
const KINDS_MAX = 1_000

interface Kind {
  sinceMs: number
  count: number
}

export const throttled = <Output>(
  logger: Logger.Logger<unknown, Output>
): Logger.Logger<unknown, Output | undefined> => {
  const kinds = new Map<string, Kind>()
  return Logger.make((options) => {
    if (options.logLevel !== "Warn" && options.logLevel !== "Error") return logger.log(options)
    const parts = Array.isArray(options.message) ? options.message : [options.message]
    const text = String(parts[0])
    const nowMs = options.date.getTime()
    const known = kinds.get(text)
    const isOver = known === undefined || Math.abs(nowMs - known.sinceMs) >= WINDOW_MS
    const kind = isOver ? { sinceMs: nowMs, count: 0 } : known
    const leftOut = isOver && known !== undefined ? known.count - LINES_PER_TEXT_MAX : 0
    if (isOver) {
      if (kinds.size >= KINDS_MAX) kinds.delete(kinds.keys().next().value!)
      kinds.set(text, kind)
    }
    kind.count++
    if (kind.count > LINES_PER_TEXT_MAX) return undefined
    const note =
      kind.count === LINES_PER_TEXT_MAX
        ? ` (further lines like this are omitted for ${WINDOW_MS / 1_000} s)`
        : leftOut > 0
          ? ` (${leftOut} lines like this were omitted before)`
          : ""
    return logger.log(note === "" ? options : { ...options, message: [`${text}${note}`, ...parts.slice(1)] })
  })
}
