/**
 * The SQL that one PostgreSQL and a Citus cluster both run (docs/scaling-out.md). Without a cluster only this test notices a
 * statement that Citus rejects; with one, every suite does (CITUS_URL). Each rule was broken once, on Citus 13.2, with the error
 * that its reason quotes.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectSources, type Sources } from "../support/house/ImportGraph.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"

const script = readFileSync(join(projectRoot, "docs/citus.sql"), "utf8")
const [, array] = /ARRAY\[([^\]]+)\]/u.exec(script)!
/** Tables whose rows lie in shards. */
const SHARDED = [...array!.matchAll(/'(\w+)'/gu)].map(([, name]) => name!)

/** The newest migration that ran before any cluster was made. */
const BEFORE_CLUSTERS = 6

const IN_TEXT = /\\.|`|\$\{/gsu
const IN_CODE = /\/\*.*?\*\/|\/\/[^\n]*|\/\[[^\]\n]+\]\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[`{}]/gsu

/** The outermost literals of a source: a statement with the fragments in it, and without its comments. */
const literalsIn = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const open: Array<string> = []
  for (let from = 0, at = 0; ;) {
    const tokens = open.at(-1) === "`" ? IN_TEXT : IN_CODE
    tokens.lastIndex = at
    const token = tokens.exec(text)
    if (token === null) break
    at = tokens.lastIndex
    const [sign] = token
    if (sign === "}" || (sign === "`" && open.at(-1) === "`")) {
      if (open.pop() === "`" && !open.includes("`")) found.push(text.slice(from, token.index))
    } else if ("`{${".includes(sign)) {
      if (sign === "`" && !open.includes("`")) from = at
      open.push(sign)
    } else if (sign.startsWith('"') && !open.includes("`")) found.push(sign.slice(1, -1))
  }
  assert.deepStrictEqual(open, [])
  return found.map((literal) => literal.replaceAll(/^[ \t]*--.*$/gmu, ""))
}

/** What stands in the parenthesis that begins at `from`, and what follows it. */
const parenthesis = (text: string, from: number) => {
  let depth = 0
  const commas: Array<number> = []
  for (let at = from; at < text.length; at++) {
    if ("([{".includes(text[at]!)) depth++
    if (")]}".includes(text[at]!)) depth--
    if (text[at] === "," && depth === 1) commas.push(at)
    if (depth === 0) return { inner: text.slice(from + 1, at), rest: text.slice(at + 1), parts: commas.length + 1 }
  }
  return { inner: text.slice(from + 1), rest: "", parts: commas.length + 1 }
}

const every = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => parenthesis(text, match.index + match[0].length - 1))

const isOverShards = (text: string) => SHARDED.some((table) => new RegExp(String.raw`\b${table}\b`, "u").test(text))

interface Rule {
  readonly name: string
  /** What Citus says, or does. */
  readonly reason: string
  readonly breaks: (statement: string) => boolean
  /** Of migrations since the first cluster: those before ran on one PostgreSQL. */
  readonly ofMigrations?: true
  readonly planted: string
}

const RULES: ReadonlyArray<Rule> = [
  {
    name: "identifies rows by keys",
    reason: "Recursively planned distributed modifications with ctid on where clause are not supported",
    breaks: (text) => /\bctid\b/u.test(text) && (isOverShards(text) || !text.includes("DELETE FROM ${sql(table)}")),
    planted: "DELETE FROM receipts WHERE ctid = ANY (ARRAY(SELECT ctid FROM receipts LIMIT 3))"
  },
  {
    name: "gives every subquery a column",
    reason: "Citus keeps its rows as an intermediate result, which needs one",
    breaks: (text) =>
      every(text, /(?:EXISTS|FROM|IN|JOIN) ?\((?=SELECT (?:FROM|WHERE)\b)/gu).some(
        ({ inner }) => !/\w+\.consumer_id = p_call\.consumer_id/u.test(inner)
      ),
    planted: "SELECT EXISTS (SELECT FROM receipts_unlogged) AS waiting"
  },
  {
    name: "names the columns of an unnest over several arrays",
    reason: "a column definition list is required for functions returning record",
    breaks: (text) =>
      (isOverShards(text) || !/SELECT \*\s+FROM unnest/u.test(text)) &&
      every(text, /\bunnest ?\(/gu).some(
        ({ parts, rest }) => parts > 1 && !/^\s*(?:WITH ORDINALITY )?(?:AS )?\w+ \(/u.test(rest)
      ),
    planted: "INSERT INTO loads SELECT p.* FROM unnest(${ids}, ${amounts}) p"
  },
  {
    name: "has no subquery in VALUES",
    reason: "subqueries are not supported within INSERT queries",
    breaks: (text) => every(text, /\bVALUES ?\(/gu).some(({ inner }) => /\(\s*SELECT\b/u.test(inner)),
    planted: "INSERT INTO lost_calls (fee) VALUES ((SELECT max(fee) FROM receipts))"
  },
  {
    name: "truncates times of columns as times of UTC",
    reason: "STABLE functions used in UPDATE queries cannot be called with column references",
    breaks: (text) => /date_trunc\('\w+', (?!v_)[^()]*, '\w+'\)/u.test(text),
    planted: "UPDATE budgets SET period_start = date_trunc('month', period_start, 'UTC')"
  },
  {
    name: "locks rows of one shard",
    reason: "could not run distributed query with FOR UPDATE/SHARE commands",
    breaks: (text) =>
      /FOR (?:NO KEY )?(?:UPDATE|SHARE)\b/u.test(text) && isOverShards(text) && !/consumer_id = /u.test(text),
    planted: "SELECT * FROM wallets WHERE frozen FOR NO KEY UPDATE SKIP LOCKED"
  },
  {
    name: "groups by one list of columns",
    reason: "could not run distributed query with GROUPING SETS, CUBE, or ROLLUP",
    breaks: (text) => /\b(?:GROUPING SETS|CUBE|ROLLUP) ?\(/u.test(text),
    planted: "SELECT hour, tool_id, sum(spend) FROM usage_hourly GROUP BY GROUPING SETS ((hour), (tool_id))"
  },
  {
    name: "writes whole rows as ROW",
    reason: "a worker does not know the type of a row without columns",
    breaks: (text) => /\bTHEN [a-z] END\b/u.test(text),
    planted: "SELECT array_agg(CASE WHEN o.free THEN o END) FROM calls_open o"
  },
  {
    name: "reads into variables by INTO",
    reason: "the subquery of an assignment to an element is planned without its parameters",
    breaks: (text) => /\bv_\w+\[[^\]]+\] := [^;]*\(SELECT\b/u.test(text),
    planted: "v_used[p_call.tier] := coalesce((SELECT f.used FROM free_tier_usage f), 0);"
  },
  {
    name: "has no views and no functions that return rows of a table",
    reason: "create_distributed_table finds circular dependencies",
    breaks: (text) => /\bCREATE (?:OR REPLACE )?(?:MATERIALIZED )?VIEW\b|\bRETURNS SETOF [a-z]\w*s\b/u.test(text),
    planted: "CREATE FUNCTION earnings_of(p uuid) RETURNS SETOF account_balances LANGUAGE sql AS ''"
  },
  {
    name: "adds a column and its constraint in two statements",
    reason: "cannot execute ADD COLUMN command with PRIMARY KEY, UNIQUE, FOREIGN and CHECK constraints",
    breaks: (text) => /\bADD COLUMN\b[^;]*?\b(?:CHECK|UNIQUE|PRIMARY KEY|REFERENCES)\b/u.test(text),
    ofMigrations: true,
    planted: "ALTER TABLE disputes ADD COLUMN note text CHECK (char_length(note) <= 100)"
  },
  {
    name: "changes a constraint in a statement of its own",
    reason: "cannot execute ADD CONSTRAINT command with other subcommands",
    breaks: (text) =>
      /\bALTER TABLE\b[^;]*?,\s*(?:ADD|DROP)\b/u.test(text) && /\b(?:CONSTRAINT|PRIMARY KEY|UNIQUE)\b/u.test(text),
    ofMigrations: true,
    planted: "ALTER TABLE receipts_unlogged DROP CONSTRAINT receipts_unlogged_pkey, ADD PRIMARY KEY (consumer_id)"
  },
  {
    name: "leaves the storage of columns as it is",
    reason: "alter table command is currently unsupported",
    breaks: (text) => /\bALTER COLUMN\b[^;]*?\bSET (?:STORAGE|STATISTICS|COMPRESSION)\b/u.test(text),
    ofMigrations: true,
    planted: "ALTER TABLE receipts ALTER COLUMN signature SET STORAGE EXTERNAL"
  },
  {
    name: "makes rows of a table unique with their consumer",
    reason: "creating unique indexes on non-partition columns is currently unsupported",
    breaks: (text) => /\bCREATE UNIQUE INDEX\b/u.test(text) && isOverShards(text) && !text.includes("consumer_id"),
    ofMigrations: true,
    planted: "CREATE UNIQUE INDEX receipts_signed ON receipts (signature)"
  }
]

const isRecent = (file: string) =>
  file.startsWith("migrations/") && Number(/\/(\d{4})_/u.exec(file)?.[1] ?? 0) > BEFORE_CLUSTERS

const broken = (sources: Sources): ReadonlyArray<string> =>
  [...sources].flatMap(([file, text]) =>
    literalsIn(text).flatMap((statement) =>
      RULES.filter((rule) => (rule.ofMigrations !== true || isRecent(file)) && rule.breaks(statement)).map(
        ({ name, reason }) => `${file}: ${statement.trim().slice(0, 80)}: every statement ${name} (Citus: ${reason})`
      )
    )
  )

/** Pruned without keys, so only on the coordinator. */
const prunedByPlace = (sources: Sources): ReadonlyArray<string> =>
  [...sources.values()].flatMap((text) => [...text.matchAll(/\bprune\(sql, "(\w+)"/gu)].map(([, table]) => table!))

describe("SQL for one PostgreSQL and for Citus", () => {
  const sources = projectSources(["adapters/sql", "migrations"])

  it("keeps to what Citus plans", () => {
    assert.isAbove(sources.size, 80)
    assert.isAbove([...sources.values()].flatMap(literalsIn).length, 600)
    assert.deepStrictEqual(broken(sources), [])
  })

  it("prunes only tables of the coordinator without keys", () => {
    const pruned = prunedByPlace(sources)
    assert.isAbove(pruned.length, 5)
    assert.deepStrictEqual(
      pruned.filter((table) => SHARDED.includes(table)),
      []
    )
    assert.deepStrictEqual(prunedByPlace(new Map([["a", 'prune(sql, "receipts", old, 1)']])), ["receipts"])
  })

  for (const { breaks, name, ofMigrations, planted } of RULES) {
    it(`is rejected where a statement no longer ${name}`, () => {
      assert.isTrue(breaks(planted))
      const file = ofMigrations === true ? "migrations/0007_planted.ts" : "adapters/sql/planted.ts"
      const text = `export default sql\`SELECT \${sql\`1\`}\`\n// \`\nexport const b = sql.unsafe(\`${planted}\`)`
      const found = broken(new Map([[file, text]]))
      assert.lengthOf(found, 1)
      assert.include(found[0], name)
    })
  }

  it("is judged as a whole, with the fragments in it and without its comments", () => {
    const text = 'a(`b ${f({ c: `d` })} -- e`, "g") // `h`\nconst i = { j: `\n-- k ctid\nl` }'
    assert.deepStrictEqual(literalsIn(text), ["b ${f({ c: `d` })} -- e", "g", "\n\nl"])
  })
})
