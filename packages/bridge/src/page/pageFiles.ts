import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../../charts/src/packageFile.ts'
import { compressed } from './compressed.ts'
import { encodings, type Encoding } from './encodings.ts'

/** A file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string
  readonly body: Buffer
  /** Encodings in which the file may be sent; empty if encoding saves nothing. */
  readonly encodings: readonly Encoding[]
  /** Returns the body in one of these encodings. It is compressed off this thread on first use, and cached. */
  encoded(encoding: Encoding): Promise<Buffer>
  /** Tag that is equal for equal bodies, in any encoding. */
  readonly tag: string
  /** True if the file's name changes with its content. */
  readonly isLasting: boolean
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Suffix of files that are already compressed. */
const packed = '.woff2'

/** Minimum size in bytes of a file that is compressed. Smaller ones fit into the first packets anyway. */
const leastBytes = 1_024

/** Returns the folder into which `npm run build` puts the page, for the sources and for the built package. */
function pageFolder(): string | undefined {
  const url = packageFile('dist/inspector/')
  return url?.protocol === 'file:' ? fileURLToPath(url) : undefined
}

/** Reads the files of the built page, by their path on the server. Empty if the page was not built, or not bundled. */
export async function readPageFiles(from = pageFolder()): Promise<ReadonlyMap<string, PageFile>> {
  if (from === undefined) return new Map()
  const entries = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => [])
  const read = entries
    .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
    .map(async ({ parentPath, name }): Promise<[string, PageFile]> => {
      const file = join(parentPath, name)
      const path = `/${relative(from, file).split(sep).join('/')}`
      return [path === '/index.html' ? '/' : path, pageFile(path, await readFile(file))]
    })
  return new Map(await Promise.all(read))
}

/** Returns true if a file name contains a content hash, as all built files do except one that Node finds by its name. */
const hasHash = (path: string): boolean => /^\/assets\/[^/]+-[\w-]{8}\.\w+$/.test(path)

/** Returns a file of the page, by its path on the server. */
export function pageFile(path: string, body: Buffer): PageFile {
  const extension = extname(path)
  const isWorthIt = extension !== packed && body.length >= leastBytes
  return {
    type: types[extension]!,
    body,
    encodings: isWorthIt ? encodings : [],
    encoded: compressed(body),
    // Weak, as it is the same for every encoding.
    tag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    isLasting: hasHash(path),
  }
}

/** Returns the files with a page that connects to another path, which has letters, digits, `.`, `_`, `~`, `-` and `/` only. */
export function tellPath(files: ReadonlyMap<string, PageFile>, bridge: string): ReadonlyMap<string, PageFile> {
  const page = files.get('/')
  if (page === undefined) return files
  const told = page.body.toString().replace('</head>', `<meta name="escapement-bridge" content="${bridge}" /></head>`)
  return new Map([...files, ['/', pageFile('/index.html', Buffer.from(told))]])
}
