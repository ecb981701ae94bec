/**
 * The toolbox: the tools that the market door lists.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import { KeyId } from "../../../domain/shared/Ids.ts"
import * as price from "../catalog/ToolBody.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { readBy, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { DEMO_TOOL } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

const NAME = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z0-9-]{3,32}\/[A-Za-z0-9_./-]{1,128})$/u

/** Its id or its qualified name. */
const ToolSent = Schema.String.check(
  Schema.isPattern(NAME, { message: "must be the tool's ID, or its qualified name such as `demo/echo`" })
)

const scope = {
  key_id: Field.optional(KeyId, "ID of one of your keys: its own toolbox. Default: the toolbox of the account.")
}

const ToolboxTool = Schema.Struct({
  alias: Field.string("Name of the tool at the market door. It never changes.", "ada-tools__search"),
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  qualified_name: shared.qualifiedName,
  display_name: shared.displayName,
  provider: shared.providerName,
  provider_id: shared.providerId,
  price_microcents: price.priceMicrocents,
  max_cost_microcents: price.maxCostMicrocents,
  price: price.priceShown,
  usage_priced: price.usagePriced,
  price_version: price.priceVersion
})

const size = {
  total: Field.int("Number of tools in the list.", 1),
  tools_max: Field.int("Maximum number of tools in a toolbox.", 40)
}

const keyId = Field.nullable(KeyId, "ID of the key. `null`: the account.")

const ToolboxTools = Field.object("Toolbox", "The tools that the market door lists, besides its own tools.", {
  source: Field.of(
    Schema.Literals(["key", "account", "recent"]),
    "Where the tools come from: the toolbox of the key, the toolbox of the account, or the tools that the account has " +
      "successfully called in the last 30 days.",
    "account"
  ),
  key_id: keyId,
  tools: Field.list(ToolboxTool, "Tools in their order, without withdrawn ones."),
  ...size
})

const ToolboxChanged = Field.object("ToolboxChanged", "The toolbox after the change.", {
  key_id: keyId,
  tools: Field.list(
    Schema.Struct({ tool_id: shared.toolId, qualified_name: shared.qualifiedName }),
    "Tools in their order. Empty: the toolbox is removed, so that the next one in `source` is listed."
  ),
  ...size,
  message: shared.message("The toolbox of the account has 1 tool.")
})

const AddTools = Field.object("AddTools", "Tools to add to a toolbox.", {
  tools: Field.of(
    Schema.Array(ToolSent).check(Schema.isMinLength(1), Schema.isMaxLength(TOOLS_PER_REQUEST_MAX)),
    "IDs or qualified names of the tools. A tool that the toolbox contains keeps its place."
  ),
  ...scope
}).annotate({ examples: [{ tools: [DEMO_TOOL] }] })

const ReplaceTools = Field.object("ReplaceTools", "All tools of a toolbox.", {
  tools: Field.of(
    Schema.Array(ToolSent).check(Schema.isMaxLength(200)),
    "IDs or qualified names of the tools, in their order. Empty: removes the toolbox."
  ),
  ...scope
}).annotate({ examples: [{ tools: [DEMO_TOOL, "demo/lookup_element"] }] })

const about =
  "The market door `/mcp` lists the tools of the key's toolbox, else of the account's, else the tools that the account " +
  "has successfully called in the last 30 days."

const list = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.get(identifier, path, {
    access: readBy("consumer"),
    summary: "List your toolbox",
    description: `Returns the tools that the market door lists for the account, or for one of its keys. ${about}`,
    query: scope,
    success: ToolboxTools,
    problems: [404]
  })

const add = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.post(identifier, path, {
    access: writeBy("consumer"),
    summary: "Add tools to your toolbox",
    description: `Adds tools at the end of a toolbox, which is created if there is none. ${about}`,
    payload: AddTools,
    success: ToolboxChanged,
    problems: [404, 410, "DUPLICATE"]
  })

const replace = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.put(identifier, path, {
    access: writeBy("consumer"),
    summary: "Replace your toolbox",
    description: "Replaces all tools of a toolbox. An empty list removes it.",
    payload: ReplaceTools,
    success: ToolboxChanged,
    problems: [404, 410, "DUPLICATE"]
  })

const remove = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  Endpoint.delete(identifier, path, {
    access: writeBy("consumer"),
    summary: "Remove a tool from your toolbox",
    description: "Removes one tool. A toolbox without tools is removed.",
    params: { tool_id: shared.toolId },
    query: scope,
    success: ToolboxChanged
  })

export class ToolboxApi extends HttpApiGroup.make("toolbox")
  .add(
    list("toolbox", "/api/market/toolbox"),
    list("toolboxV1", "/api/v1/market/toolbox"),
    add("addTools", "/api/market/toolbox"),
    add("addToolsV1", "/api/v1/market/toolbox"),
    replace("replaceTools", "/api/market/toolbox"),
    replace("replaceToolsV1", "/api/v1/market/toolbox"),
    remove("removeTool", "/api/market/toolbox/:tool_id"),
    remove("removeToolV1", "/api/v1/market/toolbox/:tool_id")
  )
  .annotateMerge(Endpoint.about("Toolbox", "The tools that the market door lists for your keys.")) {}
