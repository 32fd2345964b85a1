import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../charts/packageFile.ts'
import { encodingFor, encodings, type Encoding } from './encodings.ts'

/** A file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string
  readonly body: Buffer
  /** The body as the build compressed it; empty where it did not. */
  readonly encoded: ReadonlyMap<Encoding, Buffer>
  /** Says whether two bodies are the same, however they are sent. */
  readonly tag: string
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
  const names = new Set(entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)))
  const read = [...names]
    .filter((file) => types[extname(file)] !== undefined)
    .map(async (file): Promise<[string, PageFile]> => {
      const path = `/${relative(from, file).split(sep).join('/')}`
      const there = encodings.filter(({ extension }) => names.has(file + extension))
      const encoded = there.map(async ({ name, extension }) => [name, await readFile(file + extension)] as const)
      const page = pageFile(extname(file), await readFile(file), path.startsWith('/assets/'))
      return [path === '/index.html' ? '/' : path, { ...page, encoded: new Map(await Promise.all(encoded)) }]
    })
  return new Map(await Promise.all(read))
}

/** A file that is sent as it is. */
const pageFile = (extension: string, body: Buffer, isLasting: boolean): PageFile => ({
  type: types[extension]!,
  body,
  encoded: new Map(),
  // Weak, as it is the same for every encoding.
  tag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  isLasting,
})

const notBuilt =
  'The files of the inspector page are not beside this server. In a bundled application keep escapement out of the bundle, as its ' +
  'docs/bundlers.md tells; in the repository of escapement run "npm run build:page".'

/** The page loads only its own files, connects only to its own server, and is shown only in pages of these origins. */
function policyFor(host: string | undefined, frameAncestors: readonly string[]): string {
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
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  ].join('; ')
}

export interface PageOptions {
  /** Where the page connects to, seen from itself. Default `bridge`, beside it. */
  readonly bridge?: string
  /** Origins of pages that may show it in a frame. Default: none. */
  readonly frameAncestors?: readonly string[]
  /** Default: those that the build put beside this server. */
  readonly read?: () => Promise<ReadonlyMap<string, PageFile>>
}

/** The inspector page as static files, which are read once, at the first request. */
export class ServedPage {
  readonly #read: () => Promise<ReadonlyMap<string, PageFile>>
  readonly #frameAncestors: readonly string[]
  #files: Promise<ReadonlyMap<string, PageFile>> | undefined

  constructor({ bridge = 'bridge', frameAncestors = [], read = readPageFiles }: PageOptions = {}) {
    this.#read = bridge === 'bridge' ? read : async () => tellPath(await read(), bridge)
    this.#frameAncestors = frameAncestors
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
    this.#send(request, response, file)
  }

  #send({ headers, method }: IncomingMessage, response: ServerResponse, file: PageFile): void {
    const shared = {
      'cache-control': file.isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
      'content-security-policy': policyFor(headers.host, this.#frameAncestors),
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      vary: 'accept-encoding',
      etag: file.tag,
    }
    if (knowsTag(headers['if-none-match'], file.tag)) return void response.writeHead(304, shared).end()
    const encoding = encodingFor(headers['accept-encoding'], [...file.encoded.keys()])
    if (encoding === undefined) {
      response.setHeader('vary', shared.vary)
      return answerText(
        response,
        406,
        `This is sent as it is${[...file.encoded.keys()].map((name) => `, or with ${name}`).join('')}.`,
      )
    }
    const body = encoding === 'identity' ? file.body : file.encoded.get(encoding)!
    response.writeHead(200, {
      ...shared,
      'content-type': file.type,
      'content-length': body.length,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    })
    response.end(method === 'HEAD' ? undefined : body)
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

/** Whether a client that has these (the header `if-none-match`) has the one with this tag; weak ones are compared, as the header asks. */
const knowsTag = (known: string | undefined, tag: string): boolean =>
  known !== undefined && known.split(',').some((one) => ['*', tag, tag.slice(2)].includes(one.trim()))

/** The files with a page that connects to another path, which has letters, digits, `.`, `_`, `~`, `-` and `/` only. */
function tellPath(files: ReadonlyMap<string, PageFile>, bridge: string): ReadonlyMap<string, PageFile> {
  const page = files.get('/')
  if (page === undefined) return files
  const told = page.body.toString().replace('</head>', `<meta name="escapement-bridge" content="${bridge}" /></head>`)
  return new Map([...files, ['/', pageFile('.html', Buffer.from(told), page.isLasting)]])
}

/** Answers with a line of text. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${text}\n`)
}
