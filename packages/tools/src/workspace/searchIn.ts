import { constants } from 'node:fs'
import { join } from 'node:path'
import { open } from 'node:fs/promises'
import { compileGlob } from '../../../../src/actors/parts/permissions/matchGlob.ts'
import { looksBinary, placeOf } from '../files/openRegularFile.ts'
import { walkFiles } from '../files/walkFiles.ts'

/** A search, in the form sent to the worker. */
export interface SearchRequest {
  /** Real folder to search; absent if the worker is sent the texts, each after a message `next`. */
  readonly folder?: string
  /** Path of a single file to search, instead of the whole folder. */
  readonly file?: string
  /** Text to put before paths to make them relative to the workspace. */
  readonly prefix: string
  readonly pattern: string
  readonly flags: string
  readonly glob?: string
  readonly limit: number
  /** Number of characters on each side of a match that are sent with it. */
  readonly around: number
}

/** A file to be searched. Its path is relative to the searched folder. */
export interface SearchedFile {
  readonly path: string
  readonly text: SearchedText
}
type SearchedText = { readonly content: string } | 'too large' | 'skipped'

export type SearchMessage =
  /** Sent before a file is searched, so that a search that hangs can report where. */
  | { readonly type: 'file'; readonly path: string }
  | ({ readonly type: 'match' } & SearchMatch)
  | { readonly type: 'next' }
  | { readonly type: 'done'; readonly files: number; readonly tooLarge: number; readonly more: boolean }
  | { readonly type: 'failed'; readonly message: string }

/** A matching line: the part to show, within the surrounding text. */
export interface SearchMatch {
  /** Prefix `file:line: `, with an ellipsis if the line's beginning is cut off. */
  readonly before: string
  readonly text: string
  /** The shown part of `text`. */
  readonly part: { readonly from: number; readonly to: number }
  /** Suffix: an ellipsis if the line's end is cut off. */
  readonly after: string
}

/** Maximum number of bytes of a file that is searched. */
export const maxSearchedBytes = 5 * 1024 * 1024
const maxLineChars = 300
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Returns a function that tests if a path, relative to the searched folder, matches the glob. */
export function wantedBy({ glob, prefix }: Pick<SearchRequest, 'glob' | 'prefix'>): (path: string) => boolean {
  if (glob === undefined) return () => true
  const matches = compileGlob(glob)
  return (path) => matches(prefix + path) || matches(path)
}

/** Yields the files of a folder on this machine, for `searchIn`. */
export async function* filesIn(folder: string, request: SearchRequest): AsyncGenerator<SearchedFile, void, undefined> {
  const wanted = wantedBy(request)
  for await (const path of request.file === undefined ? regularFiles(folder) : [request.file])
    if (wanted(path)) yield { path, text: await textOf(join(folder, path)) }
}

/** Searches line by line; an expression with catastrophic backtracking may never return. */
export async function* searchIn(
  request: SearchRequest,
  searched: AsyncIterable<SearchedFile>,
): AsyncGenerator<SearchMessage, void, undefined> {
  const expression = new RegExp(request.pattern, request.flags)
  let files = 0
  let tooLarge = 0
  let matches = 0
  for await (const { path, text } of searched) {
    const shown = request.prefix + path
    yield { type: 'file', path: shown }
    if (text === 'too large') tooLarge++
    if (typeof text === 'string') continue
    files++
    let number = 0
    for (let start = 0, next = 0; start < text.content.length; start = next) {
      number++
      const end = text.content.indexOf('\n', start)
      next = end === -1 ? text.content.length : end + 1
      const stop = end === -1 ? next : end > start && text.content[end - 1] === '\r' ? end - 1 : end
      const found = expression.exec(text.content.slice(start, stop))
      if (found === null) continue
      if (++matches > request.limit) {
        yield { type: 'done', files, tooLarge, more: true }
        return
      }
      const line = { start, stop, at: start + found.index }
      yield { type: 'match', ...matchIn(text.content, line, `${shown}:${number}: `, request.around) }
    }
  }
  yield { type: 'done', files, tooLarge, more: false }
}

async function* regularFiles(folder: string): AsyncGenerator<string, void, undefined> {
  for await (const { path, isLink } of walkFiles(folder)) if (!isLink) yield path
}

async function textOf(real: string): Promise<SearchedText> {
  const handle = await open(real, readFlags).catch(() => undefined)
  if (handle === undefined) return 'skipped'
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || (await placeOf(handle, real)) !== real) return 'skipped'
    if (stats.size > maxSearchedBytes) return 'too large'
    return searchedText(await handle.readFile())
  } catch {
    return 'skipped'
  } finally {
    await handle.close()
  }
}

/** Returns the text of a file to be searched; binary files are skipped. */
export const searchedText = (bytes: Uint8Array): SearchedText =>
  looksBinary(bytes) ? 'skipped' : { content: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) }

/** Shortens a long line to the part around the match. */
function matchIn(
  content: string,
  { start, stop, at }: { readonly start: number; readonly stop: number; readonly at: number },
  place: string,
  around: number,
): SearchMatch {
  const isLong = stop - start > maxLineChars
  const from = isLong ? Math.max(start, Math.min(at - 100, stop - maxLineChars)) : start
  const to = isLong ? from + maxLineChars : stop
  const first = Math.max(0, from - around)
  return {
    before: from > start ? `${place}…` : place,
    text: content.slice(first, to + around),
    part: { from: from - first, to: to - first },
    after: to < stop ? '…' : '',
  }
}
