/**
 * Redocly's lint as a developer would run it, offline, and JSON Schema validation inside an OpenAPI document.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, FileSystem, Path } from "effect"
import { execFile } from "node:child_process"
import type { Json, JsonSchema, OpenApiDocument } from "../../../adapters/http/openapi/OpenApiModel.ts"

const ROOT = new URL("../../..", import.meta.url).pathname

export interface Complaint {
  readonly rule: string
  readonly message: string
  readonly at: string
}

/** Errors and warnings alike. */
export const redocly = Effect.fnUntraced(function* (document: unknown) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* files.makeTempDirectoryScoped(), "openapi.json")
  yield* files.writeFileString(file, JSON.stringify(document))
  const report = yield* run([file, "--config", ".redocly.yaml", "--format", "json"])
  const { problems } = JSON.parse(report) as { readonly problems: ReadonlyArray<Problem> }
  return problems.map(({ ruleId, message, location }): Complaint => ({
    rule: ruleId,
    message,
    at: location[0]?.pointer ?? ""
  }))
}, Effect.scoped)

interface Problem {
  readonly ruleId: string
  readonly message: string
  readonly location: ReadonlyArray<{ readonly pointer?: string }>
}

const run = (args: ReadonlyArray<string>) =>
  Effect.callback<string>((resume) => {
    const child = execFile(
      process.execPath,
      ["node_modules/@redocly/cli/bin/cli.js", "lint", ...args],
      {
        cwd: ROOT,
        timeout: 60_000,
        maxBuffer: 16_777_216,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" }
      },
      // It exits with 1 where it found errors; the report is on stdout in any case.
      (error, stdout, stderr) =>
        resume(
          stdout.startsWith("{")
            ? Effect.succeed(stdout)
            : Effect.die(new Error(`redocly: ${stderr}`, { cause: error }))
        )
    )
    return Effect.sync(() => child.kill())
  })

/** Describes what is wrong with a value, with the document's components; undefined where nothing is. */
export const validatorOf = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats })
  ajv.addSchema({ $id: "openapi", components: document.components })
  return (schema: JsonSchema, value: Json): string | undefined => {
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/')))
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }
}

const formats = {
  "date-time": (text: string) => !Number.isNaN(Date.parse(text)) && /^\d{4}-\d{2}-\d{2}T/u.test(text),
  email: /^[^@\s]+@[^@\s]+\.[^@\s]+$/u,
  uri: (text: string) => URL.canParse(text)
}
