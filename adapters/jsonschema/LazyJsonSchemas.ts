/**
 * `AjvJsonSchemas`, loaded with the first tool that has a schema: Ajv is as large as the rest of a core in memory.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"

export const layer = Layer.effect(
  JsonSchemas,
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const scope = yield* Effect.scope
    let made: JsonSchemas["Service"] | undefined
    const schemas = Effect.suspend(() =>
      made === undefined
        ? Effect.promise(() => import("./AjvJsonSchemas.ts")).pipe(
            Effect.flatMap(({ layer: ajv }) => Layer.buildWithScope(Layer.fresh(ajv), scope)),
            Effect.provideService(Clock.Clock, clock),
            // Concurrent first callers share one, which holds the cache and the budgets.
            Effect.map((context) => (made ??= Context.get(context, JsonSchemas)))
          )
        : Effect.succeed(made)
    )
    return JsonSchemas.of({
      check: (schema, providerId) => Effect.flatMap(schemas, ({ check }) => check(schema, providerId)),
      unchecked: (schema, providerId) => Effect.flatMap(schemas, ({ unchecked }) => unchecked(schema, providerId)),
      violations: (schema, value, use) =>
        made === undefined
          ? Effect.flatMap(schemas, ({ violations }) => violations(schema, value, use))
          : made.violations(schema, value, use)
    })
  })
)
