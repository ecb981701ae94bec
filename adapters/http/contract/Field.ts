/**
 * Fields of bodies, parameters and headers: a schema with the description and the example that the OpenAPI document shows.
 */
import { Schema } from "effect"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Time.ts"
import { NOW } from "./SampleValues.ts"

/** `example`: in its wire form. Fields of objects need none, their own fields have them. */
export const of = <S extends Schema.Top>(schema: S, description: string, example?: S["Encoded"]): S => {
  const annotations = { description, ...(example === undefined ? {} : { examples: [example] }) }
  // JSON Schema describes the wire form, so a schema that decodes carries them on its encoded side.
  return (
    schema.ast.encoding === undefined
      ? schema.pipe(Schema.annotateKey(annotations))
      : schema.pipe(Schema.annotateEncoded(annotations))
  ) as S
}

/** A component of the OpenAPI document. */
export const object = <const F extends Schema.Struct.Fields>(identifier: string, description: string, fields: F) =>
  Schema.Struct(fields).annotate({ identifier, description })

export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(of(schema, description))

export const nullable = <S extends Schema.Top>(
  schema: S,
  description: string,
  example: Schema.NullOr<S>["Encoded"] = null
) => of(Schema.NullOr(schema), description, example)

export const list = <S extends Schema.Top>(item: S, description: string, example?: Schema.$Array<S>["Encoded"]) =>
  of(Schema.Array(item), description, example)

export const always = <const L extends string | number | boolean>(value: L, description = `Always \`${value}\`.`) =>
  of(Schema.Literal(value), description)

export const string = (description: string, example: string) => of(Schema.String, description, example)
export const boolean = (description: string, example = true) => of(Schema.Boolean, description, example)
export const int = (description: string, example: number) => of(Schema.Int, description, example)
export const nullableInt = (description: string, example: number | null = null) =>
  nullable(Schema.Int, description, example)
export const nullableNumber = (description: string, example: number | null = null) =>
  nullable(Schema.Finite, description, example)
export const nullableString = (description: string, example: string | null = null) =>
  nullable(Schema.String, description, example)
export const strings = (description: string, ...examples: ReadonlyArray<string>) =>
  list(Schema.String, description, examples)

export const timestamp = (description: string, example = NOW) => of(Timestamp, description, example)
export const nullableTimestamp = (description: string, example: string | null = null) =>
  nullable(Timestamp, description, example)

/** An amount is described by what it is; its unit follows. */
const inMicrocents = (amount: string) => `${amount} in microcents (1/10,000 of a cent).`

export const microcents = (amount: string, example: number) => of(MicrocentsFromInt, inMicrocents(amount), example)
/** A total, which can be below zero. A JSON integer holds up to nine billion dollars of microcents. */
export const signedMicrocents = (amount: string, example: number) => int(inMicrocents(amount), example)
export const optionalMicrocents = (amount: string) => optional(MicrocentsFromInt, inMicrocents(amount))
/** Computed from microcents. */
export const cents = (amount: string, example: number) => int(`${amount} in whole cents, rounded toward zero.`, example)
export const dollars = (amount: string, example: string) => string(`${amount} as display text.`, example)
