import { RuntimeError } from '../protocol/errors.ts'

const bridgePath = '/bridge'
const schemes: Readonly<Record<string, string>> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' }

/**
 * The URL of a bridge as it may be written: `ws(s)://host[:port]/bridge`, or `http(s)://host[:port][/base]` of the server that has it.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function bridgeUrl(written: string): string {
  const url = URL.parse(written)
  const scheme = schemes[url?.protocol ?? '']
  if (url === null || scheme === undefined || url.hostname === '') {
    const what = `connect takes a URL such as ws://127.0.0.1:8765/bridge or https://agents.example.com, not ${written}.`
    throw new RuntimeError('INVALID_OPTION', what)
  }
  const path = url.pathname.replace(/\/+$/, '')
  const isWhole = path.endsWith(bridgePath) || (url.protocol === scheme && path !== '')
  return `${scheme}//${url.host}${isWhole ? path : `${path}${bridgePath}`}${url.search}`
}
