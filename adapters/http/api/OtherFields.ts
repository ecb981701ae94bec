/**
 * Bodies are closed: a field that the contract does not name is rejected. An object that may carry other fields says so in its
 * schema, with this annotation.
 */
import { type Schema, SchemaAST } from "effect"

const KEY = "agent-tool-billing/otherFields"

/** Which other names it takes; any, where none is given. */
export const takesOtherFields = (names = /^/u) => ({ [KEY]: names })

/** Undefined: none. */
export const otherFieldsOf = (ast: SchemaAST.AST): RegExp | undefined => SchemaAST.resolveAt<RegExp>(KEY)(ast)

/** As it is on the wire. */
export const wireOf = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast.encoding === undefined ? ast : SchemaAST.toEncoded(ast)

/** The names of a struct's fields. */
export const fieldNames = (schema: Schema.Top): ReadonlyArray<string> =>
  SchemaAST.isObjects(schema.ast) ? schema.ast.propertySignatures.map(({ name }) => String(name)) : []
