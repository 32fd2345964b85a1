import { readdir, readFile } from 'node:fs/promises'
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

/** Reads the built page: files by their path on the server. Empty when it was not built, or left behind by a bundler. */
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
