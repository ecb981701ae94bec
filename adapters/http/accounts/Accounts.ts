/**
 * Registration and keys over HTTP.
 */
import { DateTime, Effect, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import type { KeyOwner } from "../../../domain/accounts/Authentication.ts"
import { DefaultCaps } from "../../../domain/accounts/DefaultCaps.ts"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { type ApiKey, Keys, ROTATION_GRACE_SECONDS_DEFAULT } from "../../../domain/accounts/Keys.ts"
import { Levels } from "../../../domain/accounts/Levels.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { EndpointProbe, type EndpointReport, unlistedReason } from "../../../domain/catalog/EndpointProbe.ts"
import { ToolImport } from "../../../domain/catalog/ToolImport.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { type Profile, ProviderProfile } from "../../../domain/providers/ProviderProfile.ts"
import { Registration, ToolsRejected } from "../../../domain/providers/Registration.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { type ConsumerId, type KeyId, ProviderId } from "../../../domain/shared/Ids.ts"
import { formatAmount, formatDollars, fromCents, zero } from "../../../domain/shared/Microcents.ts"
import { PAGE_LIMIT_MAX, type PageRequest } from "../../../domain/shared/Page.ts"
import { format } from "../../../domain/shared/Time.ts"
import { endpointView, importView } from "../catalog/Import.ts"
import { toChange, type ToolBody } from "../catalog/ToolBody.ts"
import { catalogProblems } from "../catalog/ToolViews.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { ValidationFailed } from "../pipeline/Failures.ts"
import { duplicate, invalidField, type ProblemsOf } from "../pipeline/Problems.ts"
import { type Route, routesWith } from "../pipeline/Route.ts"
import { fieldsOf, freezeOf } from "../pipeline/Views.ts"
import { verificationProblems } from "../trust/Trust.ts"
import { AccountsApi, type RegisterProvider } from "./AccountsApi.ts"
import { keyView } from "./KeyFields.ts"
import { changedBounds, levelProblems, toLimit } from "./Levels.ts"

export const accountProblems = {
  ...catalogProblems,
  ...verificationProblems,
  ...levelProblems,
  AlreadyRegistered: duplicate("POST /api/v1/market/keys creates a key."),
  EmailTokenRejected: invalidField("token"),
  EndpointBlocked: (e) => ({ ...invalidField("endpoint_url")(e), code: "BLOCKED_ENDPOINT" }),
  HandleRejected: invalidField("handle"),
  HandleTaken: duplicate(),
  ToolsRejected: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.map((tool) => ({ path: ["tools", tool.index], message: `${tool.tool_name}: ${tool.error}` }))
  })
} satisfies ProblemsOf<Keys | Levels | DefaultCaps | Registration | ProviderProfile | ToolImport>

const { preparedRoute, route } = routesWith(accountProblems)

// Names of accounts for the operator's lists, read once a page.

type Id = ConsumerId | ProviderId

interface Accounts {
  readonly consumers?: ReadonlyArray<ConsumerId | undefined>
  readonly providers?: ReadonlyArray<ProviderId | undefined>
}

/** Resolves to the name of each account; an unknown one has its ID as its name. */
export const accountNames = Effect.map(AccountSearch, (search) =>
  Effect.fnUntraced(function* ({ consumers = [], providers = [] }: Accounts) {
    const [asked, sold] = [distinct(consumers), distinct(providers)]
    const found = [
      ...(asked.length === 0 ? [] : yield* search.consumersOf(asked)),
      ...(sold.length === 0 ? [] : yield* search.providersOf(sold))
    ]
    const names = new Map<Id, string>(found.map(({ id, name }) => [id, name]))
    return (id: Id): string => names.get(id) ?? id
  })
)

const distinct = <One extends Id>(ids: ReadonlyArray<One | undefined>): ReadonlyArray<One> => [
  ...new Set(ids.filter((id) => id !== undefined))
]

const { endpoints } = AccountsApi

export const accountsRoutes = Effect.gen(function* () {
  const registration = yield* Registration
  const keys = yield* Keys
  const levels = yield* Levels
  const caps = yield* DefaultCaps
  const freezes = yield* FreezeStore
  const baseUrl = yield* BaseUrl
  const accounts = yield* AccountStore

  const catalog = yield* Catalog
  const imports = yield* ToolImport
  const { probe } = yield* EndpointProbe
  const profiles = yield* ProviderProfile
  const entropy = yield* Entropy

  /** The requests to the endpoint are signed for the account that is being registered. */
  const asked = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof RegisterProvider.Type }) {
    const id = ProviderId.make(yield* entropy.uuid)
    yield* catalog.checkSchemas(id, (payload.tools ?? []).map(toChange))
    const endpoint = yield* probe({ providerId: id, endpointUrl: payload.endpoint_url })
    const { list } = endpoint
    const options = { defaultPrice: undefined, overrides: [], listed: payload.listed ?? false }
    if (payload.import === true && list !== undefined) yield* imports.preview(id, list, options)
    return { id, endpoint, options }
  })

  const rejectUnlisted = (tools: ReadonlyArray<ToolBody>, endpoint: EndpointReport) => {
    const rejected = tools.flatMap(({ tool_name, unlisted }, index) => {
      const error = unlisted === true ? undefined : unlistedReason(endpoint, tool_name)
      return error === undefined ? [] : [{ index, tool_name, error }]
    })
    return rejected.length === 0 ? Effect.void : Effect.fail(new ToolsRejected({ tools: rejected }))
  }

  const providerOf = (id: ProviderId) => Effect.map(accounts.findProvider(id), Option.getOrUndefined)

  /** Returns undefined if the endpoint stays. */
  const askedAnew = Effect.fnUntraced(function* (providerId: ProviderId, endpointUrl: string | undefined) {
    const { provider } = yield* profiles.find(providerId)
    if (endpointUrl === undefined || endpointUrl === provider.endpointUrl) return undefined
    yield* profiles.countEndpointChange(providerId)
    return yield* probe({ providerId, endpointUrl })
  })

  const rejectMissing = Effect.fnUntraced(function* (providerId: ProviderId, endpoint: EndpointReport) {
    const missing: Array<string> = []
    let after: PageRequest["after"]
    do {
      const page = { limit: PAGE_LIMIT_MAX, offset: 0, after }
      const found = yield* catalog.search({ providerId, own: true, page })
      missing.push(...found.items.flatMap(({ tool }) => unlistedReason(endpoint, tool.toolName) ?? []))
      after = found.next
    } while (after !== undefined)
    if (missing.length === 0) return
    const more = missing.length > 1 ? ` ${missing.length} of your tools are missing.` : ""
    return yield* new ValidationFailed({ faults: [{ path: ["endpoint_url"], message: `${missing[0]}.${more}` }] })
  })

  const revoke = Effect.fnUntraced(function* (caller: KeyOwner, id: KeyId) {
    const revoked = yield* caller.role === "consumer" ? levels.revokeKey(caller, id) : keys.revoke(caller, id)
    const show = yield* shownTo(caller)
    return { revoked: true as const, key: show(revoked) }
  })

  return [
    preparedRoute(endpoints.registerProvider, asked, function* ({ payload, caller }, { endpoint, id, options }) {
      yield* rejectUnlisted(payload.tools ?? [], endpoint)
      const { provider, minted, tools } = yield* registration.provider(
        {
          id,
          name: payload.name,
          handle: payload.handle,
          email: payload.email,
          endpointUrl: payload.endpoint_url,
          description: payload.description ?? "",
          pricingModel: payload.pricing_model ?? "per_call",
          defaultPrice: payload.default_price_microcents ?? fromCents(payload.default_price_cents ?? 0),
          tools: (payload.tools ?? []).map(toChange)
        },
        caller
      )
      const { list } = endpoint
      const imported =
        payload.import === true && list !== undefined ? yield* imports.apply(provider.id, list, options) : undefined
      return {
        registered: true as const,
        provider_id: provider.id,
        handle: provider.handle,
        name: provider.name,
        api_key: minted.secret,
        api_key_prefix: minted.key.prefix,
        tools_registered: tools.length,
        tools: tools.map((tool) => ({
          id: tool.id,
          tool_name: tool.toolName,
          qualified_name: qualifiedName(provider.handle, tool.toolName)
        })),
        endpoint: endpointView(endpoint),
        import: imported === undefined || list === undefined ? null : importView(imported, list, provider, true),
        message: "Store api_key now: it is not shown again.",
        next_steps: [
          ...(imported === undefined
            ? [`Import the tools of your MCP server with POST ${baseUrl}/api/market/tools/import`]
            : []),
          `List tools and prices with POST ${baseUrl}/api/market/tools`,
          `Check them in GET ${baseUrl}/api/market/catalog?provider_id=${provider.id}`,
          `Create and rotate keys with ${baseUrl}/api/v1/market/keys`
        ]
      }
    }),
    route(endpoints.registerConsumer, function* ({ payload, caller }) {
      const { consumer, minted } = yield* registration.consumer(
        {
          name: payload.name,
          email: payload.email,
          useCase: payload.use_case ?? "",
          rateLimitRpm: payload.rate_limit_rpm,
          defaultCap: payload.default_cap_microcents
        },
        caller
      )
      return {
        registered: true as const,
        consumer_id: consumer.id,
        agent_id: consumer.id,
        name: consumer.name,
        api_key: minted.secret,
        api_key_prefix: minted.key.prefix,
        balance: formatDollars(0n),
        balance_microcents: zero,
        rate_limit_rpm: consumer.rateLimitRpm,
        message: "Store api_key now: it is not shown again.",
        next_steps: [
          `Find a tool in GET ${baseUrl}/api/market/catalog`,
          `Create and rotate keys with ${baseUrl}/api/v1/market/keys`
        ]
      }
    }),
    route(endpoints.whoAmI, function* ({ as }) {
      const caller = as("consumer", "provider")
      const provider = caller.role === "provider" ? yield* providerOf(caller.ownerId) : undefined
      const freeze =
        caller.role === "consumer" ? Option.getOrUndefined(yield* freezes.find(caller.ownerId)) : provider?.frozen
      return {
        role: caller.role,
        id: caller.ownerId,
        handle: provider?.handle ?? null,
        name: caller.name,
        key_id: caller.keyId,
        rate_limit_rpm: caller.rateLimitRpm,
        default_cap_microcents: caller.role === "consumer" ? (caller.defaultCap ?? null) : null,
        account_default_cap_microcents: caller.role === "consumer" ? (caller.accountDefaultCap ?? null) : null,
        key_expires_at: caller.expiresAt === undefined ? null : format(caller.expiresAt),
        ...freezeOf(freeze)
      }
    }),
    route(endpoints.providerProfile, function* ({ as }) {
      return profileView(yield* profiles.find(as("provider").ownerId), undefined, "This is your profile.")
    }),
    preparedRoute(
      endpoints.changeProviderProfile,
      ({ as, payload }) => askedAnew(as("provider").ownerId, payload.endpoint_url),
      function* ({ as, payload }, endpoint) {
        const { ownerId } = as("provider")
        if (endpoint !== undefined && payload.unlisted !== true) yield* rejectMissing(ownerId, endpoint)
        const { description, endpoint_url: endpointUrl, name } = payload
        const changed = yield* profiles.change(ownerId, { description, endpointUrl, name })
        return profileView(changed, endpoint, "Your profile was changed.")
      }
    ),
    route(endpoints.changeProviderEmail, function* ({ as, payload: { email, token } }) {
      const { ownerId } = as("provider")
      if (email === undefined) {
        const changed = yield* profiles.confirmEmail(ownerId, token ?? "")
        return profileView(changed, undefined, `Your email address is ${changed.provider.email}.`)
      }
      const asked = yield* profiles.requestEmail(ownerId, email)
      const message =
        asked.pendingEmail === undefined
          ? `Your email address stays ${email}.`
          : `A code was mailed to ${email}. Repeat this call with it as \`token\`.`
      return profileView(asked, undefined, message)
    }),
    route(endpoints.listKeys, function* ({ as }) {
      const caller = as("consumer", "provider")
      const show = yield* shownTo(caller)
      const list = yield* keys.list(caller)
      return { keys: list.map(show), total: list.length }
    }),
    route(endpoints.createKey, function* ({ as, payload }) {
      const caller = as("consumer", "provider")
      const show = yield* shownTo(caller)
      if (caller.role === "provider" && payload.default_cap_microcents !== undefined) {
        const message = "Only a consumer's key has a default cap: leave `default_cap_microcents` out."
        return yield* new ValidationFailed({ faults: [{ path: ["default_cap_microcents"], message }] })
      }
      const request = {
        label: payload.label ?? "",
        expiresAt: payload.expires_at,
        defaultCap: payload.default_cap_microcents
      }
      const { default_cap_microcents: _, expires_at: __, label: ___, ...bounds } = payload
      const isBounded = Object.keys(bounds).length > 0
      if (caller.role === "provider" && isBounded) {
        const message = "Only a consumer's key has bounds and limits."
        return yield* new ValidationFailed({ faults: [{ path: [Object.keys(bounds)[0]!], message }] })
      }
      const minted =
        caller.role === "provider" || (!isBounded && caller.levels.length === 0)
          ? yield* keys.create(caller, request)
          : yield* levels.createKey(caller, {
              ...request,
              bounds: changedBounds(bounds),
              limits: (bounds.limits ?? []).map(toLimit),
              parent: bounds.parent_key_id
            })
      return {
        key: show(minted.key),
        api_key: minted.secret,
        message: "Store api_key now: it is not shown again."
      }
    }),
    route(endpoints.rotateKey, function* ({ as, payload }) {
      const caller = as("consumer", "provider")
      const graceSeconds = payload.grace_seconds ?? ROTATION_GRACE_SECONDS_DEFAULT
      const { minted, old } = yield* keys.rotate(caller, payload.key_id ?? caller.keyId, graceSeconds)
      const show = yield* shownTo(caller)
      return {
        key: show(minted.key),
        api_key: minted.secret,
        replaces: show(old),
        message: `Store api_key now: it is not shown again. The old key is valid for another ${graceSeconds} seconds.`
      }
    }),
    route(endpoints.setDefaultCap, function* ({ as, payload }) {
      const { ownerId } = as("consumer")
      const { default_cap_microcents: cap, key_id: keyId } = payload
      if (keyId === undefined) yield* caps.setOfAccount(ownerId, cap ?? undefined)
      else yield* caps.setOfKey(ownerId, keyId, cap ?? undefined)
      const of = keyId === undefined ? ("account" as const) : ("key" as const)
      return {
        of,
        key_id: keyId ?? null,
        default_cap_microcents: cap,
        message:
          cap === null
            ? `The ${of} has no default cap.`
            : `Usage-priced calls of this ${of} that name no cap cost at most ${formatAmount(BigInt(cap))}.`
      }
    }),
    route(endpoints.revokeKey, ({ as, params }) => revoke(as("consumer", "provider"), params.key_id)),
    route(endpoints.revokeKeyByQuery, ({ as, query }) => revoke(as("consumer", "provider"), query.key_id))
  ] satisfies ReadonlyArray<Route>
})

const profileView = (
  { pendingEmail, provider, verified }: Profile,
  endpoint: EndpointReport | undefined,
  message: string
) => ({
  provider_id: provider.id,
  ...fieldsOf(provider, "handle", "name", "description", "endpointUrl", "email"),
  pending_email: pendingEmail?.address ?? null,
  pending_email_expires_at: pendingEmail === undefined ? null : format(pendingEmail.expiresAt),
  verification_level: verified.level,
  endpoint: endpoint === undefined ? null : endpointView(endpoint),
  message
})

const shownTo = (caller: KeyOwner) => Effect.map(DateTime.now, (now) => (key: ApiKey) => keyView(key, caller, now))
