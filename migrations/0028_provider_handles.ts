/**
 * Handles of providers. Every handle that was ever given has a row, which is never taken away; when an account is erased
 * only the hash of its handles stays.
 *
 * Providers that are there already get a handle from their name: verified ones first, then the oldest. Where the name is
 * reserved, too short, taken, or looks like a verified provider's, the handle is neutral or ends with digits of the id.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The words and look-alikes as they were when this was written. */
const RESERVED =
  `about abuse account accounts admin administrator agent agents agent-tool-billing all anonymous api app apps auth billing
  blog catalog catalogue changelog cdn config consumer consumers contact dashboard dev developer developers dispute
  disputes docs documentation erased example examples ftp guest health help home host info internal invoice invoices
  legal llms localhost login logout mail mailer-daemon market marketplace mcp me metrics money moderator network news
  nobody noreply no-reply null official openapi operator owner pay payment payments payout payouts ping platform policy
  postmaster pricing privacy provider providers public receipt receipts refund refunds register robots root sales
  secure security self service services settings signin signup sla spec staff static stats status support
  sysadmin system team terms test tool tools trust undefined unverified user users verification verified verify wallet
  webhook webhooks webmaster well-known whoami www`.split(/\s+/u)

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const skeletonOf = (handle: string) =>
    sql.literal(
      `regexp_replace(replace(replace(translate(replace(${handle}, '-', ''), '0123456789i', 'olzeasgtbgl'), 'rn', 'm'), ` +
        `'vv', 'w'), '(.)\\1+', '\\1', 'g')`
    )

  yield* sql`CREATE TABLE provider_handles (
    handle_hash bytea PRIMARY KEY,
    handle text COLLATE "C" UNIQUE CHECK (handle ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(handle) BETWEEN 3 AND 32),
    skeleton text COLLATE "C",
    provider_id uuid NOT NULL,
    given_at timestamptz(3) NOT NULL,
    retired boolean NOT NULL DEFAULT false
  )`
  yield* sql`ALTER TABLE providers ADD COLUMN handle text COLLATE "C" UNIQUE`

  // A name that ends like a suffix could be somebody else's handle.
  yield* sql`
    WITH verified AS (SELECT DISTINCT provider_id FROM provider_proofs WHERE verified_at IS NOT NULL),
    reserved AS (SELECT DISTINCT ${skeletonOf("word")} AS skeleton FROM unnest(${RESERVED}::text[]) word),
    prefixes AS (
      SELECT split_part(tool_name, '/', 1) AS prefix, min(provider_id::text)::uuid AS one, max(provider_id::text)::uuid AS other
      FROM tools WHERE tool_name LIKE '%/%' GROUP BY 1
    ),
    slugs AS (
      SELECT p.id, p.created_at, v.provider_id IS NOT NULL AS is_verified, trim(BOTH '-' FROM left(trim(BOTH '-' FROM
          regexp_replace(lower(p.name COLLATE "C"), '[^a-z0-9]+', '-', 'g')), 32)) AS slug
      FROM providers p LEFT JOIN verified v ON v.provider_id = p.id
      WHERE NOT EXISTS (SELECT FROM erasures e WHERE e.owner_id = p.id)
    ),
    judged AS (
      SELECT s.id, slug, row_number() OVER (PARTITION BY slug ORDER BY is_verified DESC, created_at, id) AS nth,
        char_length(slug) < 3 OR slug LIKE 'erased-%' OR slug ~ '-[0-9a-f]{12}$'
          OR ${skeletonOf("slug")} IN (SELECT skeleton FROM reserved)
          OR (NOT is_verified AND bool_or(is_verified) OVER (PARTITION BY ${skeletonOf("slug")})) AS is_unfit,
        EXISTS (SELECT FROM prefixes x WHERE x.prefix = slug AND (x.one <> s.id OR x.other <> s.id)) AS begins_tool_name
      FROM slugs s
    )
    UPDATE providers p SET handle = CASE
        WHEN is_unfit THEN 'provider-' || right(replace(p.id::text, '-', ''), 12)
        WHEN nth > 1 OR begins_tool_name
          THEN trim(BOTH '-' FROM left(slug, 19)) || '-' || right(replace(p.id::text, '-', ''), 12)
        ELSE slug END
    FROM judged j WHERE j.id = p.id`
  yield* sql`
    UPDATE providers SET handle = 'erased-' || right(replace(id::text, '-', ''), 12) WHERE handle IS NULL`
  yield* sql`
    INSERT INTO provider_handles (handle_hash, handle, skeleton, provider_id, given_at)
    SELECT sha256(convert_to(handle, 'UTF8')), handle, ${skeletonOf("handle")}, id, now()
    FROM providers WHERE handle NOT LIKE 'erased-%'`

  yield* sql`ALTER TABLE providers ALTER COLUMN handle SET NOT NULL`
  yield* sql`CREATE INDEX provider_handles_alike ON provider_handles (skeleton) WHERE NOT retired`
  yield* sql`CREATE INDEX provider_handles_of ON provider_handles (provider_id)`
})
