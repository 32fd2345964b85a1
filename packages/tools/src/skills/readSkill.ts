import { z } from 'zod'
import { cutEnd, oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import { withoutReordering } from '../../../../src/protocol/text/withoutReordering.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { readFrontMatter, type Yaml } from './frontMatter.ts'
import type { Skill } from './skill.ts'

/** A skill, or the reason why there is none. `notes`: about parts that were left out or read leniently. */
export type ReadSkill =
  | { readonly skill: Skill; readonly notes: readonly string[] }
  | { readonly skill: undefined; readonly notes: readonly string[] }

/** Removes line breaks, control characters and bidirectional marks, which do not belong in the system prompt or in the heading of a skill. */
const inOneLine = (given: string): string => oneLine(withoutReordering(given), Infinity)

/** Schema of names by the format. Clients must also load other names, with a warning. */
const nameSchema = z
  .string()
  .max(64, 'takes at most 64 characters')
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'takes lower-case letters, digits and single hyphens between them')

/** Maximum length of a name, which is part of the list of all skills. */
const mostOfName = 200

const descriptionSchema = z.string('is missing').transform(inOneLine).pipe(z.string().min(1, 'is empty'))
/** Maximum length by the format. A longer description is cut, since that is better than none. */
const mostOfDescription = 1_024

const text = (max: number) =>
  z
    .string('takes text')
    .transform(inOneLine)
    .pipe(z.string().min(1, 'is empty').max(max, `takes at most ${max} characters`))

/** Schemas of fields that a skill works without. */
const optionalFields = lazily(() => ({
  license: text(500),
  compatibility: text(500),
  metadata: z
    .record(z.string(), z.string(), 'takes names with text')
    .transform((all) => Object.fromEntries(Object.entries(all).map((entry) => entry.map(inOneLine)))),
  'allowed-tools': z
    .union([z.string().transform((list) => list.split(/[\s,]+/)), z.array(z.string())], 'takes names of tools')
    .transform((names) => names.map(inOneLine).filter((name) => name !== '')),
}))

/**
 * Reads the skill that `SKILL.md` describes. `start`: the beginning of that file. `folder`: the
 * name under which the folder was found, and its real path. Never throws. Pure.
 */
export function readSkill(
  start: string,
  folder: { readonly name: string; readonly real: string },
  yaml: Yaml,
): ReadSkill {
  try {
    const { fields, bodyLine, note } = readFrontMatter(start, yaml)
    const told = need('description', descriptionSchema, fields['description'])
    const description = cutEnd(told, mostOfDescription)
    const { name, notes: ofName } = nameOf(fields['name'], folder.name)
    const notes = note === undefined ? [...ofName] : [note, ...ofName]
    if (description !== told) notes.push(`description takes at most ${mostOfDescription} characters; it was cut`)
    const found: { [field: string]: unknown } = {}
    for (const [field, schema] of Object.entries(optionalFields())) {
      if (!Object.hasOwn(fields, field)) continue
      const read = schema.safeParse(fields[field])
      if (read.success) found[field] = read.data
      else notes.push(`${field} ${read.error.issues[0]!.message}; it was left out`)
    }
    const { 'allowed-tools': allowedTools, ...others } = found
    const more = allowedTools === undefined ? others : { ...others, allowedTools }
    return { skill: { name, description, ...more, folder: folder.real, bodyLine }, notes }
  } catch (thrown) {
    return { skill: undefined, notes: [oneLine(messageOf(thrown), 300)] }
  }
}

/** Returns the name of a skill: its own, else that of its folder. */
function nameOf(given: unknown, folder: string): { readonly name: string; readonly notes: readonly string[] } {
  const name = typeof given === 'string' ? cutEnd(inOneLine(given).trim(), mostOfName) : ''
  if (name === '')
    return {
      name: inOneLine(folder),
      notes: [`name is missing; it is called ${JSON.stringify(folder)}, as its folder is`],
    }
  const read = nameSchema.safeParse(name)
  if (!read.success) return { name, notes: [`name ${read.error.issues[0]!.message}; it was loaded all the same`] }
  return { name, notes: name === folder ? [] : [`its name is ${JSON.stringify(name)}, and its folder's is not`] }
}

function need<T>(field: string, schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  throw new Error(`${field} ${read.error.issues[0]!.message}`)
}
