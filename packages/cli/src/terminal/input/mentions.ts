import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { counted, whole } from '../../../../charts/src/amounts.ts'
import { withoutEnd } from '../../../../../src/protocol/text/textEnds.ts'

/** Maximum size of one file in bytes. `mostTogether`: maximum size of all files that a message names. */
const mostBytes = 100 * 1024
const mostTogether = 400 * 1024
const mostFiles = 20

const nonBlocking = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** A message with the files that it names. */
export interface Mentioned {
  /** The message, with the text of the files below it. */
  readonly text: string
  /** Notes for a person on the files that were added and those that were not. */
  readonly notes: readonly string[]
}

/** Matches `@path`, or `@"a path"` with spaces. */
const mention = /(?:^|(?<=\s))@(?:"([^"\n]{1,4096})"|([^\s"@]{1,4096}))/g

/** Returns true if a message may name files. Pure. */
export const mayMention = (text: string): boolean => text.search(mention) !== -1

/**
 * Adds the text of files in a folder that a message names by `@path`. Only names in `typed`, the typed part of the message, count. A name without
 * a file stays plain text. For a file that is too large or not text, only its name is sent, with a note for the person. The same holds for a file
 * outside the folder, also by a link.
 */
export async function withMentions(message: string, dir: string, typed: string = message): Promise<Mentioned> {
  const names = [...typed.matchAll(mention)].flatMap(([, quoted, bare]) =>
    quoted === undefined ? spellings(bare!) : [[quoted]],
  )
  const seen = new Set<string>()
  const parts: string[] = []
  const notes: string[] = []
  let together = 0
  for (const spelled of names) {
    const read = await firstOf(spelled, dir)
    if (read === undefined || seen.has(read.path)) continue
    const { path } = read
    seen.add(path)
    if ('problem' in read) notes.push(`only the name of ${path} goes along: ${read.problem}`)
    else if (parts.length === mostFiles || together + read.text.length > mostTogether)
      notes.push(
        `only the name of ${path} goes along: the files of one message are at most ${mostFiles}, of ${kilobytes(mostTogether)}`,
      )
    else {
      together += read.text.length
      parts.push(inTag(path, read.text))
      notes.push(`with ${path} · ${counted(linesOf(read.text), 'line')}`)
    }
  }
  return { text: [message, ...parts].join('\n\n'), notes }
}

/** Returns the possible readings of a typed name: unchanged, and without trailing punctuation. */
const spellings = (typed: string): string[][] => {
  const bare = withoutEnd(typed, ".,;:!?)]}'’”")
  return [bare === typed || bare === '' ? [typed] : [typed, bare]]
}

type Read = { readonly path: string } & ({ readonly text: string } | { readonly problem: string })

async function firstOf(spelled: readonly string[], dir: string): Promise<Read | undefined> {
  for (const path of spelled) {
    const read = await readFileOf(dir, path)
    if (read !== undefined) return read
  }
  return undefined
}

/** Reads a named file; `undefined` if there is no such file. */
async function readFileOf(dir: string, named: string): Promise<Read | undefined> {
  const full = resolve(dir, named)
  const path = relative(dir, full).split(sep).join('/')
  let file
  try {
    if (isOutside(relative(await realpath(dir), await realpath(full))))
      return { path: named, problem: 'it is outside the folder' }
    // Without waiting for who writes a pipe.
    file = await open(join(dir, path), nonBlocking)
  } catch {
    return undefined
  }
  try {
    const info = await file.stat()
    if (info.isDirectory()) return undefined
    if (!info.isFile()) return { path, problem: 'it is no file of text' }
    const bytes = Buffer.alloc(mostBytes + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = (await file.read(bytes, length, bytes.length - length, length)).bytesRead
    if (length > mostBytes)
      return {
        path,
        problem: `it has ${kilobytes(info.size)}, more than ${kilobytes(mostBytes)}; the agent can read parts of it`,
      }
    const text = textIn(bytes.subarray(0, length))
    return text === undefined ? { path, problem: 'it is not text' } : { path, text }
  } catch {
    return { path, problem: 'it cannot be read' }
  } finally {
    await file.close()
  }
}

const isOutside = (path: string): boolean => path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)

/** Decodes a text; `undefined` if it is not UTF-8 or has characters that never occur in text. */
function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Puts a file's text between tags that do not occur in it. */
function inTag(path: string, text: string): string {
  let tag = 'file'
  while (text.includes(`</${tag}`)) tag += '_'
  return `<${tag} path=${JSON.stringify(path)}>\n${text}${text.endsWith('\n') ? '' : '\n'}</${tag}>`
}

const linesOf = (text: string): number => text.replace(/\n$/, '').split('\n').length

const kilobytes = (bytes: number): string => `${whole(Math.ceil(bytes / 1024))} kB`
