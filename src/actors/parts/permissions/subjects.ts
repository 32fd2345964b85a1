import { posix } from 'node:path'
import { messageOf } from '../../../protocol/errors.ts'
import { compileGlob } from './matchGlob.ts'
import { nameIn, roughCommands, simpleCommands } from './commandWords.ts'

/** Returns true if a text matches a pattern in which `*` stands for any characters. Time is at most proportional to both. Pure. */
function fitsStars(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let retry = 0
  for (let i = 0; i < text.length;) {
    if (pattern[at] === '*') {
      star = at++
      retry = i
    } else if (pattern[at] === text[i]) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++retry
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}

/**
 * The thing that a call is about, in a form that the patterns of rules are matched with: a path relative to the tool's folder, with links resolved; a
 * line for a shell; an address; or any text.
 */
export type Subject =
  | { readonly path: string }
  | { readonly command: string }
  | { readonly url: string }
  | { readonly text: string }

/** The pattern of a rule, and its meaning for paths. */
export interface Pattern {
  readonly text: string
  readonly glob: (path: string) => boolean
}

/** Prefix of a pattern that is matched with the whole text, in which no character is special. */
const exactly = '='
/** Maximum length of a path or text that patterns are matched with, in UTF-16 units. */
const longestSubject = 20_000

/** Returns a pattern, or the problem with it. */
export function compilePattern(text: string): Pattern | string {
  if (text.startsWith(exactly)) return { text, glob: (path) => path === text.slice(1) }
  try {
    return { text, glob: rootedGlob(text) }
  } catch (thrown) {
    return messageOf(thrown)
  }
}

/** Returns a glob in which a name after a leading `/` or `./` is in no folder. */
function rootedGlob(text: string): (path: string) => boolean {
  const fits = compileGlob(text)
  return /^(?:\.?\/)+[^/]*$/.test(text) ? (path) => !path.includes('/') && fits(path) : fits
}

/** The view of a call's subject that rules are matched with. */
export interface Sight {
  /** Tests, each of which must be passed by a pattern: one for each command of a line, or one for the subject itself. */
  readonly allows: readonly ((pattern: Pattern) => boolean)[]
  /** Returns true if the pattern of a `deny` or `ask` may cover the subject. In doubt it does. */
  holds(pattern: Pattern): boolean
}

/** Returns the view of a subject that rules are matched with. Never throws. */
export function sightOf(subject: Subject): Sight {
  if ('command' in subject) return commandSight(subject.command)
  const [text] = Object.values(subject) as [string]
  if (text.length > longestSubject) return { allows: [() => false], holds: () => true }
  if ('path' in subject) return pathSight(text)
  if ('url' in subject) return urlSight(text)
  const fits = (pattern: Pattern): boolean => exact(pattern, text) ?? fitsStars(pattern.text, text)
  return { allows: [fits], holds: fits }
}

/** Returns true if a pattern for the whole text matches; `undefined` for other patterns. */
const exact = ({ text }: Pattern, whole: string): boolean | undefined =>
  text.startsWith(exactly) ? text.slice(1) === whole : undefined

function pathSight(given: string): Sight {
  const path = posix.normalize(given.replaceAll('\\', '/')).replace(/(?<=[^/])\/$/, '')
  const isInside = !/^(?:\/|\.\.(?:\/|$)|[A-Za-z]:)/.test(path)
  const below = path.replace(/^(?:\.\.\/|\/|[A-Za-z]:)+/, '')
  return {
    allows: [({ glob }) => isInside && glob(path)],
    holds: ({ glob }) => glob(path) || glob(below),
  }
}

function commandSight(line: string): Sight {
  const commands = simpleCommands(line) ?? []
  if (commands.length === 0)
    return {
      allows: [(pattern) => exact(pattern, line) === true],
      holds: (pattern) =>
        exact(pattern, line) ?? roughCommands(line).some((words) => fitsCommand(opened(pattern.text), words)),
    }
  return {
    allows: commands.map((words) => (pattern) => exact(pattern, line) ?? fitsWords(pattern.text, words)),
    holds: (pattern) => exact(pattern, line) ?? commands.some((words) => fitsCommand(pattern.text, words)),
  }
}

/** Returns true if words match a pattern: its last `*` stands for any number of words, another for any one, or a part of one. */
function fitsWords(pattern: string, words: readonly string[]): boolean {
  const parts = pattern.trim().split(/\s+/)
  const isOpen = parts.at(-1) === '*'
  const fixed = isOpen ? parts.slice(0, -1) : parts
  return (
    (isOpen ? words.length >= fixed.length : words.length === fixed.length) &&
    fixed.every((part, index) => fitsStars(part, words[index]!))
  )
}

/** As `fitsWords`, but also matches a command by its name without its folder. */
const fitsCommand = (pattern: string, words: readonly string[]): boolean =>
  fitsWords(pattern, words) || fitsWords(pattern, words.with(0, nameIn(words[0]!)))

/** Returns the pattern with any further words. */
const opened = (pattern: string): string => (/(?:^|\s)\*\s*$/.test(pattern) ? pattern : `${pattern} *`)

function urlSight(given: string): Sight {
  const url = addressOf(given)
  const isPlain = url !== undefined && url.username === '' && url.password === '' && !/%2f|%5c|%00/i.test(url.pathname)
  return {
    // Another port is another server.
    allows: [(pattern) => exact(pattern, given) ?? (isPlain && fitsAddress(pattern.text, url, url.host))],
    holds: (pattern) =>
      exact(pattern, given) ??
      (url === undefined ? given.includes(hostIn(pattern.text)) : fitsAddress(pattern.text, url, hostname(url))),
  }
}

function addressOf(text: string): URL | undefined {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined
}

const hostname = (url: URL): string => url.hostname.replace(/\.$/, '')

/** The scheme, host and path of a pattern for addresses: `example.com`, `*.example.com/docs/**`, `https://example.com:8080`. */
const address = /^(?:(https?):\/\/)?([^/]+)(\/.*)?$/i
const hostIn = (pattern: string): string => address.exec(pattern)?.[2]?.replace('*.', '') ?? pattern

function fitsAddress(pattern: string, url: URL, shown: string): boolean {
  const [, scheme, said, path = ''] = address.exec(pattern) ?? []
  if (said === undefined || (scheme !== undefined && `${scheme.toLowerCase()}:` !== url.protocol)) return false
  const host = said.toLowerCase()
  if (!fitsStars(host, host.includes(':') ? url.host : shown)) return false
  return path === '' || path === url.pathname || rootedGlob(path)(url.pathname.slice(1))
}
