/**
 * Decoders of settings, and the messages for invalid values.
 */
import { Redacted, Result, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { parseTrustedProxies } from "../../adapters/http/pipeline/WebRequest.ts"
import { parsePolicy } from "../../adapters/mcp/egress/AddressGuard.ts"
import { type DatabaseRole, parseDatabaseUrl } from "../../adapters/sql/primary/DatabaseUrl.ts"

export const whole = (min: number, max: number) => {
  const message = `Expected an integer between ${min} and ${max}`
  return Schema.String.check(Schema.isPattern(/^\d{1,12}$/u, { message })).pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.makeFilter((n: number) => (n >= min && n <= max ? undefined : message))),
      SchemaTransformation.numberFromString
    )
  )
}

const WORKERS_MAX = 256

/** A number, or `auto`: one worker for each core. */
export const workers = Schema.String.check(
  Schema.makeFilter((value: string) => {
    const isValid = /^(?:auto|[1-9]\d{0,2})$/iu.test(value) && !(Number(value) > WORKERS_MAX)
    return isValid ? undefined : `Expected \`auto\` or an integer between 1 and ${WORKERS_MAX}`
  })
).pipe(
  Schema.decodeTo(Schema.Union([Schema.Literal("auto"), Schema.Int]), {
    decode: SchemaGetter.transform((value: string) => (/^auto$/iu.test(value) ? ("auto" as const) : Number(value))),
    encode: SchemaGetter.transform(String)
  })
)

/** The case of a value does not matter: `DRY_RUN` is `dry_run`. */
export const oneOf = <const L extends ReadonlyArray<string>>(values: L) => {
  const byName = new Map(values.map((value): [string, L[number]] => [value.toLowerCase(), value]))
  const message = `Expected one of ${values.join(", ")}`
  return Schema.String.check(
    Schema.makeFilter((value: string) => (byName.has(value.trim().toLowerCase()) ? undefined : message))
  ).pipe(
    Schema.decodeTo(Schema.Literals(values), {
      decode: SchemaGetter.transform((value: string) => byName.get(value.trim().toLowerCase())!),
      encode: SchemaGetter.transform((value: L[number]): string => value)
    })
  )
}

export const text = Schema.String.check(Schema.isNonEmpty({ message: "Expected a nonempty text" }))

const SECRET_CHARS_MIN = 32

export const secret = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isMinLength(SECRET_CHARS_MIN, {
      message: `Expected at least ${SECRET_CHARS_MIN} characters, such as from \`openssl rand -hex 32\``
    })
  )
)

export const seed = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^[0-9a-f]{64}$/u, { message: "Expected 64 lowercase hex digits, from `openssl rand -hex 32`" })
  )
)

export const redactedText = Schema.RedactedFromValue(text)

const HTTP_URL = "Expected an http or https URL without a trailing slash"

/** A URL must be in its normal form, because links are the value and a path, and the prefix of the API is what follows its host. */
export const httpUrl = text.check(
  Schema.makeFilter((value: string) => {
    const url = URL.parse(value)
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return HTTP_URL
    const normal = `${url.origin}${url.pathname.replace(/\/+$/u, "")}`
    return value === normal ? undefined : `${HTTP_URL}, query or fragment, in its normal form: ${normal}`
  })
)

const urlOf = (protocols: ReadonlyArray<string>) =>
  text.check(
    Schema.makeFilter((value: string) =>
      protocols.includes(URL.parse(value)?.protocol ?? "")
        ? undefined
        : `Expected a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`
    )
  )

/** RFC 9116 accepts these; a line break would add a field. */
export const reportAddress = text.check(
  Schema.isPattern(/^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/u, {
    message: "Expected a URL that starts with mailto: or https://"
  })
)

export const redactedUrl = (protocols: ReadonlyArray<string>) => Schema.RedactedFromValue(urlOf(protocols))

const databaseUrlOf = (role: DatabaseRole) =>
  Schema.RedactedFromValue(
    text.check(
      Schema.makeFilter((value: string) => {
        const parsed = parseDatabaseUrl(value, role)
        return Result.isSuccess(parsed) ? undefined : parsed.failure
      })
    )
  )

/** One host or several. */
export const databaseUrl = databaseUrlOf("primary")
export const replicaUrl = databaseUrlOf("replica")

export const collector = redactedText.check(
  Schema.makeFilter((value: Redacted.Redacted) => {
    const url = URL.parse(Redacted.value(value))
    if (url === null || !/^https?:$/u.test(url.protocol) || Redacted.value(value).endsWith("/")) {
      return HTTP_URL
    }
    if (url.search !== "" || url.hash !== "") return "Expected a URL without a query or a fragment"
    return url.username === "" && url.password === ""
      ? undefined
      : "Expected a URL without a password: use OTLP_HEADERS"
  })
)

const HEADER_FIELD = /^(?<name>[\w!#$%&'*+.^`|~-]+)\s*=\s*(?<value>[\x21-\x7e][\x20-\x7e]*)$/u

export const headers = redactedText.check(
  Schema.makeFilter((value: Redacted.Redacted) =>
    listOf(Redacted.value(value)).every((field) => HEADER_FIELD.test(field))
      ? undefined
      : "Expected headers as name=value, comma-separated"
  )
)

export const ratio = Schema.String.check(
  Schema.isPattern(/^(?:0|1|0\.\d{1,6}|1\.0{1,6})$/u, { message: "Expected a number between 0 and 1" })
).pipe(Schema.decodeTo(Schema.Number, SchemaTransformation.numberFromString))

export const proxies = Schema.String.check(
  Schema.makeFilter((value: string) => {
    try {
      parseTrustedProxies(listOf(value))
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : "Expected addresses or CIDR ranges"
    }
  })
)

export const upstream = Schema.String.check(
  Schema.makeFilter((value: string) => {
    const policy = parsePolicy(value)
    return Result.isSuccess(policy) ? undefined : policy.failure.message
  })
)

export const listOf = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Expects a list that was checked. */
export const headersOf = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    listOf(value).map((field) => {
      const { name = "", value: text = "" } = HEADER_FIELD.exec(field)?.groups ?? {}
      return [name.toLowerCase(), text.trim()]
    })
  )
