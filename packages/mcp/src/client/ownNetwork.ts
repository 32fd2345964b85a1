import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Resolves with the addresses of a host. Rejects if it has none. */
export type Lookup = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** Addresses of the machine itself, of private networks, and those that can be reached only within a network. */
const internal = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  internal.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  internal.addSubnet(net, bits, 'ipv6')

const isInternalAddress = (address: string): boolean => internal.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Returns true if a host belongs to this machine or a private network; false for a host without an address. */
async function isInternal({ hostname }: URL, lookup: Lookup): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return isInternalAddress(host)
  const found = await lookup(host).catch(() => [])
  return found.some(({ address }) => isInternalAddress(address))
}

/**
 * Checks that a remote server does not redirect requests to this machine or its private network, unless
 * the server is there itself or the host is one of `allowed`. Rejects with a message otherwise.
 */
export async function checkLead(
  server: URL,
  to: URL,
  { allowed = [], lookup = (host) => systemLookup(host, { all: true }) }: LeadOptions = {},
): Promise<void> {
  if (to.hostname === server.hostname || allowed.includes(to.hostname)) return
  if (!(await isInternal(to, lookup)) || (await isInternal(server, lookup))) return
  throw new Error(
    `it names ${to.origin} for signing in, which is an address of this machine or its network: if that is meant, give authHosts: ['${to.hostname}']`,
  )
}

export interface LeadOptions {
  readonly allowed?: readonly string[] | undefined
  readonly lookup?: Lookup | undefined
}
