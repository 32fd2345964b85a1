import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../charts/packageFile.ts'

/** A file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string
  readonly body: Buffer
  /** Its name changes with its content. */
  readonly isLasting: boolean
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Where `npm run build` puts the page, seen from the sources and from the built package alike. */
function pageFolder(): string | undefined {
  const url = packageFile('dist/inspector/')
  return url?.protocol === 'file:' ? fileURLToPath(url) : undefined
}

/** Reads the built page: files by their path on the server. Empty if it was not built, or not bundled along. */
export async function readPageFiles(from = pageFolder()): Promise<ReadonlyMap<string, PageFile>> {
  if (from === undefined) return new Map()
  const entries = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
  const read = files.map(async (entry): Promise<[string, PageFile]> => {
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(from, file).split(sep).join('/')}`
    const isLasting = path.startsWith('/assets/')
    return [path === '/index.html' ? '/' : path, { type: types[extname(file)]!, body: await readFile(file), isLasting }]
  })
  return new Map(await Promise.all(read))
}

const notBuilt =
  'The files of the inspector page are not beside this server. In a bundled application keep escapement out of the bundle, as its ' +
  'docs/bundlers.md tells; in the repository of escapement run "npm run build:page".'

/** The page loads only its own files, and connects only to its own server. */
function policyFor(host: string | undefined): string {
  const own = host !== undefined && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : ''
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
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

  /** `bridgePath`: where the page connects to. */
  constructor(read: () => Promise<ReadonlyMap<string, PageFile>> = readPageFiles, bridgePath = '/bridge') {
    this.#read = bridgePath === '/bridge' ? read : async () => tellPath(await read(), bridgePath)
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
      return answerText(response, 405, 'Only GET.')
    }
    if (file === undefined)
      return !files.has('/') ? answerText(response, 503, notBuilt) : answerText(response, 404, 'not found')
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

  /** The page may be built while the server runs: if it was missing or unreadable, it is read again. */
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

/** The files with a page that connects to another path, which has letters, digits, `.`, `_`, `~`, `-` and `/` only. */
function tellPath(files: ReadonlyMap<string, PageFile>, bridgePath: string): ReadonlyMap<string, PageFile> {
  const page = files.get('/')
  if (page === undefined) return files
  const told = page.body
    .toString()
    .replace('</head>', `<meta name="escapement-bridge" content="${bridgePath}" /></head>`)
  return new Map([...files, ['/', { ...page, body: Buffer.from(told) }]])
}

/** Answers with a line of text. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${text}\n`)
}
