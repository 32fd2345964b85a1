import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { compileGlob } from './matchGlob.ts'
import { looksBinary } from './openRegularFile.ts'
import { walkFiles } from './walkFiles.ts'

/** What to look for, as it crosses to the worker. */
export interface SearchRequest {
  /** Real folder to look in. */
  readonly folder: string
  /** A single file of it, instead of all. */
  readonly file?: string
  /** What to put before paths to make them relative to the workspace. */
  readonly prefix: string
  readonly pattern: string
  readonly flags: string
  readonly glob?: string
  readonly limit: number
}

export type SearchMessage =
  /** Sent before the file is looked at, so that a search that hangs can say where. */
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'match'; readonly text: string }
  | { readonly type: 'done'; readonly files: number; readonly tooLarge: number; readonly more: boolean }
  | { readonly type: 'failed'; readonly message: string }

const maxFileBytes = 5 * 1024 * 1024
const maxLineChars = 300
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Looks for a regular expression line by line; may never come back from an expression that backtracks. */
export async function* searchIn(request: SearchRequest): AsyncGenerator<SearchMessage, void, undefined> {
  const expression = new RegExp(request.pattern, request.flags)
  const wanted = request.glob === undefined ? () => true : compileGlob(request.glob)
  const paths = request.file === undefined ? regularFiles(request.folder) : [request.file]
  let files = 0
  let tooLarge = 0
  let matches = 0
  for await (const path of paths) {
    const shown = request.prefix + path
    if (!wanted(shown) && !wanted(path)) continue
    yield { type: 'file', path: shown }
    const text = await textOf(`${request.folder}/${path}`)
    if (text === 'too large') tooLarge++
    if (typeof text === 'string') continue
    files++
    let number = 0
    for (const line of text.lines) {
      number++
      const found = expression.exec(line)
      if (found === null) continue
      if (++matches > request.limit) {
        yield { type: 'done', files, tooLarge, more: true }
        return
      }
      yield { type: 'match', text: `${shown}:${number}: ${clip(line, found.index)}` }
    }
  }
  yield { type: 'done', files, tooLarge, more: false }
}

async function* regularFiles(folder: string): AsyncGenerator<string, void, undefined> {
  for await (const { path, isLink } of walkFiles(folder)) if (!isLink) yield path
}

async function textOf(real: string): Promise<{ lines: string[] } | 'too large' | 'skipped'> {
  const handle = await open(real, readFlags).catch(() => undefined)
  if (handle === undefined) return 'skipped'
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) return 'skipped'
    if (stats.size > maxFileBytes) return 'too large'
    const bytes = await handle.readFile()
    return looksBinary(bytes) ? 'skipped' : { lines: withoutLastEmpty(bytes.toString('utf8').split(/\r?\n/)) }
  } catch {
    return 'skipped'
  } finally {
    await handle.close()
  }
}

function withoutLastEmpty(lines: string[]): string[] {
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function clip(line: string, at: number): string {
  if (line.length <= maxLineChars) return line
  const from = Math.max(0, Math.min(at - 100, line.length - maxLineChars))
  const to = from + maxLineChars
  return `${from > 0 ? '…' : ''}${line.slice(from, to).toWellFormed()}${to < line.length ? '…' : ''}`
}
