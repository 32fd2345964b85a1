import { RuntimeError } from '../../protocol/errors.ts'

const bridgePath = '/bridge'
const schemes: Readonly<Record<string, string>> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' }

/**
 * The URL of a bridge as a person may write it: `ws://host:port/bridge`, `http://host:port` or `host:port`. Pure.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming what was written.
 */
export function serverUrl(written: string): string {
  const isFull = /^[a-z][a-z\d+.-]*:\/\//i.test(written)
  const isAddress = /^(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}\/?$/i.test(written)
  const url = isFull || isAddress ? URL.parse(isFull ? written : `ws://${written}`) : null
  const scheme = schemes[url?.protocol ?? '']
  if (url === null || scheme === undefined || url.hostname === '' || url.username !== '' || url.hash !== '') {
    const what = `"${written}" is not the address of a server: write ws://host:port/bridge, http://host:port or host:port.`
    throw new RuntimeError('INVALID_OPTION', what)
  }
  return `${scheme}//${url.host}${url.pathname === '/' ? bridgePath : url.pathname}${url.search}`
}
