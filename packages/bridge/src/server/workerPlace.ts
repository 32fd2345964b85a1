/** Names by which this machine refers to itself. */
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', '0.0.0.0', '[::]'])

/** Returns the place of a bridge address, regardless of its protocol: host, port and path. A text that is not an address is returned unchanged. */
export function placeOf(address: string): string {
  const url = URL.parse(address)
  if (url === null) return address
  const { protocol, hostname: host, pathname } = url
  const port = url.port === '' ? (protocol === 'wss:' ? '443' : '80') : url.port
  return `${loopback.has(host) ? 'localhost' : host}:${port}${pathname}`
}
