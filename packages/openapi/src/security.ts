import { nearestWord } from '../../../src/protocol/checks/nearestWord.ts'
import {
  read,
  securitySchemeSchema,
  type Document,
  type Parameter,
  type Requirement,
  type SecurityScheme,
} from './documentSchema.ts'
import { below, resolve } from './references.ts'
import { encode } from './parameters.ts'
import { invalid } from './readDocument.ts'

/** A credential: a key or token, name and password, or a function that returns a token. */
export type OpenApiAuth =
  | string
  | { readonly username: string; readonly password: string }
  /** Called for every request, so it should cache the token while valid. `isRefused`: the service refused the last one. */
  | ((context: { readonly isRefused: boolean; readonly signal: AbortSignal }) => string | Promise<string>)

/** Credentials by the names of the document's security schemes. */
export type AuthByScheme = { readonly [scheme: string]: OpenApiAuth }

/** A scheme with its credential. */
interface Proof {
  readonly scheme: SecurityScheme
  readonly auth: OpenApiAuth
}

/** Parts of a request that take credentials. */
export interface ProofTarget {
  readonly headers: Headers
  /** Query parts of the address: `name=value`. */
  readonly query: string[]
  readonly cookies: string[]
  /** Called with every secret before it is used. */
  hide(secrets: readonly string[]): void
}

/** Credentials for the calls of an operation. */
export class Proofs {
  readonly #proofs: readonly Proof[]
  /** Schemes that the operation needs and that have no credential. Empty if none is required. */
  readonly missing: readonly string[]

  constructor(proofs: readonly Proof[], missing: readonly string[]) {
    this.#proofs = proofs
    this.missing = missing
  }

  /** True if a new token can be requested. */
  get canRenew(): boolean {
    return this.#proofs.some(({ auth }) => typeof auth === 'function')
  }

  /** True if `auth` fills in a parameter. */
  readonly fills = ({ in: where, name }: Parameter): boolean =>
    this.#proofs.some(
      ({ scheme }) =>
        scheme.type === 'apiKey' &&
        scheme.in === where &&
        (where === 'header' ? scheme.name.toLowerCase() === name.toLowerCase() : scheme.name === name),
    )

  /** Adds the credentials to a request. Rejects as the application's function does. */
  async add(
    target: ProofTarget,
    context: { readonly isRefused: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    for (const { scheme, auth } of this.#proofs) {
      place(target, scheme, typeof auth === 'function' ? await tokenOf(auth, target, context) : textOf(auth))
    }
  }
}

function place({ headers, query, cookies }: ProofTarget, scheme: SecurityScheme, value: string): void {
  if (scheme.type !== 'apiKey') {
    const name = scheme.type === 'http' ? scheme.scheme : 'Bearer'
    headers.set('authorization', `${name.charAt(0).toUpperCase()}${name.slice(1)} ${value}`)
  } else if (scheme.in === 'header') headers.set(scheme.name, value)
  else if (scheme.in === 'query') query.push(`${encode(scheme.name)}=${encode(value)}`)
  else cookies.push(`${scheme.name}=${encode(value)}`)
}

async function tokenOf(
  auth: Extract<OpenApiAuth, (context: never) => unknown>,
  { hide }: ProofTarget,
  context: Parameters<typeof auth>[0],
): Promise<string> {
  const token: unknown = await auth(context)
  if (typeof token !== 'string' || token === '') throw new Error('The application gave no token for the service.')
  hide(secretForms(token))
  return token
}

const textOf = (auth: Exclude<OpenApiAuth, (context: never) => unknown>): string =>
  typeof auth === 'string' ? auth : basic(auth)

const basic = ({ username, password }: { readonly username: string; readonly password: string }): string =>
  Buffer.from(`${username}:${password}`).toString('base64')

const secretForms = (secret: string): string[] => [...new Set([secret, encode(secret)])]

/** Returns the secrets in `auth`, in the forms in which they are sent. Pure. */
export const secretsIn = (auth: AuthByScheme): readonly string[] =>
  Object.values(auth).flatMap((one) =>
    typeof one === 'function'
      ? []
      : typeof one === 'string'
        ? secretForms(one)
        : [...secretForms(one.password), basic(one)],
  )

/**
 * Returns the schemes of a document.
 *
 * @throws DocumentProblem; RuntimeError `OPENAPI_INVALID`: `auth` names an unknown scheme, or does not suit it
 */
export function schemesOf(document: Document, auth: AuthByScheme): ReadonlyMap<string, SecurityScheme> {
  const named = document.components?.securitySchemes ?? {}
  const schemes = new Map<string, SecurityScheme>()
  for (const [name, given] of Object.entries(auth)) {
    if (!Object.hasOwn(named, name)) {
      const nearest = nearestWord(name, Object.keys(named))
      const hint =
        nearest === undefined ? `there are: ${Object.keys(named).join(', ') || 'none'}` : `did you mean "${nearest}"?`
      throw invalid(`auth: the document has no security scheme "${name}" (${hint}).`)
    }
    const at = below('#/components/securitySchemes', name)
    const scheme = read(securitySchemeSchema, resolve(document, { value: named[name], at }))
    const isBasic = scheme.type === 'http' && scheme.scheme.toLowerCase() === 'basic'
    const isPair = typeof given === 'object'
    if (scheme.type === 'mutualTLS')
      throw invalid(`auth: "${name}" is a client certificate, which cannot be given here.`)
    if (isBasic !== isPair && typeof given !== 'function')
      throw invalid(
        `auth: "${name}" ${isBasic ? 'takes { username, password }' : 'takes a string, or a function that gives one'}.`,
      )
    schemes.set(name, scheme)
  }
  return schemes
}

/** Returns the credentials for the first alternative that has all of them. An operation may need none. Pure. */
export function proofsFor(
  requirements: readonly Requirement[],
  schemes: ReadonlyMap<string, SecurityScheme>,
  auth: AuthByScheme,
): Proofs {
  const alternatives = requirements.map((requirement) => Object.keys(requirement))
  const met = alternatives.filter((names) => names.every((name) => schemes.has(name)))
  // Anonymous access comes last: credentials that are given are used.
  const names = met.toSorted((one, other) => Number(one.length === 0) - Number(other.length === 0))[0]
  if (names === undefined) return new Proofs([], alternatives.flat())
  return new Proofs(
    names.map((name) => ({ scheme: schemes.get(name)!, auth: auth[name]! })),
    [],
  )
}
