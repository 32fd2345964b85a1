import type { Server } from './documentSchema.ts'
import { DocumentProblem } from './references.ts'

/** Fills in the defaults of an address. @throws DocumentProblem */
function filled({ url, variables = {} }: Server, at: string): string {
  return url.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name]!.default : undefined
    if (value === undefined)
      throw new DocumentProblem(at, `the server ${url} has no default for {${name}}: give "servers"`)
    return value
  })
}

/**
 * The addresses that an operation may be called at, the first one first. `base`: where the document came from.
 *
 * @throws DocumentProblem: there is none
 */
export function serversOf(servers: readonly Server[], base: URL | undefined, at: string): readonly URL[] {
  return servers.map((server) => {
    const address = filled(server, at)
    const url = URL.parse(address, base?.href)
    if (url === null)
      throw new DocumentProblem(
        at,
        `the server ${JSON.stringify(address)} is no whole address, and it is not known where the document came from: give "servers"`,
      )
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new DocumentProblem(at, `the server ${JSON.stringify(address)} is not reached by http or https`)
    // No request can be made to such an address, and the error would show the password.
    if (url.username !== '' || url.password !== '')
      throw new DocumentProblem(at, `the address of the server at ${url.host} holds a name or password: give "auth"`)
    return url
  })
}

/** The address of a call: below that of its server, whose own path stays. Pure. */
export function addressOf(server: URL, path: string, query: string): URL {
  const url = new URL(server.href)
  // Set and not resolved: a path cannot change the host.
  url.pathname = `${server.pathname.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
  url.search = [server.search.slice(1), query].filter((part) => part !== '').join('&')
  return url
}
