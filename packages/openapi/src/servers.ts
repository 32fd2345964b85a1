import type { Server } from './documentSchema.ts'
import { invalid } from './readDocument.ts'
import { DocumentProblem } from './references.ts'
import { withoutEnd } from '../../../src/protocol/text/textEnds.ts'

/** Fills in the defaults of an address. @throws DocumentProblem */
function filled({ url, variables = {} }: Server, at: string): string {
  return url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name]!.default : undefined
    if (value === undefined)
      throw new DocumentProblem(at, `the server ${url} has no default for {${name}}: give "servers"`)
    return value
  })
}

/**
 * Returns the addresses at which an operation may be called, in order of preference. `base`: the document's address.
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

/**
 * Checks that credentials go only to the document's origin, and in clear only within this machine: the author of a document, or an eavesdropper
 * on the network, could otherwise have the secrets.
 *
 * @throws RuntimeError `OPENAPI_INVALID`
 */
export function checkReceivers(addresses: readonly URL[], documentUrl: URL | undefined): void {
  for (const { origin, protocol, hostname } of addresses) {
    if (documentUrl !== undefined && origin !== documentUrl.origin)
      throw invalid(
        `The document came from ${documentUrl.origin} and would have "auth" sent to ${origin}: if that is right, say so with "servers".`,
      )
    if (protocol === 'http:' && !isLoopback(hostname))
      throw invalid(`"auth" would be sent in clear to ${origin}: give an https address as "servers", or this one.`)
  }
}

/** True if a host is this machine. Pure. */
const isLoopback = (hostname: string): boolean => /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Returns the address of a call, below that of its server, whose own path stays. Pure. */
export function addressOf(server: URL, path: string, query: string): URL {
  const url = new URL(server.href)
  // Set and not resolved: a path cannot change the host.
  url.pathname = `${withoutEnd(server.pathname, '/')}/${path.replace(/^\/+/, '')}`
  url.search = [server.search.slice(1), query].filter((part) => part !== '').join('&')
  return url
}
