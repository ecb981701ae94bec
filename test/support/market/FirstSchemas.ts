/**
 * A process whose first work is to check a schema: `test/adapters/catalog/schemaWorker.test.ts` stops it meanwhile.
 */
import { Effect } from "effect"
import { writeSync } from "node:fs"
import * as AjvJsonSchemas from "../../../adapters/jsonschema/AjvJsonSchemas.ts"
import { JsonSchemas } from "../../../domain/catalog/JsonSchemas.ts"
import { someProvider } from "../checks/SchemaUses.ts"

const program = Effect.gen(function* () {
  const { check } = yield* JsonSchemas
  writeSync(1, "checking\n")
  for (const type of ["string", "number"]) {
    const verdict = yield* Effect.match(check({ type }, someProvider()), {
      onFailure: ({ message }) => message,
      onSuccess: () => "valid"
    })
    writeSync(1, `${verdict}\n`)
  }
})

await Effect.runPromise(Effect.provide(program, AjvJsonSchemas.layer))
