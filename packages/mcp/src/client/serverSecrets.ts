import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import type { RedactedStream } from '../../../redaction/src/redactedStream.ts'
import { Redactor } from '../../../redaction/src/redactor.ts'
import { secretsInArgs, secretsInUrl } from './secretArguments.ts'
import type { McpAuth, McpOptions } from './options.ts'

/** Minimum length of a secret. Shorter values are usually settings, and blanking them would blank ordinary words. */
const leastChars = 8

/** Returns the secrets in options: values of variables, headers and the address's query, and arguments that look like secrets. Pure. */
export function secretsIn({ env, headers, url, args = [], plain = [] }: McpOptions): readonly string[] {
  const named = Object.entries({ ...env, ...(typeof headers === 'function' ? {} : headers) })
  const all = [...named, ...(url === undefined ? [] : secretsInUrl(url)), ...secretsInArgs(args)]
  return [...new Set(all.flatMap(([name, value]) => (plain.includes(name) ? [] : formsOf(value))))]
}

/** Returns a header's value, and the part after its scheme, as in `Bearer …`. */
function formsOf(value: string): string[] {
  const bare = value.replace(/^(?:Bearer|Basic|Token|DPoP)\s+/i, '')
  return [...new Set([value, bare])].filter((form) => form.trim().length >= leastChars)
}

/**
 * Secrets that no text of a server may show. Tokens become known while a connection is used, after
 * the runtime's redactor was made, so everything that comes from a server is cleaned here first.
 */
export class ServerSecrets {
  readonly #redactor = new Redactor({ knownKeys: false })
  readonly #hide: (secrets: readonly string[]) => void

  /** `hide`: makes the runtime blank newly learned secrets. */
  constructor(values: readonly string[], hide: (secrets: readonly string[]) => void) {
    this.#redactor.add('mcp', values)
    this.#hide = hide
  }

  add(value: unknown): void {
    if (typeof value !== 'string') return
    const forms = formsOf(value)
    this.#redactor.renew('mcp', forms)
    this.#hide(forms)
  }

  /** Returns a copy of plain JSON without secrets; the same value if there are none. */
  clean<T>(value: T): T {
    // As the arguments of a tool, of which nothing is known: names of fields are cleaned too.
    return this.#redactor.value({ input: value }).input
  }

  /** Removes secrets from a text, and the beginning of a secret at its end. */
  cutOff(text: string): string {
    return this.#redactor.cutOff(text)
  }

  /** Returns a filter for a text that comes in pieces, whose secrets may be cut anywhere. */
  stream(): RedactedStream {
    return this.#redactor.stream()
  }

  /** Wraps a provider for the package, and notes secrets that it reads and keeps. */
  watch(provider: McpAuth): OAuthClientProvider {
    return new Proxy(provider as OAuthClientProvider, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]): unknown => {
          if (keeping.has(name)) this.#note(args[0])
          const result: unknown = Reflect.apply(value, target, args)
          if (!reading.has(name)) return result
          if (!(result instanceof Promise)) return this.#note(result)
          return result.then((read: unknown) => this.#note(read))
        }
      },
    })
  }

  #note<T>(value: T): T {
    if (typeof value === 'string') this.add(value)
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) if (secretFields.has(name)) this.add(inner)
    return value
  }
}

const reading: ReadonlySet<PropertyKey> = new Set(['tokens', 'clientInformation', 'codeVerifier'])
const keeping: ReadonlySet<PropertyKey> = new Set(['saveTokens', 'saveClientInformation', 'saveCodeVerifier'])
const secretFields: ReadonlySet<string> = new Set([
  'access_token',
  'refresh_token',
  'id_token',
  'client_secret',
  'registration_access_token',
])
