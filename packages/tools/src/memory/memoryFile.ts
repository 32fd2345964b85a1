import { createHash } from 'node:crypto'
import { RuntimeError, describeIssues } from '../../../../src/protocol/errors.ts'
import {
  memorySchema,
  type MemoryDeletion,
  type MemoryRecord,
  type MemoryScope,
} from '../../../../src/protocol/ports/memory.ts'
import { fitsDeletion } from './memoryRules.ts'

/** Part of a file that begins with a heading. */
export interface Section {
  /** Lines of the section, unchanged. */
  readonly lines: readonly string[]
  /** Number of the section's first line in the file, from 1. */
  readonly line: number
  readonly record?: MemoryRecord
  /** Reason why the section is not a record. */
  readonly problem?: string
}

/** Contents of a file of memories. Sections that are not records are kept unchanged. */
export interface MemoryFile {
  /** Everything before the first section. */
  readonly head: readonly string[]
  readonly sections: readonly Section[]
  /** Problem of the whole file. */
  readonly problem?: string
}

const titleOf = (scope: MemoryScope): string => `# Memory of ${scope}`
const hint =
  'One record per section. Edit a text, delete a section, or add one: a heading of a few words that you vouch for.'

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Returns the scope that a file's first line names. */
export const scopeIn = (firstLine: string): string | undefined => /^# Memory of (.+)$/.exec(firstLine.trimEnd())?.[1]

export const emptyFile = (scope: MemoryScope): MemoryFile => ({ head: [titleOf(scope), '', hint, ''], sections: [] })

const isHeading = (line: string): boolean => line.startsWith('## ')
const headingOf = (lines: readonly string[]): string => lines[0]!.slice(3).trim()

/**
 * Reads a file of memories; `changedAt` is the time of sections written by hand. Sections unchanged
 * since `before` are not parsed again. Never throws. Pure.
 */
export function parseFile(content: string, scope: MemoryScope, changedAt: number, before?: MemoryFile): MemoryFile {
  const lines = content.replace(/^\uFEFF/, '').split(/\r?\n/)
  const starts = lines.flatMap((line, index) => (isHeading(line) ? [index] : []))
  const head = lines.slice(0, starts[0] ?? lines.length)
  const told = scopeIn(lines[0] ?? '')
  const taken = new Set<string>()
  const known = new Map(before?.sections.map((section) => [section.lines.join('\n'), section]))
  const sections = starts.map((start, index): Section => {
    const own = lines.slice(start, starts[index + 1])
    const line = start + 1
    const same = known.get(own.join('\n'))
    const section = same?.record === undefined ? parseSection(own, line, { scope, changedAt }) : { ...same, line }
    const { record } = section
    if (record === undefined) return section
    if (taken.has(record.id)) return { ...without(section), problem: `the id "${record.id}" stands above already` }
    taken.add(record.id)
    return section
  })
  if (told === scope) return { head, sections }
  const seen = told === undefined ? 'it does not begin with a title' : `its title says ${told}`
  const problem = `${seen}, where it must be "${titleOf(scope)}"`
  return { head, sections: sections.map(without), problem }
}

const without = ({ lines, line }: Section): Section => ({ lines, line })

interface Place {
  readonly scope: MemoryScope
  readonly changedAt: number
}

function parseSection(lines: readonly string[], line: number, place: Place): Section {
  const heading = headingOf(lines)
  const at = lines.findIndex((each, index) => index > 0 && each.trim() !== '')
  const note = at < 0 ? undefined : /^<!--(.*)-->$/.exec(lines[at]!.trim())?.[1]
  const body = lines.slice(note === undefined ? 1 : at + 1).map((each) => each.replace(/^\\(\\*## )/, '$1'))
  const text = body.join('\n').trim()
  try {
    const found =
      note === undefined
        ? writtenByHand(heading, text, place)
        : { ...fieldsOf(note), id: heading, scope: place.scope, text }
    const checked = memorySchema().safeParse(found)
    return checked.success
      ? { lines, line, record: checked.data }
      : { lines, line, problem: describeIssues(checked.error) }
  } catch (thrown) {
    return { lines, line, problem: thrown instanceof RuntimeError ? thrown.message : 'its second line is not JSON' }
  }
}

function fieldsOf(note: string): object {
  const fields: unknown = JSON.parse(note)
  return typeof fields === 'object' && fields !== null ? fields : {}
}

/**
 * Returns the record of a section that a person added by hand. Throws for a heading of one word,
 * which is left from a record whose second line is gone.
 */
function writtenByHand(heading: string, body: string, { scope, changedAt: at }: Place): MemoryRecord {
  if (!/\s/.test(heading))
    throw new RuntimeError('MEMORY_DAMAGED', 'its second line is gone, and a heading of one word says nothing.')
  const text = body === '' ? heading : `${heading}\n${body}`
  const id = `hand-${shortHash(text)}`
  const source = { by: 'person' } as const
  const how = { tainted: false, confirmations: [], approved: true, createdAt: at, updatedAt: at }
  return { id, scope, kind: 'fact', text, source, ...how }
}

function sectionOf(record: MemoryRecord): Section {
  const { id, scope: _, text, ...fields } = record
  // A comment ends at the first "-->".
  const note = JSON.stringify(fields).replaceAll('>', String.raw`\u003e`)
  const body = text.split('\n').map((line) => (/^\\*## /.test(line) ? `\\${line}` : line))
  return { lines: [`## ${id}`, '', `<!-- ${note} -->`, '', ...body, ''], line: 0, record }
}

/** Returns the file with a record in its place; a new record goes to the end. Pure. */
export function withRecord(file: MemoryFile, record: MemoryRecord): MemoryFile {
  const section = sectionOf(record)
  const index = file.sections.findIndex((each) => each.record?.id === record.id)
  if (index >= 0) return { ...file, sections: file.sections.with(index, section) }
  return { head: endedByBlank(file.head), sections: [...file.sections.map(blankAtEnd), section] }
}

const endedByBlank = (lines: readonly string[]): readonly string[] => (lines.at(-1) === '' ? lines : [...lines, ''])
const blankAtEnd = (section: Section): Section => ({ ...section, lines: endedByBlank(section.lines) })

/** Returns true if a section is to be deleted. Text that is not a record is judged by its file and its heading alone. Pure. */
export const isMeant = ({ record, lines }: Section, which: MemoryDeletion): boolean =>
  record === undefined
    ? which.agentId === undefined && (which.id ?? headingOf(lines)) === headingOf(lines)
    : fitsDeletion(record, which)

/** Returns the file without the sections to be deleted; an empty file if a whole scope is. Pure. */
export const withoutMeant = (file: MemoryFile, scope: MemoryScope, which: MemoryDeletion): MemoryFile =>
  isWhole(which) ? emptyFile(scope) : { ...file, sections: file.sections.filter((each) => !isMeant(each, which)) }

/** Returns true if a whole scope is to be deleted. Pure. */
export const isWhole = ({ id, agentId }: MemoryDeletion): boolean => id === undefined && agentId === undefined

/** Returns the file as text. Pure. */
export const printFile = ({ head, sections }: MemoryFile): string =>
  `${[...head, ...sections.flatMap(({ lines }) => lines)].join('\n').trimEnd()}\n`

/** Returns the records of a file. */
export const recordsIn = ({ sections }: MemoryFile): MemoryRecord[] =>
  sections.flatMap(({ record }) => (record === undefined ? [] : [record]))

/** Returns true if a file contains only the text with which it was created. */
export const isBare = (file: MemoryFile, scope: MemoryScope): boolean =>
  file.sections.length === 0 && printFile(file) === printFile(emptyFile(scope))

/** Number of the hash's characters in a name. Older names have fewer, so that two scopes may share one. */
const hashChars = 32
const oldHashChars = 8

const named = (scope: MemoryScope, chars: number): string => {
  const readable = scope
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  const hash = createHash('sha256').update(scope).digest('hex').slice(0, chars)
  return `${readable.replace(/-$/, '')}-${hash}.md`
}

/** Returns the file name of a scope: readable, and different for any two scopes. */
export const fileNameOf = (scope: MemoryScope): string => named(scope, hashChars)

/** Returns the older file name of a scope, which another scope may share. */
export const oldFileNameOf = (scope: MemoryScope): string => named(scope, oldHashChars)
