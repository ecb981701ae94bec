/**
 * A connection URL of PostgreSQL that may name several hosts, in libpq's form:
 * `postgres://user:password@db1:5432,db2:5432/billing?target_session_attrs=read-write`. The driver connects to one host,
 * so each host gets a URL of its own.
 */
import { Redacted, Result } from "effect"
import { nearestNames } from "../../../domain/shared/NearestName.ts"

export interface DatabaseHost {
  /** Messages name it as the URL does. */
  readonly name: string
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  /** It names this host alone. */
  readonly url: Redacted.Redacted
}

export type DatabaseHosts = readonly [DatabaseHost, ...ReadonlyArray<DatabaseHost>]

const PORT = 5432
const HOSTS_MAX = 8

/** User and password end at the last `@` before the path. */
const PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/u
const HOST_AND_PORT = /^(?:\[(?<address>[\da-fA-F:.]+)\]|(?<name>[^:[\]]*))(?::(?<port>\d*))?$/u

const SCHEME = "Expected a URL that starts with postgres:// or postgresql://"
const ENCODE = "Percent-encode special characters of user and password, such as / as %2F"
const FORM = `Expected postgres://user:password@host:port/database. ${ENCODE}`

/** The driver or this module reads these. The driver ignores all others, such as a misspelled `sslmode`. */
const PARAMETERS: ReadonlyArray<string> = [
  "application_name",
  "connect_timeout",
  "dbname",
  "host",
  "options",
  "password",
  "port",
  "sslmode",
  "target_session_attrs",
  "user"
]

/** The server that a URL leads to: the one that accepts writes, or one that replicates it. */
export type DatabaseRole = "primary" | "replica"

/** The problem is a sentence without the URL, which has a password in it. */
export const parseDatabaseUrl = (
  text: string,
  role: DatabaseRole = "primary"
): Result.Result<DatabaseHosts, string> => {
  if (!/^postgres(?:ql)?:\/\//u.test(text)) return Result.fail(SCHEME)
  const { hosts = "", path = "", query = "", scheme = "", user } = PARTS.exec(text)?.groups ?? {}
  if (scheme === "") return Result.fail(FORM)
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) {
    const [nearest] = nearestNames(unknown, PARAMETERS, 1)
    return Result.fail(
      nearest === undefined
        ? `The driver does not know the parameter \`${unknown}\`. Remove it`
        : `The driver does not know the parameter \`${unknown}\`. The closest one that it knows is \`${nearest}\``
    )
  }
  const named = namesIn(hosts, parameters)
  if (Result.isFailure(named)) return Result.fail(named.failure)
  const problem = problemOf(role, named.success.length, parameters.get("target_session_attrs") ?? "any")
  if (problem !== undefined) return Result.fail(problem)
  for (const own of ["host", "port", "target_session_attrs"]) parameters.delete(own)
  const rest = parameters.size === 0 ? "" : `?${parameters.toString()}`
  const [first, ...others] = named.success.map(({ host, port }): DatabaseHost => {
    const shown = host.includes(":") ? `[${host}]` : host
    const written = host.includes(":") ? shown : encodeURIComponent(host)
    const url = `${scheme}${user === undefined ? "" : `${user}@`}${written}:${port}${path}${rest}`
    return { name: `${shown}:${port}`, host, port, url: Redacted.make(url) }
  })
  return first !== undefined && URL.canParse(Redacted.value(first.url))
    ? Result.succeed([first, ...others])
    : Result.fail(FORM)
}

const problemOf = (role: DatabaseRole, count: number, wanted: string): string | undefined => {
  if (count > HOSTS_MAX) return `It names ${count} hosts, and ${HOSTS_MAX} is the limit`
  if (role === "replica") {
    return ["any", "standby", "prefer-standby"].includes(wanted)
      ? undefined
      : `target_session_attrs=${wanted} is not supported, because it names read replicas. Use standby`
  }
  if (!["any", "read-write", "primary"].includes(wanted)) {
    return `target_session_attrs=${wanted} is not supported, because the service needs the primary. Use read-write`
  }
  return count > 1 && wanted === "any"
    ? "It names several hosts. Add `target_session_attrs=read-write`, so that the service uses the primary"
    : undefined
}

interface Named {
  readonly host: string
  readonly port: number
}

/** The parameters `host` and `port` replace the hosts before the path, as in libpq. One port counts for all hosts. */
const namesIn = (hosts: string, parameters: URLSearchParams): Result.Result<ReadonlyArray<Named>, string> => {
  const listed = parameters.get("host")
  const pairs =
    listed === null || listed === ""
      ? hosts.split(",").map((one) => HOST_AND_PORT.exec(one)?.groups)
      : listed.split(",").map((name): Readonly<Record<string, string>> => ({ name: encodeURIComponent(name) }))
  const ports = parameters.get("port")?.split(",") ?? []
  if (ports.length > 1 && ports.length !== pairs.length) {
    return Result.fail(`It names ${pairs.length} hosts and ${ports.length} ports`)
  }
  const named: Array<Named> = []
  for (const [n, pair] of pairs.entries()) {
    const host = pair?.["address"] ?? decoded(pair?.["name"])
    const digits = (ports.length === 1 ? ports[0] : ports[n]) ?? pair?.["port"] ?? ""
    const port = digits === "" ? PORT : Number(digits)
    if (host === undefined || (host === "" && pairs.length > 1)) {
      return Result.fail(`Host ${n + 1} is not valid. Write IPv6 addresses in brackets. ${ENCODE}`)
    }
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      return Result.fail(`The port of host ${n + 1} is not an integer between 1 and 65535`)
    }
    named.push({ host: host === "" ? "localhost" : host, port })
  }
  return Result.succeed(named)
}

const decoded = (name: string | undefined): string | undefined => {
  try {
    return name === undefined ? undefined : decodeURIComponent(name)
  } catch {
    return undefined
  }
}
