import { recallName } from '../../../../../src/conversation/tree/stepText.ts'
import { textOf, toolCallsOf } from '../../../../../src/protocol/messages.ts'
import type { RequestMessage } from '../../../../../src/protocol/ports/model.ts'
import { noteIn, withoutId } from '../../../../demo/src/brakeMarks.ts'
import { isLongTask } from './longTask.ts'

/** State of the work according to a request. It is folded from the messages, so facts that no message contains are unknown. */
export interface SeenWork {
  readonly isAsked: boolean
  /** Files to work through, if the list is visible. */
  readonly listing: readonly string[] | undefined
  /** Id of the step that listed them, if a memo still names it. */
  readonly listedIn: string | undefined
  /** Path of the file read last. `text`: its current text, if visible. */
  readonly path: string | undefined
  readonly text: string | undefined
  /** Parameters of the functions whose declarations are visible. */
  readonly parameters: ReadonlyMap<string, readonly string[]>
  /** Index of folded steps: names, and the step that contains each. */
  readonly index: ReadonlyMap<string, string>
  /** Names that were recalled and searched for. */
  readonly recalled: ReadonlySet<string>
  readonly searched: ReadonlySet<string>
  readonly check: { readonly text: string; readonly isError: boolean } | undefined
  /** Description of a problem that prevents the work from continuing. */
  readonly problem: string | undefined
}

type Draft = { -readonly [K in keyof SeenWork]: SeenWork[K] } & {
  readonly parameters: Map<string, readonly string[]>
  readonly index: Map<string, string>
  readonly recalled: Set<string>
  readonly searched: Set<string>
}

type Input = Readonly<Record<string, unknown>>

export function seenWork(messages: readonly RequestMessage[]): SeenWork {
  const seen: Draft = {
    isAsked: false,
    listing: undefined,
    listedIn: undefined,
    path: undefined,
    text: undefined,
    parameters: new Map(),
    index: new Map(),
    recalled: new Set(),
    searched: new Set(),
    check: undefined,
    problem: undefined,
  }
  const inputs = new Map<string, Input>()
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const { callId, input } of toolCallsOf(message.content)) inputs.set(callId, input as Input)
    } else if (message.role === 'toolResult') {
      const { toolName, callId, isError } = message
      seeResult(seen, toolName, inputs.get(callId) ?? {}, withoutId(textOf(message.content)), isError)
    } else {
      for (const block of message.content) if (block.type === 'text') seeNote(seen, block.text)
    }
  }
  return seen
}

function seeNote(seen: Draft, text: string): void {
  const { kind, note = '' } = noteIn(text) ?? {}
  if (kind === undefined) seen.isAsked ||= isLongTask(text)
  if (kind === 'memo') {
    for (const line of note.split('\n')) {
      if (/ list_files\b/.test(line)) seen.listedIn = /^(n\d+) /.exec(line)?.[1]
      const path = / read_file (\S+)/.exec(line)?.[1]
      if (path !== undefined) seen.path = path
    }
  }
  if (kind === 'index') {
    for (const line of note.trim().split('\n')) {
      const [step = '', ...names] = line.split(' ')
      for (const name of names) seen.index.set(name, step)
    }
  }
}

function seeResult(seen: Draft, tool: string, input: Input, text: string, isError: boolean): void {
  if (tool === 'run_command') {
    seen.check = { text, isError }
    return
  }
  const name = declared.exec(String(input['query'] ?? input['pattern']))?.[1]
  if (tool === recallName && name !== undefined) seen.recalled.add(name)
  if (tool === 'search_files' && name !== undefined) seen.searched.add(name)
  if (isError) {
    // What cannot be recalled is looked for in the files.
    if (tool !== recallName) seen.problem = text
    return
  }
  for (const [, found, parameters] of text.matchAll(declaration)) seen.parameters.set(found!, parameters!.split(', '))
  if (tool === 'list_files' || (tool === recallName && text.includes('result of list_files')))
    seen.listing = text.split('\n').filter((line) => /^src\/\S+\.js$/.test(line))
  if (tool === 'read_file') {
    seen.path = String(input['path'])
    seen.text = text
  }
  if (tool === 'edit_file' && input['path'] === seen.path)
    seen.text = seen.text?.replace(String(input['oldText']), () => String(input['newText']))
}

const declaration = /^.*export function (\w+)\(\{ ([\w, ]+) \}\)/gm

/** Returns the text to search or recall for a function's declaration. */
export const declarationOf = (name: string): string => `function ${name}`
const declared = /^(?:export )?function (\w+)/
