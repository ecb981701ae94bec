/**
 * Unknown fields of a body are rejected, unless its schema has this annotation.
 */
import { type Schema, SchemaAST } from "effect"

const KEY = "agent-tool-billing/otherFields"

/** `names`: the other fields that are accepted; any by default. */
export const takesOtherFields = (names = /^/u) => ({ [KEY]: names })

/** Undefined: no other field is accepted. */
export const otherFieldsOf = (ast: SchemaAST.AST): RegExp | undefined => SchemaAST.resolveAt<RegExp>(KEY)(ast)

/** The wire form. */
export const wireOf = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast.encoding === undefined ? ast : SchemaAST.toEncoded(ast)

/** The names of a struct's fields. */
export const fieldNames = (schema: Schema.Top): ReadonlyArray<string> =>
  SchemaAST.isObjects(schema.ast) ? schema.ast.propertySignatures.map(({ name }) => String(name)) : []
