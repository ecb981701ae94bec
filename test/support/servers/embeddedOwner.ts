/**
 * A service that owns an embedded PostgreSQL and does nothing else, for tests that end it in different ways. Prints
 * the server's address in one line of JSON; a failure is one line on standard error and exit code 1.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Redacted } from "effect"
import { EmbeddedPostgres } from "../../../adapters/sql/embedded/EmbeddedPostgres.ts"

const [dataDir = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const { adopted, port, url } = yield* EmbeddedPostgres.start({ dataDir })
  yield* Console.log(JSON.stringify({ adopted, port, url: Redacted.value(url) }))
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.tapError((error) => Console.error(error.message))
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
