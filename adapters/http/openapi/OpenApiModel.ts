/**
 * An OpenAPI 3.1 document as this service writes it: only the parts that it uses.
 */
import type { Schema } from "effect"

export type Json = Schema.Json

export interface JsonSchema {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: ReadonlyArray<Json>
  readonly default?: Json
  readonly examples?: ReadonlyArray<Json>
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
}

export interface Reference {
  readonly $ref: string
}

export interface Parameter {
  readonly name: string
  readonly in: "query" | "header" | "path"
  readonly required: boolean
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: Json
}

export interface Header {
  readonly description: string
  readonly schema: JsonSchema
}

export interface MediaType {
  readonly schema: JsonSchema
  readonly example?: Json
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: Json }>>
}

export type Content = Readonly<Record<string, MediaType>>

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, Reference>>
  readonly content: Content
}

export interface Operation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary: string
  readonly description: string
  /** Roles whose keys are accepted. Empty: no key is required. */
  readonly "x-roles": ReadonlyArray<string>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

export type SecurityScheme = { readonly description: string } & (
  | { readonly type: "http"; readonly scheme: "bearer"; readonly bearerFormat: string }
  | { readonly type: "apiKey"; readonly in: "header"; readonly name: string }
)

export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly license: { readonly name: string; readonly url: string }
  }
  readonly externalDocs: { readonly url: string; readonly description: string }
  readonly servers: ReadonlyArray<{ readonly url: string; readonly description: string }>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly security: ReadonlyArray<never>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  }
}

/** The last part of `#/components/…/Name`. */
export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1)

export const responseOf = (document: OpenApiDocument, response: Response | Reference): Response =>
  "$ref" in response ? document.components.responses[nameOfRef(response.$ref)]! : response

export interface Located {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export const operationsOf = (document: OpenApiDocument): ReadonlyArray<Located> =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
  )
