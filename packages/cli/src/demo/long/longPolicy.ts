import { policyModel } from '../../../../models/src/policyModel.ts'
import type { ReplyShape } from '../../../../models/src/replyShape.ts'
import { recallName } from '../../../../../src/conversation/tree/stepText.ts'
import type { Model, ModelRequest } from '../../../../../src/protocol/ports/model.ts'
import { longCheckCommand } from './longTask.ts'
import { declarationOf, seenWork, type SeenWork } from './seenWork.ts'

/** Returns the model of the long demo. It needs no key, and can only do `longTask`. */
export const longModel = (options: { readonly wordDelayMs?: number } = {}): Model =>
  policyModel(decideLong, { id: 'embedded:long', ...options })

/**
 * Decides the next reply from the request alone. Reads folded steps again with `recall`, using the ids in the index or a memo.
 * Searches the files for names that neither contains. Pure.
 */
export function decideLong({ messages }: ModelRequest): ReplyShape {
  const seen = seenWork(messages)
  const { isAsked, problem, check, path, text } = seen
  if (!isAsked) return unable('I am the model of the long demo and can do nothing else.')
  if (problem !== undefined) return unable(problem)
  if (check !== undefined) return report(check)
  if (path !== undefined) {
    if (text === undefined) return read(path)
    const call = nextCall(text)
    if (call !== undefined) return fix(path, call, seen)
  }
  return nextFile(seen)
}

const call = (text: string, name: string, input: object): ReplyShape => ({ text, toolCalls: [{ name, input }] })

const read = (path: string): ReplyShape => call('Next file.', 'read_file', { path })
const runCheck = call('That was the last file: I check the work.', 'run_command', { command: longCheckCommand })

/**
 * Returns the call that reads the next file, found in the list or by its names in the index. Without a next file, returns the call that checks the
 * work or gets the list.
 */
function nextFile({ path = '', listing, listedIn, index }: SeenWork): ReplyShape {
  const listed = listing ?? [...index].flatMap(([name, step]) => (step === listedIn ? [name] : []))
  const next = listed.toSorted().find((file) => file > path)
  if (next !== undefined) return read(next)
  if (listing !== undefined) return runCheck
  if (listedIn === undefined) return call('Which files are there?', 'list_files', { path: 'src' })
  return call(`The index names no further file: is that so? The list was in ${listedIn}.`, recallName, {
    step: listedIn,
  })
}

/** A call by position, in the text of a file. */
interface FoundCall {
  readonly name: string
  readonly args: readonly string[]
  /** Lines that an edit replaces: the call, and the comment above it, which makes them unique. */
  readonly lines: string
}

/** Returns the first call of an imported function that still passes its arguments by position. */
function nextCall(text: string): FoundCall | undefined {
  const imported = new Set(Array.from(text.matchAll(/^import \{ (\w+) \}/gm), ([, name]) => name!))
  for (const [lines, name, args] of text.matchAll(/^ *\/\/.*\n.*= (\w+)\(([\w, ]+)\)$/gm))
    if (imported.has(name!)) return { name: name!, args: args!.split(', '), lines }
  return undefined
}

function fix(path: string, { name, args, lines }: FoundCall, { parameters, index, ...seen }: SeenWork): ReplyShape {
  const names = parameters.get(name)
  if (names !== undefined) {
    const fields = names.map((field, at) => (field === args[at] ? field : `${field}: ${args[at]}`))
    const newText = lines.replace(`(${args.join(', ')})`, () => `({ ${fields.join(', ')} })`)
    return call('', 'edit_file', { path, oldText: lines, newText })
  }
  const query = declarationOf(name)
  const step = index.get(name)
  if (step !== undefined && !seen.recalled.has(name)) {
    const why = `What ${name} takes was folded away; the index says ${step}.`
    return call(why, recallName, { step, query, lines: 3 })
  }
  if (seen.searched.has(name)) return unable(`I find nowhere what ${name} takes.`)
  return call(`What does ${name} take?`, 'search_files', { pattern: query, path: 'src' })
}

function report({ text, isError }: NonNullable<SeenWork['check']>): ReplyShape {
  if (isError) return unable(`The check failed: ${text}`)
  const counted = /^\d+ of \d+ modules .*$/m.exec(text)?.[0] ?? text
  return `Done: every call passes one object, and the check says "${counted}".`
}

const unable = (why: string): ReplyShape => ({ text: why, stopReason: 'refusal' })
