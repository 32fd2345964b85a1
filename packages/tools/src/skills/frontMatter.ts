import type * as yamlPackage from 'yaml'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'

/** The parser; loaded on first use, as the package is an optional peer. */
export type Yaml = Pick<typeof yamlPackage, 'parseDocument' | 'LineCounter'>

/** Contents of the lines between the dashes at the top of a file. */
export interface FrontMatter {
  readonly fields: { readonly [name: string]: unknown }
  /** Number of the first line after the front matter, from 1. */
  readonly bodyLine: number
  /** Note about fields that had to be read leniently, in one line. */
  readonly note?: string
}

/** Maximum length of front matter in bytes. A reader of files need not read further. */
export const maxFrontMatterBytes = 32 * 1024

/**
 * Reads the front matter of a Markdown file, of which `text` is the beginning. Every scalar is a string: a version stays what it says.
 *
 * @throws Error that names the line.
 */
export function readFrontMatter(text: string, yaml: Yaml): FrontMatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const opening = lines[0]!.trimEnd()
  if (opening !== '---') {
    // Other parsers run what such a line announces.
    const found = opening.startsWith('---') ? `it is ${JSON.stringify(cutEnd(opening, 20))}` : 'there is none'
    throw new Error(`line 1: front matter begins with a line "---"; ${found}`)
  }
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end < 0) throw new Error('the front matter has no second line "---"')
  const block = lines.slice(1, end)
  const place = { bodyLine: end + 2 }
  const read = parse(block, yaml)
  if ('fields' in read) return { ...place, ...read }
  const { lines: quoted, names } = quoteValues(block)
  const again = names.length === 0 ? read : parse(quoted, yaml)
  if (!('fields' in again)) throw new Error(read.wrong)
  const note = `${names.join(' and ')}: read as if quoted; put quotes around a value that contains ": "`
  return { ...place, ...again, note }
}

type Parsed = { readonly fields: FrontMatter['fields'] } | { readonly wrong: string }

function parse(lines: readonly string[], { parseDocument, LineCounter }: Yaml): Parsed {
  const counter = new LineCounter()
  try {
    const document = parseDocument(lines.join('\n'), {
      schema: 'failsafe',
      stringKeys: true,
      prettyErrors: false,
      logLevel: 'silent',
      lineCounter: counter,
    })
    const [error] = document.errors
    if (error !== undefined) return { wrong: `line ${counter.linePos(error.pos[0]).line + 1}: ${error.message}` }
    const fields: unknown = document.toJS({ maxAliasCount: 0 })
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
      return { wrong: 'the front matter has no fields, such as "name: …"' }
    return { fields: fields as FrontMatter['fields'] }
  } catch (thrown) {
    const isAlias = thrown instanceof ReferenceError
    return { wrong: `the front matter ${isAlias ? 'uses aliases, which are not taken' : messageOf(thrown)}` }
  }
}

/** Pattern of a field with a plain value: not quoted, no block, no list. */
const plainField = /^([A-Za-z][\w-]*):[ \t]+([^\s"'|>&*!%@`[{].*)$/

/** Quotes plain values that contain text which YAML would read as another field, with the indented lines that continue them. */
function quoteValues(lines: readonly string[]): { readonly lines: string[]; readonly names: string[] } {
  const names: string[] = []
  const quoted: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, name = '', start = ''] = plainField.exec(lines[at]!) ?? []
    let value = start.trimEnd()
    let last = at
    while (/^[ \t]+\S/.test(lines[last + 1] ?? '')) value += ` ${lines[++last]!.trim()}`
    if (name === '' || !/:(?:\s|$)/.test(value)) {
      quoted.push(lines[at]!)
      continue
    }
    names.push(name)
    quoted.push(`${name}: ${JSON.stringify(value)}`)
    at = last
  }
  return { lines: quoted, names }
}
