/**
 * The service's stdout and stderr. A reader that is slow, blocked or gone costs lines, never the service: beyond a bounded
 * buffer lines are dropped and counted. Pipes buffer in memory without a limit otherwise, and a closed one raises EPIPE.
 * Files and terminals are written synchronously; their writes end or fail at once.
 */
import { Console, Context, Layer } from "effect"
import { LogLoss } from "../../domain/platform/TelemetryTally.ts"

export const BUFFERED_BYTES_MAX = 1_048_576

/** What the output needs of `process.stdout`. */
export interface LogStream {
  /** Bytes that the reader has not taken yet. */
  readonly writableLength: number
  on(event: "error", handle: (error: Error) => void): unknown
}

type Print = (...parts: ReadonlyArray<unknown>) => void

/** Prints while the stream takes it. After a gap the first line says how many are missing. */
export const bounded = (stream: LogStream, loss: LogLoss = { dropped: 0 }): ((print: Print) => Print) => {
  let dropped = 0
  let isClosed = false
  stream.on("error", () => {
    isClosed = true
  })
  return (print) =>
    (...parts) => {
      if (isClosed || stream.writableLength > BUFFERED_BYTES_MAX) {
        dropped++
        loss.dropped++
        return
      }
      if (dropped > 0) {
        print(`${dropped} log lines were dropped, because the reader of the log was too slow.`)
        dropped = 0
      }
      print(...parts)
    }
}

const make = (loss: LogLoss): Console.Console => {
  const { console, process } = globalThis
  const [out, err] = [bounded(process.stdout, loss), bounded(process.stderr, loss)]
  // The other methods are those of the process.
  return Object.assign(Object.create(console) as Console.Console, {
    log: out(console.log),
    info: out(console.info),
    debug: out(console.debug),
    error: err(console.error),
    warn: err(console.warn)
  })
}

/** Of a process that logs. */
export const layer = Layer.syncContext(() => {
  const loss: LogLoss = { dropped: 0 }
  return Context.make(Console.Console, make(loss)).pipe(Context.add(LogLoss, loss))
})
