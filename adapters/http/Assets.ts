/**
 * What pages load besides themselves, by name: the composition reads the files, once. Without them pages are text.
 */
import { Context } from "effect"

export interface Asset {
  readonly contentType: string
  readonly text: string
}

export const Assets = Context.Reference<ReadonlyMap<string, Asset>>("agent-tool-billing/adapters/http/Assets", {
  defaultValue: () => new Map()
})
