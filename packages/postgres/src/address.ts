import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { PostgresPool } from './pool.ts'

/** Location of the database: a URL, or the application's own pool. */
export type PostgresPlace = string | PostgresPool

const example = 'postgres://user:password@host:5432/database'

const refused = (why: string): RuntimeError =>
  new RuntimeError(
    'INVALID_OPTION',
    `postgresStore needs a URL such as ${example}, or a Pool of the package pg, ${why}.`,
  )

/**
 * Checks that a place is a URL or a pool. Messages quote only host, port and database of a URL, because a malformed one may
 * have its password in another place.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function checkPlace(place: unknown): asserts place is PostgresPlace {
  if (typeof place === 'string') return void parse(place)
  const isPool = typeof place === 'object' && place !== null && 'query' in place && 'connect' in place
  if (!isPool) throw refused(`not ${place === null ? 'null' : typeof place}`)
}

const encode = 'use encodeURIComponent for user and password, or give the password as PGPASSWORD'

function parse(place: string): URL {
  if (place.trim() === '') throw refused('not a blank text')
  let url: URL
  try {
    // One of a socket may have a user and no host, which a URL may not.
    url = new URL(place.replace(/@(?=\/[^/])/, '@localhost'))
  } catch {
    throw refused(`and this text is no URL: ${encode}`)
  }
  if (!/^postgres(?:ql)?:$/.test(url.protocol)) throw refused('and this URL is of something else')
  // A password with a slash or a number sign, as it is.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@') || url.hash !== '')
    throw refused(`and in this URL something is not encoded: ${encode}`)
  return url
}

/** Returns the name of a store in messages. */
export function nameOf(place: PostgresPlace, schema: string): string {
  const where = typeof place === 'string' ? nameOfUrl(parse(place)) : 'PostgreSQL (the pool given)'
  return `${where}, schema "${schema}"`
}

function nameOfUrl({ hostname, port, pathname, searchParams }: URL): string {
  const host = searchParams.get('host') ?? hostname
  const at = host === '' ? '' : ` on ${host}${port === '' ? '' : `:${port}`}`
  return `PostgreSQL database "${pathname.slice(1)}"${at}`
}

/** Returns a function that blanks the URL's password in texts. */
export function withoutPassword(place: PostgresPlace): (text: string) => string {
  if (typeof place !== 'string') return (text) => text
  const url = parse(place)
  const said = [url.password, url.searchParams.get('password') ?? ''].filter((secret) => secret.length > 0)
  // The driver takes that of the environment for one that is not said.
  const given = said.length > 0 ? said : [process.env['PGPASSWORD'] ?? '']
  const secrets = [place, ...given, ...given.map(decoded)].filter((secret) => secret.length > 0)
  return (text) => secrets.reduce((blanked, secret) => blanked.replaceAll(secret, '***'), text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
