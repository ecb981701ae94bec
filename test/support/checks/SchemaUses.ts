/**
 * Providers whose schemas are compiled and checked, each with a budget of its own.
 */
import { randomUUID } from "node:crypto"
import type { SchemaUse } from "../../../domain/catalog/JsonSchemas.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"

export const someProvider = (): ProviderId => ProviderId.make(randomUUID())

export const asInput = (providerId = someProvider()): SchemaUse => ({ providerId, of: "input" })
