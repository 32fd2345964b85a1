import type { IncomingMessage, ServerResponse } from 'node:http'
import { appFrame, appFramePath, appFramePolicy } from './appFrame.ts'
import { encodingFor } from './encodings.ts'
import { readPageFiles, tellPath, type PageFile } from './pageFiles.ts'

const notBuilt =
  'The files of the inspector page are not beside this server. In a bundled application keep escapement out of the bundle, as ' +
  'escapement/docs/bundlers.md tells; in the repository of escapement run "npm run build:page".'

/** Returns the policy of the page: it loads only its own files, connects only to its own server, and is framed only by pages of these origins. */
function policyFor(host: string | undefined, frameAncestors: readonly string[]): string {
  const own = host !== undefined && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : ''
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self'${own}`,
    "worker-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  ].join('; ')
}

export interface PageOptions {
  /** Address to which the page connects, relative to the page. Default `bridge`, next to the page. */
  readonly bridge?: string
  /** Origins of pages that may show the page in a frame. Default: none. */
  readonly frameAncestors?: readonly string[]
  /** Returns the files of the page. Default: those that the build put next to this server. */
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

  /** Returns true if a path may be one of the page's. */
  knows(path: string): boolean {
    return path === '/' || path === '/icon.svg' || path === appFramePath || path.startsWith('/assets/')
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const files = await this.#filesNow()
    const isFrame = path === appFramePath && files.has('/')
    const file = isFrame ? appFrame : files.get(path)
    guardAnswer(response)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return answerText(response, 405, 'Only GET.')
    }
    if (file === undefined)
      return !files.has('/') ? answerText(response, 503, notBuilt) : answerText(response, 404, 'not found')
    const policy = isFrame
      ? appFramePolicy(this.#frameAncestors)
      : policyFor(request.headers.host, this.#frameAncestors)
    return send(request, response, file, policy)
  }

  /** Reads the page. If it was missing or unreadable, the next request reads it again, because it may be built while the server runs. */
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

async function send(
  { headers, method }: IncomingMessage,
  response: ServerResponse,
  file: PageFile,
  policy: string,
): Promise<void> {
  const shared = {
    'cache-control': file.isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'accept-encoding',
    etag: file.tag,
  }
  if (knowsTag(headers['if-none-match'], file.tag)) return void response.writeHead(304, shared).end()
  const encoding = encodingFor(headers['accept-encoding'], file.encodings)
  if (encoding === undefined) {
    response.setHeader('vary', shared.vary)
    const others = file.encodings.map((name) => `, or with ${name}`).join('')
    return answerText(response, 406, `This is sent as it is${others}.`)
  }
  const body = encoding === 'identity' ? file.body : await file.encoded(encoding)
  response.writeHead(200, {
    ...shared,
    'content-type': file.type,
    'content-length': body.length,
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  })
  response.end(method === 'HEAD' ? undefined : body)
}

/** Returns true if an `if-none-match` header has this tag. The comparison is weak, as the header requires. */
const knowsTag = (known: string | undefined, tag: string): boolean =>
  known !== undefined && known.split(',').some((one) => ['*', tag, tag.slice(2)].includes(one.trim()))

/** Sets headers of every answer: a browser must not guess its type, and must not give it to pages of other origins without CORS. */
export const guardAnswer = (response: ServerResponse): ServerResponse =>
  response.setHeader('x-content-type-options', 'nosniff').setHeader('cross-origin-resource-policy', 'same-origin')

/** Sends an answer with one line of text. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  guardAnswer(response)
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${text}\n`)
}
