import type { IncomingMessage, ServerResponse } from 'node:http'
import { readPageFiles, type PageFile } from './pageFiles.ts'

const notBuilt =
  'The files of the inspector page are not beside this server. In a bundled application keep escapement out of the bundle, as its ' +
  'docs/bundlers.md tells; in the repository of escapement run "npm run build:page".\n'

/** Only what the page itself brings; its one connection goes back to where it came from. */
function policyFor(host: string | undefined): string {
  const own = host !== undefined && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : ''
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${own}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The inspector page as static files, which are read once, at the first request. */
export class ServedPage {
  readonly #read: () => Promise<ReadonlyMap<string, PageFile>>
  #files: Promise<ReadonlyMap<string, PageFile>> | undefined

  constructor(read: () => Promise<ReadonlyMap<string, PageFile>> = readPageFiles) {
    this.#read = read
  }

  /** Whether a path may be one of the page's. */
  knows(path: string): boolean {
    return path === '/' || path === '/icon.svg' || path.startsWith('/assets/')
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const files = await this.#filesNow()
    const file = files.get(path)
    response.setHeader('x-content-type-options', 'nosniff')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return end(response, 405, 'Only GET.\n')
    }
    if (file === undefined) return !files.has('/') ? end(response, 503, notBuilt) : end(response, 404, 'not found\n')
    response.writeHead(200, {
      'content-type': file.type,
      'content-length': file.body.length,
      'cache-control': file.isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      'content-security-policy': policyFor(request.headers.host),
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
    response.end(request.method === 'HEAD' ? undefined : file.body)
  }

  /** It may be built while the server runs: what was not there, or could not be read, is read again. */
  async #filesNow(): Promise<ReadonlyMap<string, PageFile>> {
    const reading = (this.#files ??= this.#read())
    try {
      const files = await reading
      if (!files.has('/')) this.#files = undefined
      return files
    } catch (thrown) {
      this.#files = undefined
      throw thrown
    }
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(text)
}
