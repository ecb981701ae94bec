/**
 * The response to a GET of an endpoint that takes a POST: its description.
 */
import { Effect, Schema } from "effect"
import { CatalogApi } from "../catalog/CatalogApi.ts"
import { allEndpoints } from "../openapi/Api.ts"
import { MeteringApi } from "../metering/MeteringApi.ts"
import { SubmissionsApi } from "../platform/SubmissionsApi.ts"
import { route } from "../pipeline/Route.ts"

/** The input of the POST as JSON Schema, generated from the schema that decodes it. */
export const describe = (path: string) => {
  const found = allEndpoints().find((endpoint) => endpoint.method === "POST" && endpoint.path === path)
  if (found?.payload === undefined) return Effect.die(new Error(`${path} has no body to describe`))
  const document = Schema.toJsonSchemaDocument(found.payload)
  return Effect.succeed({
    endpoint: path,
    method: "POST",
    description: found.description,
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...document.schema,
      $defs: document.definitions
    }
  })
}

const { describeRegisterConsumer, describeRegisterProvider, describeTools } = CatalogApi.endpoints
const { describeApply, describeFeedback, describeWaitlist } = SubmissionsApi.endpoints

export const selfDescriptionRoutes = [
  describeRegisterProvider,
  describeRegisterConsumer,
  describeTools,
  MeteringApi.endpoints.describeMeter,
  describeWaitlist,
  describeFeedback,
  describeApply
].map((endpoint) => route(endpoint, () => describe(endpoint.path)))
